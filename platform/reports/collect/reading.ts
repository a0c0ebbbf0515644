// The reads of the main thread for a report: short transactions, between which requests are answered.
import { setImmediate, setTimeout } from 'node:timers/promises'
import { type Hash, hexOf, type Range, type Subtree, subtreesOf } from '@svc/proof'
import { type Database, type Transaction, withSnapshot } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { hashesOf, TreeError } from '../../log/publish/store/tree.js'

/** A snapshot of the database for one page. */
export type Read = <T>(work: (tx: Transaction) => Promise<T>) => Promise<T>

/** Each read is a transaction of its own. Rejects with the reason of the signal once it is aborted. */
export function readerOf(db: Database, scope: Scope, signal: AbortSignal | null): Read {
  return async (work) => {
    signal?.throwIfAborted()
    const start = performance.now()
    const result = await withSnapshot(db, scope, work)
    await pauses[db.kind](performance.now() - start)
    return result
  }
}

/** The embedded database works in this thread: requests have as much of it as the report, which may wait for them anyway. */
const maxPauseMs = 20
const pauses: Readonly<Record<Database['kind'], (took_ms: number) => Promise<unknown>>> = {
  pglite: (took_ms) => setTimeout(Math.min(took_ms, maxPauseMs)),
  postgresql: () => setImmediate(),
}

/** Entries of a page: the embedded database answers in this thread, where a page must not take longer than some ms. */
const pageSizes: Readonly<Record<Database['kind'], number>> = { pglite: 200, postgresql: 1000 }

/** The ranges of pages, in order. */
export function* pagesOf(kind: Database['kind'], first: number, end: number): Generator<Range> {
  const size = pageSizes[kind]
  for (let from = first; from < end; from += size) yield { from, to: Math.min(end, from + size) }
}

/** The hashes of the subtrees of a part of the tree, hex; null for one that cannot be computed. */
export async function subtreeHashes(read: Read, scope: Scope, range: Range): Promise<(string | null)[]> {
  const hashes: (string | null)[] = []
  for (const subtree of subtreesOf(range)) {
    const [hash] = await read((tx) => hashesOf(scope, tx, [leavesUnder(subtree)])).catch(withoutNode)
    hashes.push(hash === undefined ? null : hexOf(hash))
  }
  return hashes
}

function leavesUnder({ level, index }: Subtree): Range {
  return { from: index * 2 ** level, to: (index + 1) * 2 ** level }
}

function withoutNode(error: unknown): Hash[] {
  if (error instanceof TreeError) return []
  throw error
}

/** Consecutive parts of a list. */
export function* partsOf<T>(list: readonly T[], size: number): Generator<readonly T[]> {
  for (let at = 0; at < list.length; at += size) yield list.slice(at, at + size)
}
