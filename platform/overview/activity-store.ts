// Logged steps and their violations by day, from the counts that the log keeps.
import type { Activity } from '@svc/schemas'
import type { Transaction } from '../db/db.js'
import { raw, read, rowsOf } from '../db/list.js'
import type { Scope } from '../db/scope.js'

type Day = Activity['days'][number]

/** The days from `first` to `last` (such as `2026-01-31`, UTC) that have steps, in any order. */
export function readDays(scope: Scope, tx: Transaction, first: string, last: string): Promise<Day[]> {
  const days = rowsOf(scope, 'log_days').whereBetween('day', [first, last])
  return read<Day>(tx, days.select(raw("to_char(day, 'YYYY-MM-DD') as date, steps, violations")))
}
