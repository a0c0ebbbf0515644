// Findings on controls. A finding states evidence of the log, never an opinion.

import type { ReportData } from '../../content/report-data.js'
import type { ControlRow } from '../../controls/controls.js'
import { objectiveId } from '../../oscal/catalog.js'
import { property } from '../../oscal/properties.js'
import type { Assembly } from '../../oscal/shape.js'
import { partId } from '../../oscal/uuid.js'
import { observationId } from '../section.js'

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
