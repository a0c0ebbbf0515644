// A line of a trace: a step as `svc import --out` and the local engine write it, or another line of the local engine.
import { isDeeperThan, maxRequestDepth, parseStoredJson } from '@svc/proof'
import { type JsonMap, parseTimestamp, type Step, verbProblem } from '@svc/schemas'
import { quote } from '../check/quote.js'
import { withOutputObject } from './output-value.js'

/** A step, the end of a task through /end_task, an evaluation that blocked or asked, or another line of the local engine. */
export type TraceLineReading =
  | { readonly kind: 'step'; readonly step: Step }
  | EndReading
  | { readonly kind: 'evaluation'; readonly row: EvaluationRow }
  /** `name` is the kind of the line. */
  | { readonly kind: 'other'; readonly name: unknown }
  | { readonly kind: 'problem'; readonly problem: string }

/** The end of a task through /end_task: a task.end that its steps may lack. */
export interface EndReading {
  readonly kind: 'end'
  readonly task_id: string | undefined
  readonly step: Step
}

/** An evaluation in which the local engine blocked the step or asked. */
export interface EvaluationRow {
  readonly evaluation_id: string
  readonly task_id: string
  readonly intended: Step
  /** The agent as the policies saw it. */
  readonly agent?: JsonMap
}

/** Reads the text of one line, which is not empty; never throws. */
export function readTraceLine(text: string): TraceLineReading {
  const reading = parseStoredJson(text)
  if (reading.problem !== null) return problem(reading.problem.message)
  const line = (reading.value ?? {}) as JsonMap
  // Most lines are steps as they are, which need no copy.
  if (line.kind === undefined && line.recorded_at === undefined) return stepOf(line)
  const { kind, recorded_at: _at, ...rest } = line
  if (kind === 'end' || kind === 'evaluation') {
    const fault = notText(rest, idMembers)
    if (fault !== null) return problem(fault)
  }
  if (kind === 'end') return endOf(line)
  if (kind === 'evaluation') return evaluationOf(rest)
  if (kind !== undefined && kind !== 'step') return { kind: 'other', name: kind }
  return stepOf(rest)
}

function endOf({ task_id, step, agent_id, recorded_at }: JsonMap): TraceLineReading {
  const members = {
    ...(typeof task_id === 'string' && { task_id }),
    ...(typeof agent_id === 'string' && { agent_id }),
    ...(Number.isSafeInteger(step) && { step: step as number }),
    ...(typeof recorded_at === 'string' && parseTimestamp(recorded_at) !== null && { timestamp: recorded_at }),
  }
  return { kind: 'end', task_id: members.task_id, step: { ...members, step_type: 'task.end' } }
}

function stepOf(value: JsonMap): TraceLineReading {
  const step = withOutputObject(value).step as Step
  if (typeof step.step_type !== 'string') return problem('`step_type` is missing: every step has one')
  // A member that is null is absent, as at every endpoint.
  for (const name of Object.keys(value)) if (value[name] === null) delete (value as Record<string, unknown>)[name]
  const fault = notText(value, textMembers) ?? notFlag(value) ?? verbFault(step)
  if (fault !== null) return problem(fault)
  if (step.timestamp != null && parseTimestamp(step.timestamp) === null)
    return problem(`\`timestamp\` is ${quote(step.timestamp)}: write an ISO 8601 time, such as 2026-01-31T08:00:00Z`)
  // Only an incident may be deeper, because it quotes the parameters of its policy.
  if (isDeeperThan(step, maxRequestDepth)) return problem(`the step is nested deeper than ${maxRequestDepth} levels`)
  return { kind: 'step', step }
}

const idMembers = ['task_id'] as const
const textMembers = ['task_id', 'timestamp', 'verb', 'step_name'] as const

/** The first of the members that is neither absent nor text. */
function notText(value: JsonMap, names: readonly string[]): string | null {
  for (let index = 0; index < names.length; index++) {
    const name = names[index] as string
    const member = value[name]
    if (member !== undefined && member !== null && typeof member !== 'string') return `\`${name}\` must be text`
  }
  return null
}

/** The first flag that is neither absent nor a flag: text would be read as true by some rules, and as false by others. */
function notFlag(value: JsonMap): string | null {
  for (const name of ['is_external_call', 'has_write_permission'])
    if (value[name] !== undefined && typeof value[name] !== 'boolean') return `\`${name}\` must be true or false`
  return null
}

function verbFault(step: Step): string | null {
  const fault = verbProblem(step)
  return fault === null ? null : `\`verb\` ${fault}`
}

function evaluationOf(row: JsonMap): TraceLineReading {
  const { intended } = row as Partial<EvaluationRow>
  if (typeof intended?.step_type !== 'string')
    return problem('`intended` is missing: an evaluation has an intended step')
  return { kind: 'evaluation', row: row as unknown as EvaluationRow }
}

function problem(text: string): TraceLineReading {
  return { kind: 'problem', problem: text }
}
