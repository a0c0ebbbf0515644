// Lists of the platform, page by page.
import type { Client } from './client.js'

/** All rows of a list. */
export async function allRows<Row>(
  { get }: Client,
  path: string,
  rowsIn: string,
  query: Readonly<Record<string, string>> = {},
): Promise<Row[]> {
  const rows: Row[] = []
  let cursor: string | null = null
  do {
    const asked = new URLSearchParams({ ...query, limit: '200', ...(cursor !== null && { cursor }) })
    const page: Readonly<Record<string, unknown>> = await get(`${path}?${asked}`)
    rows.push(...(page[rowsIn] as Row[]))
    cursor = page.next_cursor as string | null
  } while (cursor !== null)
  return rows
}
