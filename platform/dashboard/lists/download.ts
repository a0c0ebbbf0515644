// A list as a file: all rows that a filter selects, as CSV or JSON, read page by page while they are sent.
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { documents, type JsonMap } from '@svc/schemas'
import type { Response } from 'express'
import { startDownload } from '../../http/download.js'
import { filterIn } from '../paths.js'
import type { Visit } from '../visit.js'
import { type Listing, readRows } from './listing.js'

export type Format = 'csv' | 'json'

/** Rows that are read at once. */
const pageSize = 100

/** Sends the rows. Without one of them the connection breaks, so that a part is not mistaken for the whole. */
export async function sendDownload(
  visit: Visit,
  listing: Listing<never>,
  format: Format,
  response: Response,
): Promise<void> {
  const rows = allRows(visit, listing as Listing<JsonMap>)
  // An error of the first page, such as a wrong filter, is answered as an error.
  const first = await rows.next()
  const name = `${listing.path.slice(1).replaceAll('/', '-')}-${new Date(visit.now).toISOString().slice(0, 10)}`
  const type = format === 'csv' ? 'text/csv; charset=utf-8' : 'application/json; charset=utf-8'
  startDownload(response, { type, name: `${name}.${format}` })
  const chunks = format === 'csv' ? asCsv(first, rows, columnsOf(listing)) : asJson(first, rows)
  await pipeline(Readable.from(chunks), response).catch(() => response.destroy())
}

type Pages = AsyncGenerator<readonly JsonMap[], void>
type First = IteratorResult<readonly JsonMap[], void>

/** Pages of the rows that the address selects, in the order of the list. */
async function* allRows(visit: Visit, listing: Listing<JsonMap>): Pages {
  const filter = filterIn(visit.query)
  let cursor: string | null = null
  do {
    const page: { limit: string; cursor?: string } = { limit: String(pageSize), ...(cursor !== null && { cursor }) }
    const { rows, next_cursor } = await readRows(visit, listing, filter, page)
    yield rows
    cursor = next_cursor
  } while (cursor !== null)
}

async function* asJson(first: First, rest: Pages): AsyncGenerator<string> {
  let before = '[\n'
  for await (const rows of pagesOf(first, rest)) {
    if (rows.length === 0) continue
    yield before + rows.map((row) => JSON.stringify(row)).join(',\n')
    before = ',\n'
  }
  yield before === '[\n' ? '[]\n' : '\n]\n'
}

async function* asCsv(first: First, rest: Pages, columns: readonly string[]): AsyncGenerator<string> {
  yield `${columns.join(',')}\r\n`
  for await (const rows of pagesOf(first, rest))
    yield rows.map((row) => `${columns.map((name) => csvCell(row[name])).join(',')}\r\n`).join('')
}

async function* pagesOf(first: First, rest: Pages): AsyncGenerator<readonly JsonMap[]> {
  if (first.done !== true) yield first.value
  yield* rest
}

/** The members of a row, from the schema of the list. */
function columnsOf({ schema, rows }: Listing<never>): string[] {
  const { properties = {} } = documents[schema] as { readonly properties?: Readonly<Record<string, JsonMap>> }
  const items = (properties[rows]?.items ?? {}) as JsonMap
  const name = String(items.$ref ?? '').replace(/\.json$/, '')
  const row = (items.properties ?? (documents as Record<string, JsonMap>)[name]?.properties ?? {}) as JsonMap
  return Object.keys(row)
}

/**
 * A cell of CSV (RFC 4180). A text that a spreadsheet would run as a formula begins with an apostrophe (OWASP, CSV injection).
 * Objects are JSON.
 */
function csvCell(value: unknown): string {
  if (value === null || value === undefined) return ''
  const plain = typeof value === 'string' ? value : JSON.stringify(value)
  const safe = typeof value !== 'number' && /^\s*[=+\-@\t\r\n]/.test(plain) ? `'${plain}` : plain
  return /[",\r\n;\t']/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
