// A gate that a rule requires, as a body for /record, where its filter names every value.
import type { Behavior } from '@svc/schemas'
import { gateProblem } from '../gates/gate-words.js'
import { compilePattern, type StepPattern } from '../selection/filter.js'
import { isGate } from '../selection/kind.js'
import { passedGate } from './track.js'

/** A passed gate that the filter accepts, to be recorded; empty for other types, and where the filter leaves a choice. */
export function wantedSteps(pattern: StepPattern): { readonly remedy_steps?: readonly Behavior[] } {
  const { verbs: [verb] = [], step_names: [step_name] = [], filter = {} } = pattern
  if (!isGate(pattern)) return {}
  const step: Record<string, unknown> = { ...passedGate() }
  if (verb !== undefined) step.verb = verb
  if (step_name !== undefined) step.step_name = step_name
  for (const [path, wanted] of Object.entries(filter)) {
    const value: unknown = Array.isArray(wanted) ? wanted[0] : wanted
    if (typeof value === 'object') return {}
    set(step, memberPath(path), value)
  }
  const gate = step as unknown as Behavior
  const isWanted = compilePattern(pattern, false, 'property_filter')
  return isWanted(gate) && gateProblem(gate) === null ? { remedy_steps: [gate] } : {}
}

const members = new Set(['input', 'output', 'meta', 'properties', 'step_name'])

/** The member that a field of a filter is written to: a field that is not a member of a step is a property. */
function memberPath(path: string): string[] {
  const parts = path.split('.')
  return members.has(parts[0] ?? '') ? parts : ['properties', ...parts]
}

function set(step: Record<string, unknown>, [first = '', ...rest]: string[], value: unknown): void {
  if (rest.length === 0) {
    step[first] = value
    return
  }
  const inner = { ...(step[first] as Record<string, unknown> | undefined) }
  step[first] = inner
  set(inner, rest, value)
}
