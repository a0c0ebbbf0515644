// A PDF report: its form, its running lines, its attachment.
import { beforeAll, describe, expect, it } from 'vitest'
import { reportPdf } from '../../report/formats/pdf.js'
import { attachmentOf, hasPoppler, pagesOf, popplerMissing, read, textOf } from '../support/reports/pdf.js'
import { reportData } from '../support/reports/report-data.js'

const xml = `<?xml version="1.0" encoding="UTF-8"?>\n<assessment-results title="Łódź &amp; ]]&gt; 😀"/>\n`

const withPoppler = describe.skipIf(!hasPoppler)
if (!hasPoppler) process.stderr.write(`${popplerMissing}: tests of the PDF are skipped\n`)

let bytes: Uint8Array
beforeAll(async () => {
  bytes = await reportPdf(reportData(), xml)
})

describe('a PDF report', () => {
  it('has the same bytes for the same data', async () => {
    expect(Buffer.from(bytes).equals(await reportPdf(reportData(), xml))).toBe(true)
  })
})

withPoppler('a filled PDF report', () => {
  let pages: string[]
  let text: string

  beforeAll(() => {
    pages = pagesOf(bytes)
    text = textOf(bytes)
  })

  it('is PDF 1.7 and declares PDF/A-3b', () => {
    expect(Buffer.from(bytes.subarray(0, 8)).toString()).toBe('%PDF-1.7')
    const metadata = read(bytes, 'pdfinfo', '-meta', 'FILE')
    expect(metadata).toContain('<pdfaid:part>3</pdfaid:part>')
    expect(metadata).toContain('<pdfaid:conformance>B</pdfaid:conformance>')
  })

  it('takes its dates from the cut-off', () => {
    const info = read(bytes, 'pdfinfo', '-isodates', 'FILE')
    expect(info).toMatch(/CreationDate: +2026-04-01T00:00:09Z/)
    expect(info).toMatch(/ModDate: +2026-04-01T00:00:09Z/)
  })

  it('embeds subsets of all fonts, with their characters', () => {
    const fonts = read(bytes, 'pdffonts', 'FILE').split('\n').slice(2, -1)
    expect(fonts.length).toBeGreaterThan(2)
    expect(fonts.filter((font) => !/^[A-Z]{6}\+.* yes yes yes +\d+ +0$/.test(font))).toEqual([])
  })

  it('holds the XML, byte for byte', () => {
    expect(attachmentOf(bytes).toString('utf8')).toBe(xml)
    expect(read(bytes, 'pdfdetach', '-list', 'FILE')).toContain(`${reportData().report.id}.xml`)
  })

  it('numbers its pages', () => {
    const numbers = pages.map((page) => /page (\d+) of (\d+)\s*$/.exec(page.trimEnd())?.slice(1).map(Number))
    expect(numbers).toEqual(pages.map((_, index) => [index + 1, pages.length]))
  })

  it('repeats the organization and the period on each page but the first', () => {
    expect(pages.slice(1).filter((page) => !/^\s*Acme Insurance\s+1 March 2026 to 31 March 2026\n/.test(page))).toEqual(
      [],
    )
  })

  it('has a table of contents with the pages on which the sections begin', () => {
    const rows = [...(pages[1] ?? '').matchAll(/^\s*(\S.*?) {3,}(\d+)$/gm)].map(([, title = '', page]) => ({
      title,
      page: Number(page),
    }))
    expect(rows.length).toBeGreaterThan(12)
    const begins = (title: string, page: number) =>
      (pages[page - 1] ?? '').split('\n').some((line) => line.trim() === title)
    expect(rows.filter(({ title, page }) => !begins(title, page))).toEqual([])
  })

  it('says on page 1 what was governed, what went wrong, who answered and whether the record is whole', () => {
    for (const question of ['What was governed?', 'What went wrong?', 'Who answered?', 'Is the record whole?']) {
      expect(pages[0]).toContain(question)
    }
    expect(pages[0]).toContain('12,360')
  })

  it('prints the commands of the verification as they are typed', () => {
    expect(text).toContain(`npx --no-install svc bundle --report ${reportData().report.id} --out bundle.zip`)
    expect(text).toContain('npx --no-install svc verify bundle.zip --trust trust.policy --report FILE')
    expect(text).toContain('svc verify bundle.zip --trust trust.policy --rejudge')
  })

  it('never says that anything is compliant', () => {
    expect(text).not.toMatch(/complian/i)
  })
})
