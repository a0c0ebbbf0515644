// The values that a field can have at all; most fields can have any.
import { closedValues } from '@svc/schemas'

export type ValueKind = 'null' | 'boolean' | 'number' | 'string' | 'list' | 'object'

export interface Universe {
  /** All values, where they are few. */
  readonly values?: readonly unknown[]
  readonly kinds: readonly ValueKind[]
}

/** The risk level of the agent, under the names that rules use for it. */
export const levelPath = 'agent.risk_classification'
export const riskLevels = ['minimal', 'limited', 'high', 'unacceptable', 'unclassified'] as const

/** Facts about the hour of the week, Monday first, and about the host of a field are facts about fields of these names. */
export const hourPath = (zone: string) => `hour:${zone}`
export const hostPath = (path: string) => `host:${path}`

const every: Universe = { kinds: ['null', 'boolean', 'number', 'string', 'list', 'object'] }
const text: Universe = { kinds: ['null', 'string'] }
const map: Universe = { kinds: ['null', 'object'] }
const flag: Universe = { kinds: ['boolean'] }
const few = (...values: readonly unknown[]): Universe => ({ values: [null, ...values], kinds: [] })
const listed = (path: string): readonly string[] => closedValues.get(path) ?? []
const labels = listed('content.trust')
/** Every set of labels, as a list. */
const labelLists = Array.from({ length: 8 }, (_, bits) => labels.filter((_, index) => (bits >> index) & 1))
const hours: Universe = { values: Array.from({ length: 168 }, (_, hour) => hour), kinds: [] }

const known: ReadonlyMap<string, Universe> = new Map([
  ['step_type', { kinds: ['string'] }],
  ['verb', few('GET', 'POST', 'PATCH', 'DELETE')],
  ['step_name', text],
  ['agent_id', text],
  ['task_id', text],
  ['timestamp', text],
  ['step', { kinds: ['null', 'number'] }],
  ['input', map],
  ['output', map],
  ['properties', map],
  ['meta', map],
  ['is_external_call', flag],
  ['has_write_permission', flag],
  // Policies that read another value are violated, whatever they require of it.
  ['target.trust', few(...listed('target.trust'))],
  ['content.trust', few(...labels, ...labelLists)],
  [levelPath, few(...riskLevels)],
  ['agent.environment', few('development', 'test', 'staging', 'production')],
])

export function universeOf(path: string): Universe {
  if (path.startsWith('hour:')) return hours
  return path.startsWith('host:') ? { kinds: ['string'] } : (known.get(path) ?? every)
}

/**
 * One name for each fact: the context and the registration of an agent are one set of facts. A context may name any
 * environment, a registration one of four.
 */
export function factPath(path: string, at_registration: boolean): string {
  const name = path.replace(/^(context|agent)\./, '')
  if (!at_registration && name === path) return path
  if (name === 'risk_classification') return levelPath
  if (name === 'environment') return at_registration ? 'agent.environment' : 'context.environment'
  return path
}
