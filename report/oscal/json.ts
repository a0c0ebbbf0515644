// A report as JSON: the same OSCAL assessment results as the XML (docs/design/reports.md §5).

import type { ReportData } from '../content/report-data.js'
import { assessmentResults } from './assessment-results.js'
import { assessmentResults as shape } from './shapes.js'
import { jsonPieces } from './write.js'

/** The document; the same characters for the same data. */
export function reportJson(data: ReportData): string {
  const pieces = jsonPieces(shape, assessmentResults(data), '\n ')
  return ['{\n "assessment-results": ', ...pieces, '\n}\n'].join('')
}
