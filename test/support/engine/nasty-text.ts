// Text that breaks writers of XML and JSON, and reports whose every free text is such a text.
import type { ReportData } from '../../../report/content/report-data.js'
import { reportData } from '../reports/report-data.js'

export const nastyTexts: readonly string[] = [
  '',
  ' ',
  '  two  spaces  ',
  '\u0000\u0001\u0008\u000b\u000c\u001b[31mred\u001b[0m\u007f\u0085\u009f',
  'a\r\nb\rc\nd\te',
  '\n\t leading and trailing \r\n',
  ']]>',
  '<![CDATA[x]]>',
  '&amp;',
  '&',
  '&amp;amp; &#10; &#x0; &lt; &nosuch;',
  '"quoted" \'and\' `so`',
  '<script>alert(1)</script>',
  '<!-- comment --> <?xml version="1.1"?> <!DOCTYPE x [<!ENTITY a "b">]>',
  '\\',
  '\\u{1}',
  '\\\\u{}\\u{ffffff}',
  '\ud800',
  '\udc00\ud800',
  'x\ud83dy',
  '\ufffe\uffff\ufdd0\u{1fffe}',
  '\ufeffBOM\ufeff',
  '\u2028\u2029',
  '\u202egnp.exe\u202c \u2066x\u2069',
  '\u00a0\u3000',
  'مرحبا بالعالم — שלום',
  '👩‍👩‍👧‍👦 日本語 e\u0301',
  '# h\n\n- [x](javascript:1) **b** _i_ ~s~ ^p^ {{ insert: param, x }} | a |',
  '1. one',
  '- x',
  '__proto__',
  'constructor',
  'null',
  '0',
  'x'.repeat(10_000),
  '😀]]>&\u0001'.repeat(2_000),
]

const fixed: ReadonlySet<string> = new Set(
  ['from', 'to', 'as_of', 'at', 'opened_at', 'published_at', 'before', 'severity', 'state', 'mode'].concat([
    'verdict',
    'outcome',
    'interval',
    'format',
  ]),
)

/** The content, with a nasty text for each free text and for each name of a number; others for other seeds. */
export function hostileReport(seed: number, data: ReportData = reportData()): ReportData {
  const random = numbersFrom(seed)
  const text = () => nastyTexts[Math.floor(random() * nastyTexts.length)] ?? ''
  const hostile = (value: unknown, key: string): unknown => {
    if (typeof value === 'string') return fixed.has(key) ? value : text()
    if (Array.isArray(value)) return value.map((item) => hostile(item, key))
    if (typeof value !== 'object' || value === null) return value
    const entries = Object.entries(value)
    const isMap = ['leaves', 'step_types', 'events'].includes(key)
    return Object.fromEntries(entries.map(([name, item]) => [isMap ? text() : name, hostile(item, name)]))
  }
  return hostile(data, '') as ReportData
}

/** A sequence of numbers below 1 that looks random and is always the same. */
export function numbersFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
