import { beforeAll, describe, expect, it } from 'vitest'
import { reportPdf } from '../../report/formats/pdf.js'
import { hasPoppler, read, textOf } from '../support/reports/pdf.js'
import { agentResult, reportData } from '../support/reports/report-data.js'
import { hostileReport, hostileTexts, longName, longWord } from '../support/reports/report-samples.js'

const withPoppler = describe.skipIf(!hasPoppler)

/** What must come back: no font has these characters, or they would be invisible. */
const codes: Readonly<Record<string, string>> = {
  emoji: 'ok 😀 ❤ U+1F680 ✓ → ★',
  chinese: 'U+65E5U+672CU+8A9E',
  controls: 'aU+0007bU+001B[31mcU+200BdU+202EeU+0000f',
  lone: 'xU+D800y',
  ligatures: 'office U+FB01U+FB02 affine',
  // Extraction orders digits on its own; the page has `(חשבונית 1234)` in its visual order.
  mixed: 'Invoice (1234)חשבונית for Acme',
  math: 'U+1D49CU+1D505 ½ ∑ ≤',
}

/** Lines break at any place of a long word, and spaces are for the layout. */
const compact = (text: string) =>
  text.normalize('NFC').replace(/[\p{White_Space}\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu, '')

const textWithAgent = async (name: string) => {
  const agents = { rows: [agentResult(1, { name, purpose: null })], more: 0 }
  return textOf(await reportPdf(reportData({ agents }), '<a/>'))
}

withPoppler('untrusted text in a PDF', () => {
  let all: string

  beforeAll(async () => {
    const rows = Object.values(hostileTexts).map((name, index) => agentResult(index, { name, purpose: null }))
    all = compact(textOf(await reportPdf(reportData({ agents: { rows, more: 0 } }), '<a/>')))
  })

  it.each(Object.entries(hostileTexts))('comes back whole: %s', (kind, text) => {
    expect(all.includes(compact(codes[kind] ?? text))).toBe(true)
  })

  it('keeps letters apart that look the same', async () => {
    const text = await textWithAgent('A\u0410\u0391 K\u041a\u039a')
    expect(text.includes('A\u0410\u0391 K\u041a\u039a')).toBe(true)
  })

  it('is cut where a table has no room, and says how much of it is left out', async () => {
    expect(compact(await textWithAgent(longName))).toContain('…(9,880morecharacters)')
    expect(compact(await textWithAgent(longWord))).toContain('…(180morecharacters)')
  })

  it('is escaped in the metadata, and not twice', async () => {
    const data = reportData()
    const organization = `A & B <C> "D" 'E' ]]>`
    const bytes = await reportPdf(reportData({ report: { ...data.report, organization } }), '<a/>')
    expect(read(bytes, 'pdfinfo', 'FILE')).toContain(`Author:          ${organization}`)
    expect(read(bytes, 'pdfinfo', '-meta', 'FILE')).toContain(
      `<rdf:li>A &amp; B &lt;C&gt; &quot;D&quot; 'E' ]]&gt;</rdf:li>`,
    )
  })

  it('never leaves the page, and no row is lost', async () => {
    const bytes = await reportPdf(hostileReport(), '<a/>')
    const all = textOf(bytes)
    const lost = hostileReport().incidents.list.rows.filter(({ id }) => !all.includes(id))
    expect(lost.map(({ id }) => id)).toEqual([])
    const boxes = read(bytes, 'pdftotext', '-bbox', 'FILE', '-')
    const outside = [
      ...boxes.matchAll(/<word xMin="([\d.-]+)" yMin="([\d.-]+)" xMax="([\d.-]+)" yMax="([\d.-]+)">(.*)<\/word>/g),
    ].filter(
      ([, left, top, right, bottom]) =>
        Number(left) < 54 || Number(top) < 30 || Number(right) > 541.5 || Number(bottom) > 815,
    )
    expect(outside.map(([word]) => word)).toEqual([])
  })
})

withPoppler('right-to-left text in a PDF', () => {
  const places = async (organization: string) => {
    const { report } = reportData()
    const bytes = await reportPdf(reportData({ report: { ...report, organization } }), '<a/>')
    const boxes = read(bytes, 'pdftotext', '-f', '1', '-l', '1', '-bbox', 'FILE', '-')
    return new Map(
      [...boxes.matchAll(/<word xMin="([\d.]+)".*>(.*)<\/word>/g)].map(([, x, word = '']) => [word, Number(x)]),
    )
  }

  it('begins at the right, with words and numbers in their places', async () => {
    const at = await places('חברת ביטוח 1234 Acme')
    // The boxes have the letters from left to right, as they are drawn.
    const order = ['תרבח', 'חוטיב', '1234', 'Acme'].map((word) => at.get(word) ?? Number.NaN)
    expect(order.every((x, index) => index === 0 || x < (order[index - 1] ?? 0))).toBe(true)
  })
})
