// Incidents as observations of OSCAL, and as risks if they are without an end.
import { counted, effectWord } from '../../content/figures.js'
import type { IncidentResult, ReportData } from '../../content/report-data.js'
import { named } from '../../controls/sentences.js'
import type { Assembly } from '../../oscal/shape.js'
import { partId } from '../../oscal/uuid.js'
import { type Described, type Observation, observationId, observedList } from '../section.js'

export const oscal: Observation = {
  at: 'incidents',
  title: 'Incidents',
  sentences: ({ summary }) => [`${counted(summary.incidents_opened, 'incident')} opened in the period.`],
  list: observedList('list.rows', ({ incidents: { list } }) => list.rows, observed),
}

function observed({
  severity,
  state,
  policy_name,
  agent_id,
  agent_name,
  opened_at,
  effect,
  reason,
  history,
}: IncidentResult): Described {
  const opened = `Opened at ${opened_at} for agent ${named(agent_name)}, severity ${severity}.${effect === null ? '' : ` Step: ${effectWord[effect]}.`}`
  const last = history.at(-1)
  const by = last === undefined ? '' : ` The last one at ${last.at} by ${named(last.by)}.`
  const answered = `State at the cut-off: ${state}; ${counted(history.length, 'change')} of its state.${by}`
  return {
    title: `Incident of policy ${named(policy_name)}`,
    description: [reason, opened, answered],
    type: 'finding',
    agent_id,
  }
}

/** Incidents that were open or active at the cut-off. */
export function risks({ report: { id }, incidents }: ReportData): Assembly[] {
  return incidents.list.rows.flatMap(({ state, policy_name, reason, severity }, index) => {
    if (state !== 'open' && state !== 'active') return []
    const at = `incidents.list.rows.${index}`
    return [
      {
        uuid: partId(id, `risk/${at}`),
        title: `Incident of policy ${named(policy_name)} without an end`,
        description: [reason],
        statement: [`An incident of severity ${severity} was ${state} at the cut-off.`],
        status: state === 'open' ? 'open' : 'investigating',
        'related-observations': [{ 'observation-uuid': observationId(id, at) }],
      },
    ]
  })
}
