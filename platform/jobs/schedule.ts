// When scheduled jobs are due.

const minuteMs = 60_000
/** The period in which a process looks for a run that was missed while none was running. */
const maxMissedMs = 7 * 86_400_000

/** True if a time, ms since 1970, is in a minute of the schedule. */
type Schedule = (at: number) => boolean

/** The fields of cron: name, smallest and largest value. Sunday is 0. */
const fields = [
  ['minute', 0, 59],
  ['hour', 0, 23],
  ['day of the month', 1, 31],
  ['month', 1, 12],
  ['day of the week', 0, 6],
] as const

/** Reads five fields of cron, in UTC: numbers, `*`, ranges, lists and steps. Throws for any other text. */
export function readSchedule(text: string): Schedule {
  const parts = text.trim().split(/\s+/)
  if (parts.length !== fields.length) throw new Error(`the schedule \`${text}\` must have five fields`)
  const [minutes, hours, days, months, weekdays] = fields.map(([name, first, last], index) =>
    valuesIn(parts[index] ?? '', name, first, last),
  ) as [Set<number>, Set<number>, Set<number>, Set<number>, Set<number>]
  // As in every cron: with both days given, one of them is enough.
  const isEither = parts[2] !== '*' && parts[4] !== '*'
  return (at) => {
    const time = new Date(at)
    const isDay = days.has(time.getUTCDate())
    const isWeekday = weekdays.has(time.getUTCDay())
    return (
      minutes.has(time.getUTCMinutes()) &&
      hours.has(time.getUTCHours()) &&
      months.has(time.getUTCMonth() + 1) &&
      (isEither ? isDay || isWeekday : isDay && isWeekday)
    )
  }
}

function valuesIn(text: string, name: string, first: number, last: number): Set<number> {
  const values = new Set<number>()
  for (const part of text.split(',')) {
    const match = /^(?:\*|(\d{1,2})(?:-(\d{1,2}))?)(?:\/(\d{1,2}))?$/.exec(part)
    const [, low, high, step] = match ?? []
    const from = Number(low ?? first)
    const to = low === undefined ? last : Number(high ?? (step === undefined ? low : last))
    if (match === null || from < first || to > last || from > to || Number(step ?? 1) === 0)
      throw new Error(`the field ${name} of a schedule must hold numbers from ${first} to ${last}, found \`${text}\``)
    for (let value = from; value <= to; value += Number(step ?? 1)) values.add(value)
  }
  return values
}

/** The latest minute of the schedule after `after`, up to `until`; null without one. All are ms since 1970. */
export function lastDue(schedule: Schedule, after: number, until: number): number | null {
  const earliest = Math.max(after, until - maxMissedMs)
  for (let at = Math.floor(until / minuteMs) * minuteMs; at > earliest; at -= minuteMs) if (schedule(at)) return at
  return null
}
