// A report as XML: OSCAL assessment results, complete and lossless (docs/design/reports.md §5).

import type { ReportData } from '../content/report-data.js'
import { assessmentResults } from './assessment-results.js'
import { assessmentResults as shape } from './shapes.js'
import { elementOf } from './write.js'
import { writeXml } from './xml-text.js'

/** The document; the same characters for the same data. */
export function reportXml(data: ReportData): string {
  const root = elementOf('assessment-results', shape, assessmentResults(data))
  return writeXml({ ...root, attributes: { xmlns: 'http://csrc.nist.gov/ns/oscal/1.0', ...root.attributes } })
}
