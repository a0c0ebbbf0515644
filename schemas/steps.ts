// Steps: their two shapes, and their properties that need no rule.
import type { Behavior } from './types.js'

/** A step as rules see it: a Behavior or a log entry. `step_type` is kept verbatim. */
export interface Step {
  readonly step_type: string
  readonly agent_id?: string
  readonly task_id?: string
  readonly timestamp?: string
  readonly step?: number
  readonly verb?: string
  readonly step_name?: string
  readonly input?: JsonMap
  readonly output?: JsonMap
  readonly properties?: JsonMap
  readonly meta?: JsonMap
  readonly is_external_call?: boolean
  readonly has_write_permission?: boolean
}

export type JsonMap = { readonly [key: string]: unknown }

/** The step vocabulary. */
export type StepType =
  | 'task.start'
  | 'task.end'
  | 'task.error'
  | 'task.idle'
  | 'step.resource'
  | 'step.message'
  | 'step.self'
  | 'step.model'
  | 'step.credential'
  | 'step.exec'
  | 'step.gate'
  | 'step.unknown'
type Verb = NonNullable<Behavior['verb']>

/** The usual verbs of each step type. Any step may have any of the four verbs. */
export const verbsOf: Readonly<Record<StepType, readonly Verb[]>> = {
  'task.start': [],
  'task.end': [],
  'task.error': [],
  'task.idle': [],
  'step.resource': ['GET', 'POST', 'PATCH', 'DELETE'],
  'step.message': ['GET', 'POST'],
  'step.self': ['GET', 'POST', 'PATCH', 'DELETE'],
  'step.model': ['POST'],
  'step.credential': ['GET'],
  'step.exec': [],
  'step.gate': [],
  'step.unknown': [],
}

/** Older names of the platform. */
export const aliases: ReadonlyMap<string, StepType> = new Map([
  ['START_NODE', 'task.start'],
  ['END_NODE', 'task.end'],
  ['ERROR_NODE', 'task.error'],
  ['LLM_CALL', 'step.model'],
])

/** The types as they are usually written, which one lookup finds: this runs several times per decision. */
const usualTypes: ReadonlyMap<string, string> = new Map([
  ...Object.keys(verbsOf).map((step_type) => [step_type, step_type] as const),
  ...aliases,
])

const typesBySpelling: ReadonlyMap<string, string> = new Map(
  [...usualTypes].map(([written, step_type]) => [spelling(written), step_type]),
)

/**
 * The name by which a step type is compared: older names become the newer ones, and a known type in another spelling is that
 * type, so that no policy misses it (docs/adr/0058-spellings.md). Any other type is compared as it is.
 */
export function canonicalType(step_type: string): string {
  return usualTypes.get(step_type) ?? typesBySpelling.get(spelling(step_type)) ?? step_type
}

/** These types as they are usually written: their own names and the older ones. */
export function stepTypesOf(types: readonly StepType[]): string[] {
  return [...usualTypes].flatMap(([written, step_type]) => (types.some((type) => type === step_type) ? [written] : []))
}

/**
 * True for a step type as the local engine and hosted evaluation accept it: one of the vocabulary, an older name, or a type of
 * another system. A known type in another spelling, and an unknown `step.…` or `task.…`, is a mistake that would evade policies.
 */
export function isStepType(text: string): boolean {
  if (usualTypes.has(text)) return true
  const isOpen = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/.test(text) && !/^(?:step|task)[._-]/i.test(text)
  return isOpen && !typesBySpelling.has(spelling(text))
}

/** The letters and digits of a word, in lower case: `Step_Exec.` and `step.exec` have one spelling. */
export function spelling(word: string): string {
  return word
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '')
}

const verbs: readonly string[] = ['GET', 'POST', 'PATCH', 'DELETE'] satisfies Verb[]

/** Why the verb is invalid; null for a valid one. Any step type may have any of the four verbs. */
export function verbProblem({ verb }: Pick<Step, 'step_type' | 'verb'>): string | null {
  if (verb === undefined || verbs.includes(verb)) return null
  return `must be one of ${verbs.join(', ')}, found \`${verb}\``
}

/** True when the step can modify data: by its own flag, by its verb, or because it runs code. */
export function hasWritePermission(step: Step): boolean {
  if (step.has_write_permission !== undefined) return step.has_write_permission
  return (
    step.verb === 'POST' ||
    step.verb === 'PATCH' ||
    step.verb === 'DELETE' ||
    canonicalType(step.step_type) === 'step.exec'
  )
}

/** True for a step that was stopped before it ran: it is in the log, but rules neither count it nor accept it. */
export function isBlocked(step: Step): boolean {
  return step.output?.status === 'blocked'
}

