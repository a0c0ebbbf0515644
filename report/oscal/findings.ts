// Findings on controls, and risks of incidents without an end. A finding states evidence of the log, never an opinion.

import type { ReportData } from '../content/report-data.js'
import type { ControlRow } from '../controls/controls.js'
import { named } from '../controls/sentences.js'
import { observationId } from './observations.js'
import { property } from './properties.js'
import type { Assembly } from './shape.js'
import { partId } from './uuid.js'

/** The id of the objective of a control in our catalog. */
export const objectiveId = (control_id: string) => `${control_id}_obj`

/** A finding for each control that svc covers; whether it is `satisfied` is that of its row in every format. */
export function findings({ report: { id } }: ReportData, rows: readonly ControlRow[]): Assembly[] {
  return rows
    .filter(({ status }) => status !== 'not_covered')
    .map((row) => ({
      uuid: partId(id, `finding/${row.control_id}`),
      title: `${row.framework}, ${row.title}`,
      description:
        row.evidence.length > 0 ? row.evidence : ['The log of the period holds no evidence for this control.'],
      props: [property('control-id', row.control_id), property('status', row.status)],
      origins: [{ actors: [{ type: 'assessment-platform', 'actor-uuid': partId(id, 'platform') }] }],
      target: targetOf(row),
      'related-observations': row.sources.map((at) => ({ 'observation-uuid': observationId(id, at) })),
      remarks: row.gaps,
    }))
}

function targetOf({ control_id, status, problems, is_satisfied: isSatisfied }: ControlRow): Assembly {
  const why = status === 'evidence' ? 'the log holds evidence, and something is missing' : 'the log holds no evidence'
  const remarks = isSatisfied
    ? 'The objective is that the log holds evidence from at least one step, that its violations have an end, and that no problem of the period speaks against it.'
    : `Other than satisfied: ${why}. This does not say that the obligation was breached.`
  return {
    type: 'objective-id',
    'target-id': objectiveId(control_id),
    status: {
      state: isSatisfied ? 'satisfied' : 'not-satisfied',
      reason: isSatisfied ? 'pass' : 'other',
      remarks: [remarks, ...problems, 'Evidence of the log, not the opinion of an assessor.'],
    },
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
