// A report as JSON: the same OSCAL assessment results as the XML (docs/design/reports.md §5).
import { assessmentResults } from './oscal/assessment-results.js'
import { assessmentResults as shape } from './oscal/shapes.js'
import { jsonPieces } from './oscal/write.js'
import type { ReportData } from './report-data.js'

/** The document; the same characters for the same data. */
export function reportJson(data: ReportData): string {
  const pieces = jsonPieces(shape, assessmentResults(data), '\n ')
  return ['{\n "assessment-results": ', ...pieces, '\n}\n'].join('')
}
