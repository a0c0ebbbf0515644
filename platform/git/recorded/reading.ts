// The reading of recorded tasks.
import type { Transaction } from '../../db/db.js'

/** A transaction that cannot write: a replay has no other access to the database. */
export type Reading = <T>(work: (tx: Transaction) => Promise<T>) => Promise<T>
