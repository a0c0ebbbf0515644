// The rule about time (docs/design/engine.md §3, 23). Compound rules are in compound/.
import { nearest } from '../check/nearest.js'
import { ParameterError } from '../check/parameter-error.js'
import { quote } from '../check/quote.js'
import { defineStepRule, PASS, stepViolation } from './form/rule.js'

const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const
type Day = (typeof weekdays)[number]

export const flowRules = [
  defineStepRule({
    name: 'working_hours_only',
    category: 'flow',
    scopes: ['step_execution'],
    targets: true,
    params: {
      type: 'object',
      required: ['start_hour', 'end_hour', 'timezone'],
      additionalProperties: false,
      properties: {
        start_hour: {
          type: 'integer',
          minimum: 0,
          maximum: 24,
          description: 'first hour of the day, 0 to 24, inclusive',
        },
        end_hour: {
          type: 'integer',
          minimum: 0,
          maximum: 24,
          description: 'hour at which the time ends, 0 to 24, exclusive; before `start_hour`: the next day',
        },
        timezone: {
          type: 'string',
          minLength: 1,
          description: 'IANA name of the time zone, such as `Europe/Zurich` or `UTC`',
        },
        days: {
          type: 'array',
          items: { type: 'string', enum: weekdays },
          minItems: 1,
          description: 'the days on which the hours begin; default every day',
        },
      },
    },
    stricter: { start_hour: 'together', end_hour: 'together', timezone: 'none', days: 'together' },
    together: compareHours,
    doc: 'Passes when now is in [start, end). Equal hours mean all day; hours after midnight belong to the previous day.',
    example: { start_hour: 8, end_hour: 18, timezone: 'Europe/Zurich', days: ['mon', 'tue', 'wed', 'thu', 'fri'] },
    compile: (params) => {
      const local = localClock(params.timezone)
      const { start_hour: start, end_hour: end } = params
      const days = new Set(params.days ?? weekdays)
      const isOpen = openHours(params)
      const when = params.days === undefined ? '' : ` on ${weekdays.filter((day) => days.has(day)).join(', ')}`
      const remedy = `wait for the hours from ${start} to ${end}${when} in ${params.timezone}`
      const message = 'the time is outside the allowed hours'
      return (context) => {
        const { hour, day } = local(context.now)
        return isOpen(hour, day) ? PASS : stepViolation(context, 'OUTSIDE_HOURS', message, remedy)
      }
    },
  }),
]

interface Hours {
  readonly start_hour: number
  readonly end_hour: number
  readonly days?: readonly Day[] | undefined
}

/** True if an hour of a day, Monday = 0, is one of the hours. */
function openHours({ start_hour: start, end_hour: end, days: named = weekdays }: Hours) {
  const days = new Set(named)
  return (hour: number, day: number): boolean => {
    if (start === end) return days.has(dayName(day))
    if (start < end) return hour >= start && hour < end && days.has(dayName(day))
    return hour >= start ? days.has(dayName(day)) : hour < end && days.has(dayName(day - 1))
  }
}

/** Compares the hours of a week in one zone. */
function compareHours(old: Hours, next: Hours) {
  const [was, is] = [openHours(old), openHours(next)]
  const week = weekdays.flatMap((_, day) => Array.from({ length: 24 }, (__, hour) => ({ hour, day })))
  const closes = week.some(({ hour, day }) => was(hour, day) && !is(hour, day))
  const opens = week.some(({ hour, day }) => !was(hour, day) && is(hour, day))
  if (closes && opens) return 'changed'
  if (closes) return 'stricter'
  return opens ? 'looser' : 'same'
}

function dayName(day: number): Day {
  return weekdays[(day + 7) % 7] ?? 'mon'
}

const quarterMs = 15 * 60_000

/**
 * Hour and weekday (Monday = 0) in a zone. The formatter costs microseconds and runs once per quarter hour, because
 * offsets change on quarter hours only.
 */
function localClock(timezone: string): (now: number) => { hour: number; day: number } {
  const format = zoneFormat(timezone)
  let known = { quarter: Number.NaN, offset: 0 }
  return (now) => {
    const index = Math.floor(now / quarterMs)
    if (index !== known.quarter) known = { quarter: index, offset: offsetAt(format, index * quarterMs) }
    const local = now + known.offset
    // 1970-01-01 was a Thursday.
    return { hour: mod(Math.floor(local / 3_600_000), 24), day: mod(Math.floor(local / 86_400_000) + 3, 7) }
  }
}

function mod(value: number, by: number): number {
  return ((value % by) + by) % by
}

function zoneFormat(timezone: string): Intl.DateTimeFormat {
  const numeric = 'numeric' as const
  try {
    const fields = { year: numeric, month: numeric, day: numeric, hour: numeric, minute: numeric, second: numeric }
    return new Intl.DateTimeFormat('en-u-ca-iso8601', { timeZone: timezone, hourCycle: 'h23', ...fields })
  } catch {
    const near = nearest(timezone, Intl.supportedValuesOf('timeZone'))
    const advice = `write an IANA name such as ${quote(near ?? 'Europe/Zurich')}`
    throw new ParameterError('timezone', `${quote(timezone)} is not a known time zone: ${advice}`)
  }
}

function offsetAt(format: Intl.DateTimeFormat, at: number): number {
  const parts = Object.fromEntries(format.formatToParts(at).map((part) => [part.type, Number(part.value)]))
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts
  return Date.UTC(year, month - 1, day, hour, minute, second) - at
}
