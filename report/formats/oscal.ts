// A report as OSCAL assessment results, complete and lossless, in XML and JSON (docs/design/reports.md §5).
import type { ReportData } from '../content/report-data.js'
import { assessmentResults as shape } from '../oscal/shapes.js'
import { elementOf, jsonPieces } from '../oscal/write.js'
import { writeXml } from '../oscal/xml-text.js'
import { assessmentResults } from './assessment-results.js'

/** The document; the same characters for the same data. */
export function reportXml(data: ReportData): string {
  const root = elementOf('assessment-results', shape, assessmentResults(data))
  return writeXml({ ...root, attributes: { xmlns: 'http://csrc.nist.gov/ns/oscal/1.0', ...root.attributes } })
}

/** The same document as JSON. */
export function reportJson(data: ReportData): string {
  const pieces = jsonPieces(shape, assessmentResults(data), '\n ')
  return ['{\n "assessment-results": ', ...pieces, '\n}\n'].join('')
}
