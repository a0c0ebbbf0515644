// Every value of the content as properties of OSCAL, so that a report in XML or JSON is complete. `at` names the place in the
// content (docs/design/reports.md §5), the other names are paths from there, and the class is the type of the value.
import type { Assembly } from './shape.js'
import { namespace } from './uuid.js'

/** Lists whose rows are observations or components of their own. */
const apart =
  /^(?:agents\.rows|policies\.rows|waivers\.rows|policy_changes\.rows|incidents\.list\.rows|oversight\.approvals\.rows|integrity\.problems\.rows|agents\.rows\.\d+\.governance\.intervals)$/
/** Numbers by name, whose names are data. */
const maps: ReadonlySet<string> = new Set(['integrity.leaves', 'activity.step_types', 'oversight.events'])

const token = /^[a-z][a-z0-9._-]*$/

/** A property in our namespace; text has no class. Throws a TypeError for a name that is not a token. */
export function property(name: string, value: string, type?: string): Assembly {
  if (!token.test(name)) throw new TypeError('the name of a property must be a token of OSCAL')
  return { name, ns: namespace, value, class: type }
}

/** The properties of a part of the content; rows that have a place of their own are only counted. */
export function propertiesOf(at: string, part: object): Assembly[] {
  return [property('at', at, 'path'), ...sortedEntries(part).flatMap(([key, value]) => flat(at, key, value))]
}

function flat(at: string, name: string, value: unknown): Assembly[] {
  if (value === undefined) return []
  if (value === null) return [property(name, 'null', 'null')]
  if (typeof value === 'string') return [property(name, value)]
  if (typeof value === 'number' || typeof value === 'boolean') return [property(name, String(value), typeof value)]
  if (Array.isArray(value)) return flatList(at, name, value)
  const entries = sortedEntries(value)
  if (!maps.has(`${at}.${name}`)) return entries.flatMap(([key, item]) => flat(at, `${name}.${key}`, item))
  const rows = entries.map(([key, count]) => ({ key, count }))
  return [property(name, String(rows.length), 'map'), ...flatRows(at, name, rows)]
}

/** By name: the order in which members were written is not content, and differs between what a platform and a bundle state. */
function sortedEntries(value: object): [string, unknown][] {
  return Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
}

function flatList(at: string, name: string, items: readonly unknown[]): Assembly[] {
  const size = property(name, String(items.length), 'list')
  return apart.test(`${at}.${name}`) ? [size] : [size, ...flatRows(at, name, items)]
}

const flatRows = (at: string, name: string, items: readonly unknown[]) =>
  items.flatMap((item, index) => flat(at, `${name}.${index}`, item))
