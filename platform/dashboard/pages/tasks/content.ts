// The content of a step in one line.
import type { TaskStep } from '@svc/schemas'

type Logged = Pick<TaskStep, 'input' | 'output' | 'properties' | 'step_type' | 'step_name' | 'verb'>

/** The kind of act that a step is, and its payload in one line. */
export function contentOf(step: Logged) {
  const { step_type, step_name, verb, properties } = step
  const kinds = [step_name === null ? '' : step_type, verb ?? '', gateOf(properties)]
  return { what: kinds.filter((part) => part !== '').join(' · '), summary: payloadOf(step) }
}

/** What a gate checked, and its answer. */
function gateOf(properties: TaskStep['properties']): string {
  const guard = properties?.guard
  if (typeof guard !== 'object' || guard === null) return ''
  const { check_type, result } = guard as Readonly<Record<string, unknown>>
  return [check_type, result].filter((part) => typeof part === 'string').join(': ')
}

const maxSummary = 240
/** The question that a person answered must be read whole. */
const maxOfGate = 200
const maxValue = 60
const isDigest = /^[0-9a-f]{64}$/

/** The input in one line, and of a gate its answer too. Short values come first: a recipient must not be cut off after a text. */
function payloadOf({ input, output, step_type }: Logged): string {
  const isGate = /gate/i.test(step_type)
  const members = [...Object.entries(input ?? {}), ...(isGate || input === null ? Object.entries(output ?? {}) : [])]
  const parts = members.map(([name, value]) => ({ name, shown: plain(value), is_digest: isDigest.test(String(value)) }))
  const ordered = parts.toSorted((a, b) => Number(a.is_digest) - Number(b.is_digest) || a.shown.length - b.shown.length)
  const most = isGate ? maxOfGate : maxValue
  return shortened(
    ordered.map(({ name, shown }) => `${name}: ${shortened(shown, most)}`).join(' · '),
    isGate ? 2 * maxSummary : maxSummary,
  )
}

/** The beginning of what a step returned, on one line; '' without an output. */
export function outputOf({ output }: Logged): string {
  const values = Object.values(output ?? {}).map(plain)
  return shortened(values.join(' · '), maxSummary)
}

function plain(value: unknown): string {
  if (typeof value === 'string' && isDigest.test(value)) return `${value.slice(0, 12)}…`
  return typeof value === 'string' ? value.replaceAll(/\s+/g, ' ') : JSON.stringify(value)
}

function shortened(value: string, max: number): string {
  return value.length > max ? `${value.slice(0, max)}…` : value
}
