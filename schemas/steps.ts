// The vocabulary of steps: both shapes a step arrives in, and what may be said of one without any rule.
import type { Behavior } from './types.js'

/** A step as rules see it: a Behavior or a log entry, whichever the caller had. `step_type` is kept verbatim. */
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

type BehaviorType = Behavior['step_type']
type Verb = NonNullable<Behavior['verb']>

/** Which verbs steps of a type usually have; an empty list means none. Any step may have any of the four. */
export const verbsOf: Readonly<Record<BehaviorType, readonly Verb[]>> = {
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

/** Names of the platform's older vocabulary. */
export const aliases: ReadonlyMap<string, BehaviorType> = new Map([
  ['START_NODE', 'task.start'],
  ['END_NODE', 'task.end'],
  ['ERROR_NODE', 'task.error'],
  ['LLM_CALL', 'step.model'],
])

/** The name a step type is compared by: the platform's older names resolve to the engine's. */
export function canonicalType(step_type: string): string {
  // The older names begin with a capital and the engine's do not: this is asked several times per decision.
  if (step_type.charCodeAt(0) > 90) return step_type
  return aliases.get(step_type) ?? step_type
}

const verbs: readonly string[] = ['GET', 'POST', 'PATCH', 'DELETE'] satisfies Verb[]

/** Why a step cannot have its verb, or null when it can: any step type may have any of the four. */
export function verbProblem({ verb }: Pick<Step, 'step_type' | 'verb'>): string | null {
  if (verb === undefined || verbs.includes(verb)) return null
  return `must be one of ${verbs.join(', ')}, found \`${verb}\``
}

/** True when the step can modify data: said outright, or by its verb, or because it runs code. */
export function hasWritePermission(step: Step): boolean {
  if (step.has_write_permission !== undefined) return step.has_write_permission
  return step.verb === 'POST' || step.verb === 'PATCH' || step.verb === 'DELETE' || step.step_type === 'step.exec'
}

/** A step that was stopped before it ran: it is in the log, but satisfies and counts for nothing. */
export function isBlocked(step: Step): boolean {
  return step.output?.status === 'blocked'
}

export type TaskStatus = 'error' | 'completed' | 'running'

/** Status of a task from which steps exist (docs/design/platform.md §4): an error takes precedence. */
export function taskStatus(has_error: boolean, has_end: boolean): TaskStatus {
  if (has_error) return 'error'
  return has_end ? 'completed' : 'running'
}

const rfc3339 = /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d{2}):(\d{2}))?$/

// Years 1 to 9999 in UTC: what RFC 3339 can write and every database can hold.
const firstTime = Date.parse('0001-01-01T00:00:00Z')
const lastTime = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/**
 * Milliseconds since 1970 of an RFC 3339 time, or null when the text is not one. Without a zone it is UTC: Python writes
 * such. A leap second counts as the next.
 */
export function parseTimestamp(text: string): number | null {
  const match = rfc3339.exec(text)
  if (match === null) return null
  const [, year, month, day, hour, minute, second, fraction = '', sign, zoneHour = '0', zoneMinute = '0'] = match
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60) return null
  if (Number(zoneHour) > 23 || Number(zoneMinute) > 59) return null
  const date = Date.parse(`${year}-${month}-${day}T00:00:00Z`)
  // A day that the month does not have is none, or is read as one of the next month.
  if (Number.isNaN(date) || new Date(date).getUTCDate() !== Number(day)) return null
  const clock = (Number(hour) * 3600 + Number(minute) * 60 + Number(second)) * 1000
  const milliseconds = Number(fraction.padEnd(3, '0').slice(0, 3))
  const zone = (Number(zoneHour) * 60 + Number(zoneMinute)) * 60_000 * (sign === '-' ? -1 : 1)
  const time = date + clock + milliseconds - zone
  return time >= firstTime && time <= lastTime ? time : null
}
