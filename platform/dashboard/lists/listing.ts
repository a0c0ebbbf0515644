// A list as data: which endpoint gives its rows, its filters and columns. One function shows all lists, and one downloads them.
import type { SchemaName } from '@svc/schemas'
import type { Query } from '../../http/query.js'
import type { Html } from '../views/html.js'
import type { Visit } from '../visit.js'

export interface Column<Row> {
  readonly head: string
  /** `filter` is the query that selected the row: links to a row keep it. */
  readonly cell: (row: Row, filter: Query) => Html
  /** A column of numbers. */
  readonly numeric?: true
  /** A column with acts is shown to those who may do them. */
  readonly may?: (visit: Visit) => boolean
}

/** A control above the list; `name` is the parameter of the endpoint. */
export type Filter =
  /** Agents by name: `agent_id`, or a typed value where there are too many for a select. */
  | { readonly kind: 'agent'; readonly typed: readonly [name: string, label: string] }
  /** A member of the workspace; `me` is the person who looks at the list. */
  | { readonly kind: 'person'; readonly name: string; readonly label: string }
  | NamedFilter

export type NamedFilter =
  | { readonly kind: 'text' | 'day'; readonly name: string; readonly label: string }
  | { readonly kind: 'choices'; readonly name: string; readonly label: string; readonly values: Values }
  /** `any` is what the absence of a value means. */
  | {
      readonly kind: 'choice'
      readonly name: string
      readonly label: string
      readonly values: Values
      readonly any?: string
    }

/** The values of a filter; a pair is a value and its label. */
export type Values = readonly (string | readonly [value: string, label: string])[]

export interface Listing<Row = never> {
  /** The entry of the navigation. */
  readonly place: string
  readonly title: string
  /** The heading for a filter, where it is not the title. */
  readonly heading?: (visit: Visit) => Promise<string>
  /** The address of the page. */
  readonly path: string
  /** The schema of the answer, the member of it with the rows, and the path of the endpoint. */
  readonly schema: SchemaName
  readonly rows: string
  readonly endpoint: string
  /** Parameters that are part of every read of the endpoint. */
  readonly always?: Query
  /** Rows on a page, 50 by default. */
  readonly limit?: number
  /** The endpoint pages by `skip` and not by a cursor. */
  readonly skips?: true
  readonly filters: readonly Filter[]
  /** A function where cells show what the rows do not have, such as names of agents and people. */
  readonly columns: readonly Column<Row>[] | ((visit: Visit) => Promise<readonly Column<Row>[]>)
  /** Queries that many people need. `about` is a sentence about its rows, which the list shows with them. */
  readonly presets?: readonly (readonly [label: string, query: Query, about?: string | undefined])[]
  /** Shown if there are no rows without a filter: what to do next. */
  readonly empty: string
  /** Acts on selected rows, if the person may do them. */
  readonly bulk?: {
    readonly may: (visit: Visit) => boolean
    /** The value of the check box of a row. */
    readonly value: (row: Row) => string
    readonly label: (row: Row) => string
    readonly acts: readonly (readonly [act: string, label: string])[]
  }
  /** True for a row that changes soon: the browser reads the list again while it shows one. */
  readonly live?: (row: Row) => boolean
  /** Above the list, such as tabs. */
  readonly above?: (visit: Visit) => Promise<Html>
}

/** One page of the rows. */
export interface Rows<Row> {
  readonly rows: readonly Row[]
  /** Null where the endpoint counts no rows. */
  readonly total: number | null
  readonly next_cursor: string | null
}

/** The filter of an address, as the endpoint takes it: days become times in UTC. */
export function endpointQuery({ filters }: Listing<never>, filter: Query): Query {
  const days = new Set(filters.flatMap((one) => (one.kind === 'day' ? [one.name] : [])))
  const given = Object.entries(filter).map(([name, value]) => [name, days.has(name) ? timeOf(name, value) : value])
  return Object.fromEntries(given)
}

/** The names of the filters that select rows; the order of the list does not. */
export function selecting(filter: Query): string[] {
  return Object.keys(filter).filter((name) => name !== 'order')
}

/** A day as its first or last moment in UTC; other texts stay, and the endpoint rejects wrong ones. */
function timeOf(name: string, value: string): string {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(value)) return value
  return name === 'to' ? `${value}T23:59:59.999Z` : `${value}T00:00:00.000Z`
}

/** Reads rows with the API. Rejects as the endpoint does. */
export async function readRows<Row>(
  { api }: Pick<Visit, 'api'>,
  listing: Listing<Row>,
  filter: Query,
  page: Query,
): Promise<Rows<Row>> {
  const query = { ...listing.always, ...endpointQuery(listing, filter), ...page }
  const body = (await api.read(listing.schema, listing.endpoint, query)) as Readonly<Record<string, unknown>>
  const { total = null, next_cursor = null } = body as Partial<Rows<Row>>
  return { rows: body[listing.rows] as readonly Row[], total, next_cursor }
}
