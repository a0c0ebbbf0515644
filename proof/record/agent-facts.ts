// Events that hold an agent as rules see it: the facts with which the steps after them were evaluated.
import { isMap } from '../json/checks.js'

export interface RecordedFacts {
  readonly log_index: number
  readonly agent_id: string
  readonly facts: Readonly<Record<string, unknown>>
}

/** The facts that an opened leaf records; null for any other leaf. */
export function agentFactsIn(
  { type }: { readonly type: string },
  values: Readonly<Record<string, unknown>>,
  log_index: number,
): RecordedFacts | null {
  const event = type === 'event' ? values.event : null
  if (!isMap(event) || event.subject_kind !== 'agent' || typeof event.subject_id !== 'string') return null
  const facts = isMap(event.data) ? event.data.facts : null
  return isMap(facts) ? { log_index, agent_id: event.subject_id, facts } : null
}
