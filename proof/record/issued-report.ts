// Leaves of issued reports: the log itself holds the SHA-256 of every report, so that a changed file is found.
import { isCount, isHash, isMap, isTime } from '../json/checks.js'

export interface IssuedReport {
  readonly log_index: number
  readonly id: string
  readonly format: string
  readonly from: string
  readonly to: string
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
  const { id, format, from, to, cut_off, root, sha256 } = report
  const isValid =
    [id, format].every((text) => typeof text === 'string') &&
    [from, to].every(isTime) &&
    isCount(cut_off) &&
    [root, sha256].every(isHash)
  return isValid ? ({ log_index, id, format, from, to, cut_off, root, sha256 } as IssuedReport) : null
}
