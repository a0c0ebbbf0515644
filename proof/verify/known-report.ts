// The file of a report, compared with the reports that the log records.
import type { BundleVerdict } from '@svc/schemas'
import type { Report } from '../bundle/bundle-walk.js'
import type { IssuedReport } from '../record/issued-report.js'

/** The earliest of the leaves with the SHA-256 of the file; without one, the file is reported. */
export function knownReport(
  [issued]: readonly IssuedReport[],
  rootAt: (size: number) => string | null,
  report: Report,
): BundleVerdict['report'] {
  if (issued === undefined) {
    const change = 'the file was changed after it was issued, or the bundle is not the one of this report'
    const remedy = 'get that bundle with `svc bundle --report ID`, with the id on the first page of the report'
    report('report_unknown', 'report', `no report in the bundle has the SHA-256 of the file: ${change}; ${remedy}`)
    return null
  }
  const { log_index, id, format, from, to, by, cut_off, root, sha256 } = issued
  const known = rootAt(cut_off)
  if (known !== null && known !== root)
    report('report_mismatch', `entry ${log_index}`, `the report reads a log of ${cut_off} entries that is not this one`)
  return { log_index, id, format, from, to, ...(by === 'occurred' && { by }), cut_off, sha256 }
}
