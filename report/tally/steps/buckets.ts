// The activity of a period by day, week or month.
import type { Activity } from '../../content/report-data.js'

export interface Buckets {
  readonly count: (time: number, what: 'steps' | 'violations' | 'incidents', more?: number) => void
  readonly activity: () => Omit<Activity, 'step_types'>
}

const dayMs = 86_400_000
/** Longer periods are shown by week, then by month. */
const maxDays = 62
const maxWeeks = 60

/** Buckets from `from` to before `to`, ms since 1970; none when `to` is not later. */
export function createBuckets(from: number, to: number): Buckets {
  const days = (to - from) / dayMs
  const interval = days <= maxDays ? 'day' : days <= 7 * maxWeeks ? 'week' : 'month'
  const starts: number[] = []
  for (let at = from; at < to; at = nextStart(at, interval)) starts.push(at)
  const rows = starts.map((start) => ({ from: new Date(start).toISOString(), steps: 0, violations: 0, incidents: 0 }))
  return {
    count: (time, what, more = 1) => {
      const row = rows[lastAtOrBefore(starts, time)]
      if (row !== undefined) row[what] += more
    },
    activity: () => ({ interval, buckets: rows }),
  }
}

/** The beginning of the next day, Monday or month in UTC. */
function nextStart(at: number, interval: Activity['interval']): number {
  const date = new Date(at)
  if (interval === 'month') return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1)
  const midnight = Math.floor(at / dayMs) * dayMs
  return midnight + dayMs * (interval === 'day' ? 1 : 7 - ((date.getUTCDay() + 6) % 7))
}

/** A time before the first bucket counts in it: entries of the period are never earlier. */
function lastAtOrBefore(starts: readonly number[], time: number): number {
  let [low, high] = [0, starts.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((starts[middle] as number) <= time) low = middle + 1
    else high = middle
  }
  return Math.max(0, low - 1)
}
