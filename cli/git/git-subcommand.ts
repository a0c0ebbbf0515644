// What the commands for manifests in Git share.
import type { Client } from '../account/client.js'
import type { Subcommand } from '../account/subcommand.js'
import { UsageError } from '../errors.js'

export interface GitSubcommand extends Subcommand {
  /** The examples, without `svc`. */
  readonly examples: readonly string[]
}

/** ms: the platform reads a branch for as long as 60 seconds for each operation of Git, and waits for another reading. */
export const readingTimeoutMs = 180_000

/** The id of a repository or an assignment. Throws UsageError for other text. */
export function idOf(what: string, text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text)
  throw new UsageError(`${what} is \`${text}\`: write a number, such as 2`)
}

/** All rows of a list, page by page. */
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
