// A report as JSON: the same OSCAL assessment results as the XML (docs/design/reports.md §5).

import type { ReportData } from '../content/report-data.js'
import { assessmentResults as shape } from '../oscal/shapes.js'
import { jsonPieces } from '../oscal/write.js'
import { assessmentResults } from './assessment-results.js'

/** The document; the same characters for the same data. */
export function reportJson(data: ReportData): string {
  const pieces = jsonPieces(shape, assessmentResults(data), '\n ')
  return ['{\n "assessment-results": ', ...pieces, '\n}\n'].join('')
}
