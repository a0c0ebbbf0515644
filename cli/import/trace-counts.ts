// The lines of a trace that are no steps: counted, because they are not imported.
import type { TraceLineReading } from '@svc/engine/parts'
import type { Remarks } from './reading/reader.js'
import { countOf, listed } from './reading/words.js'

export function createLineCounts() {
  const count = { evaluations: 0, unrecorded: 0, incidents: 0, gaps: 0, ended_tasks: 0, other_lines: 0 }
  return {
    add: (found: TraceLineReading): void => {
      if (found.kind === 'evaluation') count.evaluations++
      else if (found.kind === 'end' && found.step.step === undefined) count.ended_tasks++
      else if (found.kind === 'other') count[memberOf(found.name)]++
    },
    remarks: (): Remarks => {
      const { evaluations, unrecorded, incidents, gaps, ended_tasks, other_lines } = count
      const kinds = [
        ...(evaluations > 0 ? [countOf(evaluations, 'evaluation')] : []),
        ...(unrecorded > 0 ? [countOf(unrecorded, 'unrecorded decision')] : []),
        ...(incidents > 0 ? [countOf(incidents, 'incident')] : []),
        ...(gaps > 0 ? [countOf(gaps, 'gap')] : []),
        ...(ended_tasks > 0 ? [`${countOf(ended_tasks, 'call')} of /end_task`] : []),
        ...(other_lines > 0 ? [countOf(other_lines, 'other line')] : []),
      ]
      const lines = kinds.length === 0 ? [] : [`not imported, because only steps are: ${listed(kinds, 'and')}`]
      return { lines, members: { left_out: count } }
    },
  }
}

const members = { incident: 'incidents', unrecorded: 'unrecorded', gap: 'gaps' } as const

function memberOf(name: unknown) {
  return Object.hasOwn(members, String(name)) ? members[name as keyof typeof members] : 'other_lines'
}
