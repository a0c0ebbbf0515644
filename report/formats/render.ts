// From the content of a report to its file.
import { createHash } from 'node:crypto'
import type { MadeReport } from '../content/plan.js'
import type { ReportData } from '../content/report-data.js'

/** The file in the format of the report. The formats are loaded when they are needed: the PDF alone takes some megabytes. */
export async function render(data: ReportData): Promise<MadeReport> {
  const bytes = await bytesOf(data)
  return { bytes, sha256: createHash('sha256').update(bytes).digest('hex') }
}

async function bytesOf(data: ReportData): Promise<Uint8Array> {
  const { format } = data.report
  const { reportJson, reportXml } = await import('./oscal.js')
  if (format === 'json') return Buffer.from(reportJson(data))
  const xml = reportXml(data)
  return format === 'xml' ? Buffer.from(xml) : (await import('./pdf.js')).reportPdf(data, xml)
}
