// A report as PDF/A-3b, with the XML of the same report attached. Pure but for the files of its fonts: no clock, no network.
import { hairline } from '../charts/colours.js'
import { charts } from '../charts/report-charts.js'
import { period } from '../content/figures.js'
import type { ReportData } from '../content/report-data.js'
import { controlMatrix } from '../controls/controls.js'
import { fontsOf } from '../pdf/fonts.js'
import { keepTogether } from '../pdf/keep.js'
import { ruleOf } from '../pdf/marks.js'
import { type Pen, penOf } from '../pdf/pen.js'
import { openDocument, print } from '../pdf/press.js'
import { printable } from '../pdf/runs.js'
import { layouts, margins, styles, textWidth } from '../pdf/style.js'
import type { Context } from '../sections/section.js'
import { sections } from '../sections/sections.js'

/**
 * The bytes of a PDF 1.7, PDF/A-3b, whose attachment is `xml`; the same for the same data, on every machine.
 * Lists are expected within their bounds (docs/design/reports.md §1).
 */
export async function reportPdf(data: ReportData, xml: string): Promise<Uint8Array> {
  const at = new Date(data.report.as_of)
  const name = printable(data.report.organization, 200)
  const document = openDocument(
    {
      Title: `AI agent governance report: ${name}, ${period(data.report.period)}`,
      Author: name,
      Subject: `Report ${data.report.id}`,
      Producer: 'svc',
      Creator: `svc ${data.report.version}`,
      CreationDate: at,
      ModDate: at,
    },
    'en-GB',
  )
  document.file(Buffer.from(xml, 'utf8'), {
    name: `${data.report.id}.xml`,
    type: 'text/xml',
    description: 'The same report as OSCAL assessment results',
    relationship: 'Data',
    creationDate: at,
    modifiedDate: at,
  })
  const pen = penOf(fontsOf(document))
  const context: Context = { data, pen, charts, controls: controlMatrix(data), who: namesIn(data) }
  const content = keepTogether(sections.flatMap(({ pdf }) => pdf(context)))
  return print(document, { content, ...running(pen, data), styles, layouts, margins })
}

/** Prints `person:psn_1` as `Mia Brandt (psn_1)`. */
function namesIn({ oversight }: ReportData): Context['who'] {
  const names = new Map(oversight.people.map(({ person_id, name }) => [person_id, name]))
  return (actor) => {
    const [, id = ''] = /^(?:person|member):(.*)$/s.exec(actor) ?? []
    const name = names.get(id)
    return name === undefined ? actor : `${name} (${id})`
  }
}

/** Page 1 has no header: it says the same, larger. */
function running(pen: Pen, { report }: ReportData) {
  const side = [margins.left, 0, margins.right, 0] as const
  const header = (page: number) =>
    page === 1
      ? null
      : {
          stack: [
            {
              columns: [
                { width: textWidth * 0.58, ...pen.text(report.organization, { style: 'running', max: 52 }) },
                { width: '*', ...pen.text(period(report.period), { style: 'running', align: 'right' }) },
              ],
              columnGap: 10,
              margin: [0, 0, 0, 5],
            },
            ruleOf(textWidth, hairline, 0.5),
          ],
          margin: [side[0], 34, side[2], 0],
        }
  const footer = (page: number, pages: number) => ({
    columns: [
      { width: '*', ...pen.text(report.id, { mono: true, style: 'running', size: 6.6 }) },
      { width: 120, ...pen.text(`page ${page} of ${pages}`, { style: 'running', align: 'right' }) },
    ],
    margin: [side[0], 22, side[2], 0],
  })
  return { header, footer }
}
