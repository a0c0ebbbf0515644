// The steps and violations of a period, day by day in UTC.
import { type Activity, isoTime } from '@svc/schemas'
import { type Resources, withSnapshot } from '../db/db.js'
import type { Scope } from '../db/scope.js'
import { invalid } from '../errors.js'
import { readDays } from './activity-store.js'

const dayMs = 86_400_000
/** The maximum number of days of one answer. */
const maxDays = 92
/** The number of days without a `from`. */
const usualDays = 30

/** Every day from `from` to `to`, both inclusive; by default the 30 days that end today. Throws INVALID for another period. */
export async function activityOf(
  { db, clock }: Resources,
  scope: Scope,
  query: { readonly from?: string; readonly to?: string },
): Promise<Activity> {
  const last = query.to === undefined ? Math.floor(clock() / dayMs) : dayOf('to', query.to)
  const first = query.from === undefined ? last - usualDays + 1 : dayOf('from', query.from)
  if (first > last) throw invalid([{ path: 'from', message: 'is after `to`: choose an earlier day' }])
  if (last - first >= maxDays)
    throw invalid([{ path: 'from', message: `begins a period of more than ${maxDays} days: choose a later day` }])
  const counted = await withSnapshot(db, scope, (tx) => readDays(scope, tx, dateOf(first), dateOf(last)))
  const known = new Map(counted.map((day) => [day.date, day]))
  const days = Array.from({ length: last - first + 1 }, (_, index) => {
    const date = dateOf(first + index)
    return known.get(date) ?? { date, steps: 0, violations: 0 }
  })
  const sum = (name: 'steps' | 'violations') => days.reduce((all, day) => all + day[name], 0)
  return { days, steps: sum('steps'), violations: sum('violations') }
}

/** The number of days since 1970. */
function dayOf(path: string, date: string): number {
  const time = Date.parse(`${date}T00:00:00Z`)
  // The 30th of February is read as a day of March.
  if (Number.isNaN(time) || time < 0 || !isoTime(time).startsWith(date))
    throw invalid([{ path, message: `is not a day since 1970, found \`${date}\`: write one such as \`2026-01-31\`` }])
  return time / dayMs
}

function dateOf(day: number): string {
  return isoTime(day * dayMs).slice(0, 10)
}