export type TaskStatus = 'error' | 'completed' | 'running'

/** Status of a task that has steps (docs/design/platform.md §4); an error takes precedence. */
export function taskStatus(has_error: boolean, has_end: boolean): TaskStatus {
  if (has_error) return 'error'
  return has_end ? 'completed' : 'running'
}

/** RFC 3339 time in UTC of a number of ms since 1970. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString()
}

const rfc3339 = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:[Zz]|[+-]\d{2}:\d{2})?$/

/** ISO 8601 with `-` and `:`, and without them: seconds, the clock and the minutes of the zone can be absent. */
const zoned = '(?:[Zz]|([+-])(\\d{2})(?::?(\\d{2}))?)?'
const extended = new RegExp(
  `^(\\d{4})-(\\d{2})-(\\d{2})(?:[Tt ](\\d{2}):(\\d{2})(?::(\\d{2})(?:[.,](\\d{1,9}))?)?${zoned})?$`,
)
const basic = new RegExp(`^(\\d{4})(\\d{2})(\\d{2})(?:[Tt ](\\d{2})(\\d{2})(?:(\\d{2})(?:[.,](\\d{1,9}))?)?${zoned})?$`)

// Years 1 to 9999 in UTC: the range of RFC 3339, which every database can store.
const firstTime = Date.parse('0001-01-01T00:00:00Z')
const lastTime = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/** True for an RFC 3339 time, which can be without a zone. */
export function isRfc3339(text: string): boolean {
  return rfc3339.test(text) && parseTimestamp(text) !== null
}

/**
 * Milliseconds since 1970 of a time as senders of steps write it, RFC 3339 or another form of ISO 8601; null for other text. A time
 * without a zone, as Python writes it, is UTC; a date is its first moment. A leap second counts as the next second.
 */
export function parseTimestamp(text: string): number | null {
  return parseUsual(text) ?? parseAny(text)
}

/** The time of a text as most programs write it, with milliseconds or seconds, at a fifth of the cost; null when it may be another one. */
function parseUsual(text: string): number | null {
  const last = text.length - 1
  if (text[10] !== 'T' || text[13] !== ':' || text[16] !== ':' || text[4] !== '-' || text[7] !== '-') return null
  if (text[last] !== 'Z' || (last !== 19 && (last !== 23 || text[19] !== '.'))) return null
  const [year, month, day] = [digitsIn(text, 0, 4), digitsIn(text, 5, 7), digitsIn(text, 8, 10)]
  const [hour, minute, second] = [digitsIn(text, 11, 13), digitsIn(text, 14, 16), digitsIn(text, 17, 19)]
  const milliseconds = last === 19 ? 0 : digitsIn(text, 20, 23)
  // Every month has 28 days, all but one have 30, and every year from 1000 is its own in Date.UTC.
  const isPlain = year >= 1000 && month >= 1 && month <= 12 && day >= 1 && (day <= 28 || (day <= 30 && month !== 2))
  if (!isPlain || !(hour <= 23 && minute <= 59 && second <= 59 && milliseconds >= 0)) return null
  return Date.UTC(year, month - 1, day, hour, minute, second, milliseconds)
}

/** The number that the digits write; NaN for another character. */
function digitsIn(text: string, from: number, to: number): number {
  let number = 0
  for (let index = from; index < to; index++) {
    const digit = text.charCodeAt(index) - 0x30
    number = digit >= 0 && digit <= 9 ? number * 10 + digit : Number.NaN
  }
  return number
}

function parseAny(text: string): number | null {
  const match = extended.exec(text) ?? basic.exec(text)
  if (match === null) return null
  const [, year, month, day, hour = '0', minute = '0', second = '0'] = match
  const [fraction = '', sign, zoneHour = '0', zoneMinute = '0'] = match.slice(7)
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60) return null
  if (Number(zoneHour) > 23 || Number(zoneMinute) > 59) return null
  const date = Date.parse(`${year}-${month}-${day}T00:00:00Z`)
  // Date.parse may take a day that the month does not have for one of the next month.
  if (Number.isNaN(date) || new Date(date).getUTCDate() !== Number(day)) return null
  const clock = (Number(hour) * 3600 + Number(minute) * 60 + Number(second)) * 1000
  const milliseconds = Number(fraction.padEnd(3, '0').slice(0, 3))
  const zone = (Number(zoneHour) * 60 + Number(zoneMinute)) * 60_000 * (sign === '-' ? -1 : 1)
  const time = date + clock + milliseconds - zone
  return time >= firstTime && time <= lastTime ? time : null
}
