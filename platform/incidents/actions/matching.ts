// The actions that answer an occurrence. A filter on a member that an occurrence lacks, such as the agent of an invalid log, does
// not apply: it would hide a failure.
import type { Action, Incident } from '@svc/schemas'

type Trigger = Action['on'][number]

/** An occurrence that can trigger actions. */
export interface Occurrence {
  readonly on: Trigger
  readonly subject_kind: 'incident' | 'task' | 'agent' | 'log' | 'repository' | 'assignment'
  /** Deliveries of one action about one subject keep their order. */
  readonly subject_id: string
  readonly severity?: Incident['severity']
  readonly agent_id?: string
  readonly policy_id?: number
  /** The body of the delivery; an incident is read as it is at the end of its change. */
  readonly data?: Readonly<Record<string, unknown>>
  /** The same cause, as this text names it, is delivered once. */
  readonly once?: string
}

/** The conditions of an action. */
export type Conditions = Pick<Action, 'id' | 'on' | 'min_severity' | 'agent_ids' | 'policy_ids'>

const severities: readonly Incident['severity'][] = ['low', 'medium', 'high', 'critical']

export function matches({ on, min_severity, agent_ids, policy_ids }: Conditions, found: Occurrence): boolean {
  const { severity, agent_id, policy_id } = found
  return (
    on.includes(found.on) &&
    (severity === undefined ||
      min_severity === null ||
      severities.indexOf(severity) >= severities.indexOf(min_severity)) &&
    (agent_id === undefined || agent_ids === null || agent_ids.includes(agent_id)) &&
    (policy_id === undefined || policy_ids === null || policy_ids.includes(policy_id))
  )
}
