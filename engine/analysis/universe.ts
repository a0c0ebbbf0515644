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

/** Facts about these are made as those about a field, whose name is in words. The week begins on Monday. */
export const hourPath = (zone: string) => `the hour of the week in \`${zone}\``
export const hostPath = (path: string) => `each host in \`${path}\``
export const textPath = (path: string) => `a text in \`${path}\``

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
])

export function universeOf(path: string): Universe {
  if (path.startsWith('the hour ')) return hours
  return path.startsWith('each host ') ? { kinds: ['string'] } : (known.get(path) ?? every)
}

/** One name for the risk level, which the context and the registration of an agent have. */
export function factPath(path: string): string {
  return path === 'context.risk_classification' ? levelPath : path
}
