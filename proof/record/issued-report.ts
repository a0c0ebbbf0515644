// Leaves of issued reports: the log itself holds the SHA-256 of every report, so that a changed file is found.
import { isoTime } from '@svc/schemas'
import { isCount, isHash, isMap, isTime } from '../json/checks.js'

/** The time by which a step counts in a report: that of its receipt, or the one that its sender states. */
export type CountedBy = 'received' | 'occurred'

export interface IssuedReport {
  readonly log_index: number
  readonly id: string
  readonly format: string
  readonly from: string
  readonly to: string
  readonly by: CountedBy
  /** The agents that it is limited to; null for all. */
  readonly agent_ids: readonly string[] | null
  /** Size and root of the log that the report reads. */
  readonly cut_off: number
  readonly root: string
  /** Of the file, hex. */
  readonly sha256: string
}

/** The report that an opened leaf records; null for any other leaf. */
export function reportIn(
  { type }: { readonly type: string },
  values: Readonly<Record<string, unknown>>,
  log_index: number,
): IssuedReport | null {
  const report = type === 'report' ? values.report : null
  if (!isMap(report)) return null
  const { id, format, from, to, by = 'received', agent_ids = null, cut_off, root, sha256 } = report
  const isValid =
    [id, format].every(isText) &&
    [from, to].every(isTime) &&
    (by === 'received' || by === 'occurred') &&
    (agent_ids === null || (Array.isArray(agent_ids) && agent_ids.every(isText))) &&
    isCount(cut_off) &&
    [root, sha256].every(isHash)
  return isValid ? ({ log_index, id, format, from, to, by, agent_ids, cut_off, root, sha256 } as IssuedReport) : null
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

/** Times of receipt; `to`, which is exclusive, is null where they have no end but that of the log. */
export interface Receipts {
  readonly from: string
  readonly to: string | null
}

/** A counted step may have occurred that long after its receipt: clocks are wrong, and times without a zone are read as UTC. */
export const maxAheadMs = 24 * 60 * 60 * 1000

/**
 * The time when the entries that a report reads were received. A step can be sent long after it occurred: by the times that
 * senders state, the entries up to the cut-off are read, from one day before the period.
 */
export function receiptsOf({ from, to, by }: Pick<IssuedReport, 'from' | 'to' | 'by'>): Receipts {
  return by === 'received' ? { from, to } : { from: isoTime(Math.max(0, Date.parse(from) - maxAheadMs)), to: null }
}
