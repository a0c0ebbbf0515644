// PDF reports in another process, of an empty period, and with lists at their bounds.
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { reportPdf } from '../../report/formats/pdf.js'
import { hasPoppler, pagesOf, textOf } from '../support/reports/pdf.js'
import { reportData } from '../support/reports/report-data.js'
import { emptyReport, largeReport } from '../support/reports/report-samples.js'

const xml = '<assessment-results title="Łódź &amp; ]]&gt; 😀"/>'
const withPoppler = describe.skipIf(!hasPoppler)

describe('a PDF report', () => {
  it('has the same bytes in another process, time zone and language', async () => {
    const here = Buffer.from(await reportPdf(reportData(), xml)).toString('base64')
    const root = fileURLToPath(new URL('../../', import.meta.url))
    const script = `
      const { reportPdf } = await import('${root}report/dist/formats/pdf.js')
      const { reportData } = await import('${root}test/dist/support/reports/report-data.js')
      const bytes = await reportPdf(reportData(), ${JSON.stringify(xml)})
      process.stdout.write(Buffer.from(bytes).toString('base64'), () => process.exit(0))`
    const there = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8',
      maxBuffer: 1 << 26,
      env: { ...process.env, TZ: 'Asia/Kathmandu', LC_ALL: 'de_DE.UTF-8', LANG: 'ar_EG.UTF-8' },
    })
    expect(there === here).toBe(true)
  })
})

withPoppler('a PDF report of a period without anything', () => {
  it('has every section, with a sentence', async () => {
    const text = textOf(await reportPdf(emptyReport(), xml)).replace(/\s+/g, ' ')
    for (const sentence of [
      'The record is whole, and no agent recorded a step in this period.',
      'There is nothing to draw: this period has no step and no incident.',
      'The period has no entries.',
      'Nothing failed verification.',
      'No checkpoint was published in the period',
      'No agent was registered before the cut-off.',
      'No policy was in effect in this period.',
      'No incident was opened or answered in this period.',
      'No policy asked for an approval in this period.',
      'Nothing was erased in this period.',
      'There was no hold.',
    ]) {
      expect(text).toContain(sentence)
    }
  })
})

withPoppler('a PDF report with lists at their bounds', () => {
  it('says how many rows it leaves out, and repeats the head of a table on each page', async () => {
    const bytes = await reportPdf(largeReport(60), xml)
    const text = textOf(bytes).replace(/\s+/g, ' ')
    expect(text).toContain('Listed: 60 of 4,060 incidents.')
    expect(text).toContain('Listed: 60 of 140 agents.')
    const pages = pagesOf(bytes)
    const first = pages.findIndex((page) => /^\s*Opened or answered in this period$/m.test(page))
    expect(
      pages.slice(first, first + 4).filter((page) => !page.includes('Who answered, when, and with which note')),
    ).toEqual([])
  })
})
