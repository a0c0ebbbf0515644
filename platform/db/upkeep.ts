// Statistics for the planner and space for the embedded database, in which no autovacuum runs: a server does both by itself.
import { type Database, withUnscopedTransaction } from './db.js'

/** The tables whose rows changed as much as autovacuum waits for by default: a tenth for statistics, a fifth for dead rows. */
const changed = /* sql */ `
  select format('%I.%I', s.schemaname, s.relname) as name,
    s.n_mod_since_analyze > 50 + 0.1 * s.n_live_tup as is_analyzed, s.n_dead_tup > 50 + 0.2 * s.n_live_tup as is_vacuumed
  from pg_stat_user_tables s
  where s.n_mod_since_analyze > 50 + 0.1 * s.n_live_tup or s.n_dead_tup > 50 + 0.2 * s.n_live_tup
  order by 1`

/** A sample of 3,000 rows: the database answers in this thread, which 30,000 rows stopped for half a second. */
const sampled = 'set local default_statistics_target = 10'

interface ChangedTable {
  readonly name: string
  readonly is_analyzed: boolean
  readonly is_vacuumed: boolean
}

/**
 * Renews the statistics of the tables that changed, and frees the space of their dead rows, one table at a time. Returns the names of
 * the tables. Rejects with UNAVAILABLE.
 */
export async function keepUp(db: Database, signal: AbortSignal): Promise<string[]> {
  const kept: string[] = []
  for (const { name, is_analyzed, is_vacuumed } of await withUnscopedTransaction(db, (tx) =>
    tx.query<ChangedTable>(changed),
  )) {
    if (signal.aborted) return kept
    if (is_analyzed)
      await withUnscopedTransaction(db, async (tx) => {
        await tx.query(sampled)
        await tx.query(`analyze ${name}`)
      })
    // It cannot run in a transaction.
    if (is_vacuumed) await db.pool.query(`vacuum ${name}`)
    kept.push(name)
  }
  return kept
}
