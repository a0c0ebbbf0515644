// Paragraphs, headings, tables and figures for sections. All their text is printed as runs.
import { count } from '../content/figures.js'
import type { Block } from './engine.js'
import type { FontOf } from './fonts.js'
import { allFit } from './keep.js'
import { runsOf } from './runs.js'
import { gap, textWidth } from './style.js'

export interface Look {
  readonly style?: string
  readonly mono?: boolean
  readonly bold?: boolean
  readonly size?: number
  readonly color?: string
  readonly align?: 'left' | 'right' | 'center'
  readonly margin?: readonly [number, number, number, number]
  /** In printed characters; what is beyond is counted. */
  readonly max?: number
}

export interface Column {
  readonly title: string
  /** A share of the width of the page. */
  readonly width: number
  readonly align?: 'right' | 'center'
  readonly mono?: boolean
  readonly max?: number
}

/** A cell is text, or a block that was made already. */
export type Cell = string | number | null | Block

/** The rows that are not listed: `count`, and those beyond `max`. */
interface More {
  readonly what: string
  readonly count?: number
  readonly max?: number
  /** The number of things that are listed, if a row can stand for several. */
  readonly listed?: number
}

export interface Table {
  readonly columns: readonly Column[]
  readonly rows: readonly (readonly Cell[])[]
  /** The sentence of a table without rows. */
  readonly empty: string
  readonly more?: More
  /** Points; that of the page if it is left out. */
  readonly width?: number
}

export interface Pen {
  /** Parts have their own direction of writing, and `max` is for each. */
  readonly text: (value: string | readonly string[], look?: Look) => Block
  readonly prose: (...sentences: readonly string[]) => Block
  /** `needs`: points that must be left on the page for what follows. */
  readonly h1: (title: string, needs?: number) => Block
  readonly h2: (title: string, needs?: number) => Block
  readonly table: (table: Table) => Block
}

/** Enough for every text of ours; untrusted text is given less where rows must fit a page. */
const maxText = 4_000
const maxCell = 240

export function penOf(fontOf: FontOf): Pen {
  const runs = (value: string, { mono = false, bold = false, max = maxText }: Look = {}) =>
    runsOf(value, fontOf, { family: mono ? 'Mono' : 'Roboto', bold, max })
  const text = (value: string | readonly string[], look: Look = {}): Block => {
    const parts = typeof value === 'string' ? [value] : value
    return { text: parts.flatMap((part) => runs(part, look)), ...blockOf(look) }
  }
  const prose = (...sentences: readonly string[]) =>
    text(sentences.filter((each) => each !== '').join(' '), { style: 'prose', margin: [0, 0, 0, 8] })
  const cell = (value: Cell, column: Column): Block => {
    if (typeof value === 'object' && value !== null) return value
    const { align, mono = false, max = maxCell } = column
    const words = value === null ? '–' : typeof value === 'number' ? count(value) : value
    return text(words, { style: 'cell', mono, max, ...(mono && { size: 7.2 }), ...(align !== undefined && { align }) })
  }
  return {
    text,
    prose,
    h1: (title, needs = 150) => ({
      ...heading('h1', title, needs),
      margin: [0, 26, 0, 8],
      tocItem: 'parts',
      tocStyle: 'toc',
    }),
    h2: (title, needs = 90) => ({ ...heading('h2', title, needs), margin: [0, 12, 0, 5] }),
    table: (table) => (table.rows.length === 0 ? prose(table.empty) : { stack: tableOf(bounded(table), cell, text) }),
  }
}

/** No table has more rows, however many the content lists: time and memory of a document stay bounded. */
const maxRows = 500

function bounded(table: Table): Table {
  const { rows, more = { what: 'rows' } } = table
  const { count: others = 0, max = maxRows } = more
  const shown = rows.slice(0, max)
  return { ...table, rows: shown, more: { ...more, count: others + rows.length - shown.length } }
}

const heading = (style: string, title: string, needs: number) => ({ text: title, style, needs, outline: false })

function blockOf({ style, bold, mono, size, color, align, margin }: Look): Block {
  return {
    ...(style !== undefined && { style }),
    ...(bold !== undefined && { bold }),
    ...(mono === true && size === undefined && { fontSize: 7.6 }),
    ...(size !== undefined && { fontSize: size }),
    ...(color !== undefined && { color }),
    ...(align !== undefined && { alignment: align }),
    ...(margin !== undefined && { margin: [...margin] }),
  }
}

function tableOf(
  { columns, rows, more, width = textWidth }: Table,
  cell: (value: Cell, column: Column) => Block,
  text: Pen['text'],
): Block[] {
  const shares = columns.reduce((sum, column) => sum + column.width, 0)
  const points = width - gap * (columns.length - 1)
  const head = columns.map(({ title, align }) => text(title, { style: 'head', ...(align !== undefined && { align }) }))
  const widths = columns.map((column) => (points * column.width) / shares)
  const body = rows.map((row) => columns.map((column, index) => cell(row[index] ?? null, column)))
  const isWhole = allFit(body, widths)
  const table = {
    headerRows: 1,
    keepWithHeaderRows: isWhole ? 1 : 0,
    dontBreakRows: isWhole,
    widths,
    body: [head, ...body],
  }
  const left = more === undefined || more.count === 0 ? [] : [leftOut(text, rows.length, more)]
  return [{ table, layout: 'rows', margin: [0, 2, 0, left.length === 0 ? 10 : 4] }, ...left]
}

function leftOut(text: Pen['text'], rows: number, { what, count: others = 0, listed = rows }: More): Block {
  const all = count(listed + others)
  return text(
    `Listed: ${count(listed)} of ${all} ${what}. The totals of this report count all of them; the others are in the log, which its bundle holds (see “How to verify”).`,
    { style: 'note', margin: [0, 0, 0, 10] },
  )
}
