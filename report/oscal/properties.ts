// Every value of the content as properties of OSCAL, so that a report in XML or JSON is complete. `at` names the place in the
// content (docs/design/reports.md §5), the other names are paths from there, and the class is the type of the value.
import type { Assembly } from './shape.js'
import { namespace } from './uuid.js'

/** Members of a part that are not written as they are, by their paths from the part. */
export interface Special {
  /** A list whose rows have properties elsewhere: here they are only counted. */
  readonly apart?: string | undefined
  /** Numbers by name, whose names are data. */
  readonly map?: string | undefined
}

const token = /^[a-z][a-z0-9._-]*$/

/** A property in our namespace; text has no class. Throws a TypeError for a name that is not a token. */
export function property(name: string, value: string, type?: string): Assembly {
  if (!token.test(name)) throw new TypeError('the name of a property must be a token of OSCAL')
  return { name, ns: namespace, value, class: type }
}

/** The properties of the part of the content at a place. */
export function propertiesOf(at: string, part: object, special: Special = {}): Assembly[] {
  return [property('at', at, 'path'), ...sortedEntries(part).flatMap(([key, value]) => flat(special, key, value))]
}

function flat(special: Special, name: string, value: unknown): Assembly[] {
  if (value === undefined) return []
  if (value === null) return [property(name, 'null', 'null')]
  if (typeof value === 'string') return [property(name, value)]
  if (typeof value === 'number' || typeof value === 'boolean') return [property(name, String(value), typeof value)]
  if (Array.isArray(value)) return flatList(special, name, value)
  const entries = sortedEntries(value)
  if (name !== special.map) return entries.flatMap(([key, item]) => flat(special, `${name}.${key}`, item))
  const rows = entries.map(([key, count]) => ({ key, count }))
  return [property(name, String(rows.length), 'map'), ...flatRows(special, name, rows)]
}

/** By name: the order in which members were written is not content, and differs between what a platform and a bundle state. */
function sortedEntries(value: object): [string, unknown][] {
  return Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
}

function flatList(special: Special, name: string, items: readonly unknown[]): Assembly[] {
  const size = property(name, String(items.length), 'list')
  return name === special.apart ? [size] : [size, ...flatRows(special, name, items)]
}

const flatRows = (special: Special, name: string, items: readonly unknown[]) =>
  items.flatMap((item, index) => flat(special, `${name}.${index}`, item))
