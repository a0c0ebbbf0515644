// What texts of agents and people must not do to a page: be markup, run, lead elsewhere, or reorder the texts around them.
import { expect } from 'vitest'
import { elementsOf } from './html.js'

/** Elements that templates of pages do not have. */
const forbidden = new Set(['iframe', 'object', 'embed', 'style', 'base', 'video', 'audio', 'math', 'frame', 'marquee'])
const addresses = ['href', 'src', 'action', 'formaction', 'hx-get', 'hx-post', 'xlink:href', 'poster', 'data']
const own = /^(?:\/(?![/\\])|#|\?|$)/
/** Elements whose text has a direction of its own. */
const isolating = new Set(['bdi', 'pre', 'textarea', 'title', 'option'])
const voids = new Set(['input', 'img', 'meta', 'link', 'br', 'hr', 'path', 'rect', 'line', 'circle', 'col', 'wbr'])
const overrides = /[\u202a-\u202e\u2066-\u2069\u200e\u200f]/

/** Fails if a text has become an element, an attribute or an address, or is shown without a direction of its own. */
export function expectHarmless(html: string, address: string): void {
  const open: string[] = []
  for (const { name, attributes, text, isEnd } of elementsOf(html)) {
    const what = `${address}: <${name}> ${[...attributes].join(' ')}`
    if (isEnd) {
      while (open.length > 0 && open.pop() !== name);
    } else if (!voids.has(name)) open.push(name)
    expect(forbidden.has(name), what).toBe(false)
    if (name === 'img') expect(attributes.get('src'), what).toBe('/chart.svg')
    if (name === 'script' && !isEnd) expect(attributes.get('src'), what).toMatch(/^\/assets\//)
    for (const [attribute, value] of attributes) {
      expect(/^(on|style$|srcdoc$)/.test(attribute), what).toBe(false)
      if (!addresses.includes(attribute)) continue
      const isOutside = name === 'a' && attributes.get('rel')?.includes('noopener') && value.startsWith('https://')
      const isIcon = name === 'link' && value === 'data:,'
      if (!isOutside && !isIcon) expect(value, what).toMatch(own)
    }
    if (overrides.test(text))
      expect(
        open.some((one) => isolating.has(one)),
        `${what} ${text}`,
      ).toBe(true)
  }
}

/** The cells of a CSV file (RFC 4180). */
export function cellsOf(csv: string): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)/y
  while (cell.lastIndex < csv.length) {
    const at = cell.lastIndex
    const match = cell.exec(csv)
    if (match === null) throw new Error(`not a cell of CSV: ${csv.slice(at, at + 100)}`)
    row.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? '')
    if (match[3] === ',') continue
    rows.push(row)
    row = []
  }
  return rows
}

/** Fails if a spreadsheet would run a cell as a formula. */
export function expectNoFormula(csv: string, address: string): void {
  for (const cell of cellsOf(csv).flat())
    if (!/^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(cell)) expect(cell, address).not.toMatch(/^\s*[=+\-@\t\r\n]/)
}
