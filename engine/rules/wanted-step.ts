// A step that a rule requires: in words, and as a body for /record where its filter names every value.
import type { Behavior, JsonMap } from '@svc/schemas'
import { quote } from '../check/quote.js'
import { compilePattern } from './filter.js'
import { gateProblem } from './gate-words.js'
import { type Kind, passedGate, patternOf } from './track.js'

/** A kind of step, such as `` a `step.message` POST step with `channel` `mail` ``. */
export function kindWords({ step_type, verb, filter }: Kind): string {
  return `a \`${step_type}\`${verb === undefined ? '' : ` ${verb}`} step${filterWords(filter)}`
}

/** A kind of step as a predecessor: a gate must have passed. */
export function wantedWords(kind: Kind): string {
  return kind.step_type === 'step.gate' ? `a passed \`step.gate\`${filterWords(kind.filter)}` : kindWords(kind)
}

function filterWords(filter: JsonMap = {}): string {
  const fields = Object.entries(filter).map(([path, wanted]) => `\`${path}\`${valueWords(wanted)}`)
  return fields.length === 0 ? '' : ` with ${fields.join(' and ')}`
}

function valueWords(wanted: unknown): string {
  if (wanted === null) return ' missing'
  if (Array.isArray(wanted)) return ` one of ${wanted.map(literal).join(', ')}`
  if (typeof wanted !== 'object') return ` ${literal(wanted)}`
  const { present, min, max, matches } = wanted as JsonMap
  return [
    present === false ? ' missing' : '',
    min === undefined ? '' : ` at least ${min}`,
    max === undefined ? '' : ` at most ${max}`,
    matches === undefined ? '' : ` that matches ${literal(matches)}`,
  ].join('')
}

function literal(value: unknown): string {
  return quote(typeof value === 'string' ? value : JSON.stringify(value))
}

/** A passed gate that the filter accepts, to be recorded; empty for other types, and where the filter leaves a choice. */
export function wantedSteps(kind: Kind): { readonly remedy_steps?: readonly Behavior[] } {
  if (kind.step_type !== 'step.gate') return {}
  const step: Record<string, unknown> = { ...passedGate(), ...(kind.verb !== undefined && { verb: kind.verb }) }
  for (const [path, wanted] of Object.entries(kind.filter ?? {})) {
    const value: unknown = Array.isArray(wanted) ? wanted[0] : wanted
    if (typeof value === 'object') return {}
    set(step, memberPath(path), value)
  }
  const gate = step as unknown as Behavior
  const isWanted = compilePattern(patternOf(kind), false, 'property_filter')
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
