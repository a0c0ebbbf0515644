// The sentences of a message to people, from the body of a delivery.
import { onOneLine } from '@svc/engine/parts'
import { effectWords, type Incident } from '@svc/schemas'

export interface Summary {
  readonly title: string
  readonly lines: readonly string[]
  /** A page for people; null where the platform does not know its address, or has no page of the subject. */
  readonly link: string | null
}

/** The body of each delivery. */
export interface DeliveryBody {
  readonly type: string
  readonly timestamp: string
  readonly data: Readonly<Record<string, unknown>>
}

/** Characters of one value: names come from agents, and can be long. */
const maxLength = 300

export function summaryOf({ type, timestamp, data }: DeliveryBody, public_url: string | null): Summary {
  const incident = data.incident as Incident | undefined
  if (incident !== undefined) return incidentSummary(type, incident, public_url)
  const [subject = {}] = Object.values(data) as Readonly<Record<string, unknown>>[]
  const lines = Object.entries(subject).flatMap(([name, value]) =>
    ['string', 'number', 'boolean'].includes(typeof value) ? [`${name}: ${plain(value)}`] : [],
  )
  return { title: titles[type] ?? type, lines: [...lines, `at: ${timestamp}`], link: null }
}

const titles: Readonly<Record<string, string>> = {
  'action.test': 'a test of svc: this action works',
  'task.unfinished': 'a task has not ended in time',
  'step.unrecorded': 'a step was not recorded in time after its decision',
  'trace.gap': 'steps are missing in a trace: the engine could not keep them',
  'log.invalid': 'the log is invalid: its checkpoints are rejected',
  'resync.failed': 'manifests could not be read from their repository',
  'assignment.held': 'a new version of a manifest waits for an approval',
}

function incidentSummary(type: string, incident: Incident, public_url: string | null): Summary {
  const { id, severity, state, policy_name, rule_type, agent_id, task_id, step, occurrences, effects, note } = incident
  const what = type === 'incident.created' ? 'new incident' : `incident is ${state}`
  return {
    title: `${what} (${severity}): ${plain(policy_name)}`,
    lines: [
      `rule: ${plain(rule_type)}`,
      `agent: ${plain(agent_id)}`,
      ...(task_id === null ? [] : [`task: ${plain(task_id)}${step === null ? '' : `, step ${step}`}`]),
      ...(occurrences > 1 ? [`occurrences: ${occurrences}`] : []),
      // Deliveries of earlier versions lack it.
      ...(effects === undefined ? [] : [`effect: ${effectWords(effects).join(', ')}`]),
      ...(note === null ? [] : [`note: ${plain(note)}`]),
    ],
    link: public_url === null ? null : `${public_url}/incidents/${encodeURIComponent(id)}`,
  }
}

function plain(value: unknown): string {
  const text = onOneLine(String(value))
  return text.length > maxLength ? `${text.slice(0, maxLength)}…` : text
}
