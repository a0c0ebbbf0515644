// Whether a step calls a tool. The caller states the type of a step, and another type must not hide a tool
// (docs/design/engine.md §3, 19).
import { canonicalType, type JsonMap, type Step } from '@svc/schemas'
import { hasGateForm } from './gate-words.js'
import { compileStepField } from './lookup.js'
import { isModelRequest } from './model-requests.js'

/** Steps of these types often have no name; a name is the one of a tool. */
const withOptionalName: ReadonlySet<string> = new Set(['step.message', 'step.exec', 'step.self', 'step.credential'])
const lifeCycle: ReadonlySet<string> = new Set(['task.start', 'task.end', 'task.error', 'task.idle'])

const acts = ['exec.command', 'target.path', 'tool.source'].map((path) => compileStepField(path, 'field'))

/**
 * True for a step whose name must be the one of a tool. A model, a gate and the life of a task have names of their own:
 * there a name counts when it is a known tool, or when the step does not have the form of its type. Throws AmbiguousField.
 */
export function callsTool(step: Step, isKnown: (name: string) => boolean): boolean {
  const { step_name } = step
  const type = canonicalType(step.step_type)
  if (withOptionalName.has(type)) return step_name !== undefined
  if (type === 'step.model') return step_name !== undefined && (isKnown(step_name) || !isModelCall(step))
  if (type === 'step.gate') return step_name !== undefined && (isKnown(step_name) || !isCheck(step))
  if (lifeCycle.has(type)) return step_name !== undefined && (isKnown(step_name) || !isLifeCycle(step, type))
  return true
}

function isModelCall(step: Step): boolean {
  const { verb, input } = step
  if (verb !== undefined && verb !== 'POST' && verb !== 'GET') return false
  return (isEmpty(input) || isModelRequest(input)) && !isAct(step)
}

function isCheck(step: Step): boolean {
  return ((step.verb === undefined && isEmpty(step.input)) || hasGateForm(step)) && !isAct(step)
}

/** A start is given the request of the task. */
function isLifeCycle(step: Step, type: string): boolean {
  return step.verb === undefined && (type === 'task.start' || isEmpty(step.input)) && !isAct(step)
}

function isAct(step: Step): boolean {
  return acts.some((get) => get(step) !== null)
}

function isEmpty(input: JsonMap | undefined): input is undefined {
  return input === undefined || Object.keys(input).length === 0
}
