// The lines of a trace that are no steps: counted, because they are not imported.
import type { TraceLineReading } from '@svc/engine'
import type { Remarks } from './reader.js'
import { countOf, listed } from './words.js'

export function createLineCounts() {
  const count = { evaluations: 0, incidents: 0, ended_tasks: 0, other_lines: 0 }
  return {
    add: (found: TraceLineReading): void => {
      if (found.kind === 'evaluation') count.evaluations++
      else if (found.kind === 'end') count.ended_tasks++
      else if (found.kind === 'other') count[found.name === 'incident' ? 'incidents' : 'other_lines']++
    },
    remarks: (): Remarks => {
      const { evaluations, incidents, ended_tasks, other_lines } = count
      const kinds = [
        ...(evaluations > 0 ? [countOf(evaluations, 'evaluation')] : []),
        ...(incidents > 0 ? [countOf(incidents, 'incident')] : []),
        ...(ended_tasks > 0 ? [`${countOf(ended_tasks, 'call')} of /end_task`] : []),
        ...(other_lines > 0 ? [countOf(other_lines, 'other line')] : []),
      ]
      const lines = kinds.length === 0 ? [] : [`not imported, because only steps are: ${listed(kinds, 'and')}`]
      return { lines, members: { left_out: count } }
    },
  }
}
