// What each route records: test/cases/events.yaml, and the table of docs/events.md.
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { stateTables } from './states.js'

export interface EventRow {
  /** Method and path of a route. */
  readonly at: string
  readonly events?: readonly string[]
  readonly none?: string
  readonly run?: { readonly as?: string; readonly body?: object; readonly in?: string }
  readonly again?: readonly string[]
}

const root = new URL('../../../', import.meta.url)

export const { routes: eventRows, system } = parse(readFileSync(new URL('test/cases/events.yaml', root), 'utf8')) as {
  readonly routes: readonly EventRow[]
  readonly system: Readonly<Record<string, string>>
}

/** The kinds that docs/events.md describes. */
export const documentedKinds = [
  ...readFileSync(new URL('docs/events.md', root), 'utf8').matchAll(/^\| `([a-z_.]+)`/gm),
].map(([, kind]) => kind ?? '')

/** Method and path without the names of parameters. */
const shape = (at: string) => at.replaceAll(/\{\w+\}/g, '{}')

const operations = stateTables().flatMap((table) => Object.values(table.operations))

/** The kinds that state tables check for calls of a route. */
export function tableKinds({ at }: EventRow): string[] {
  return operations.filter(({ call }) => shape(call) === shape(at)).flatMap(({ event = [] }) => event)
}
