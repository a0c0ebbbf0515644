// The steps of a stored task as text: the database makes it, and the thread that evaluates them reads it.
import { withStatedLabels } from '@svc/engine/parts'
import { parseJson } from '@svc/proof'
import { canonicalType, isoTime, type JsonMap, parseTimestamp, type Step } from '@svc/schemas'
import { type StepColumns, stepColumns, stepOf } from '../../ledger/stored-step.js'

/** The members of a line, in order: an entry `e`, what was known of the memory that it reads, and its payload `p`. */
export const lineColumns = [
  ...stepColumns.map((column) => `e.${column}`),
  '(extract(epoch from e.occurred_at) * 1000)::float8',
  '(select m.labels from memory_reads m where m.org_id = e.org_id and m.log_index = e.log_index)',
  'p.body',
].join(', ')

/** The steps in the order of arrival, as rules read them, at the times at which they count as having occurred. */
export function stepsIn(lines: string): Step[] {
  return lines.split('\n').map((line) => {
    const members = parseJson(line) as unknown[]
    const columns: Record<string, unknown> = {}
    for (let index = 0; index < stepColumns.length; index++) columns[stepColumns[index] ?? ''] = members[index]
    const [occurred_ms, labels, body] = members.slice(stepColumns.length) as [number, JsonMap | null, string | null]
    return at(Math.round(occurred_ms), withStatedLabels(stepOf(columns as unknown as StepColumns, body), labels))
  })
}

/** A time before that of an earlier step counts as that one, also where the task id is used again. */
function at(time: number, step: Step): Step {
  return parseTimestamp(step.timestamp ?? '') === time ? step : { ...step, timestamp: isoTime(time) }
}

/**
 * A step says so, or no step has content although one acts: before the mark, SVC_LOG_PAYLOADS=metadata_only left at most
 * the status of an output.
 */
export function isMetadataOnly(steps: readonly Step[]): boolean {
  if (steps.some(({ meta }) => meta?.['svc.payloads'] === 'metadata_only')) return true
  const isBoundary = ({ step_type }: Step) => /^task\./.test(canonicalType(step_type) ?? '')
  const hasContent = ({ input, output }: Step) =>
    input !== undefined || Object.keys(output ?? {}).some((key) => key !== 'status')
  return !steps.every(isBoundary) && !steps.some(hasContent)
}
