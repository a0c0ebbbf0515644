// Tables and texts for people: a terminal shows a row on one line, a file and a pipe get every value in full.
import { printable } from '@svc/proof'
import { spelled } from '../called-as.js'
import { table } from './table.js'

/** The line length of texts. */
const maxWidth = 100

/** The destination of the lines. */
export interface Screen {
  /** The name by which this command was called. */
  readonly svc: string
  /** Columns of the terminal; null for a file or a pipe. */
  readonly width: number | null
}

export interface Column {
  readonly heading: string
  /** On a terminal that is too narrow a longer value is cut in its middle, to this width at the least; by default it is not cut. */
  readonly least?: number
  /** On a terminal that is too narrow the value moves to a line of its own below the row. */
  readonly below?: true
}

/** A row, and the texts that explain it. */
export interface Row {
  readonly cells: readonly string[]
  readonly notes: readonly string[]
}

/** A table with headings, the notes of a row below it. */
export function rowsWithNotes(screen: Screen, columns: readonly Column[], rows: readonly Row[]): string[] {
  const width = screen.width ?? Number.POSITIVE_INFINITY
  const cells = rows.map((row) => row.cells.map((cell) => printable(cell)))
  const isWide = sum(naturalWidths(columns, cells)) > width
  const isBelow = columns.map(({ below }) => isWide && below === true)
  const kept = columns.filter((_, at) => !isBelow[at])
  const shown = cells.map((row) => row.filter((_, at) => !isBelow[at]))
  const widths = fitted(kept, naturalWidths(kept, shown), width)
  const [heading = '', ...lines] = table([
    kept.map((column) => column.heading),
    ...shown.map((row) => row.map((cell, at) => cut(cell, widths[at] ?? 0))),
  ])
  return [
    heading,
    ...lines.flatMap((line, at) => [
      line,
      ...(cells[at] ?? []).filter((_, column) => isBelow[column]).map((cell) => `    ${cell}`),
      ...(rows[at]?.notes ?? []).flatMap((note) => indented(screen.svc, note, screen.width)),
    ]),
  ]
}

/** A table without notes. */
export function columnsOf(screen: Screen, columns: readonly Column[], rows: readonly (readonly string[])[]): string[] {
  return rowsWithNotes(
    screen,
    columns,
    rows.map((cells) => ({ cells, notes: [] })),
  )
}

const gap = 2

function naturalWidths(columns: readonly Column[], rows: readonly (readonly string[])[]): number[] {
  return columns.map(({ heading }, at) =>
    rows.reduce((most, row) => Math.max(most, [...(row[at] ?? '')].length), heading.length),
  )
}

function sum(widths: readonly number[]): number {
  return widths.reduce((total, one) => total + one, gap * (widths.length - 1))
}

/** The widths with which the table fits, as far as its columns can be cut: the widest one gives way first. */
function fitted(columns: readonly Column[], natural: readonly number[], width: number): number[] {
  const widths = [...natural]
  for (let over = sum(widths) - width; over > 0; over--) {
    let widest = -1
    for (const [at, { heading, least }] of columns.entries()) {
      const own = widths[at] ?? 0
      if (least !== undefined && own > Math.max(least, heading.length) && own > (widths[widest] ?? 0)) widest = at
    }
    if (widest < 0) break
    widths[widest] = (widths[widest] ?? 0) - 1
  }
  return widths
}

/** The text in lines, indented below what it explains. A command stays on one line, so that it can be copied. */
export function indented(svc: string, text: string, width: number | null = null): string[] {
  const most = Math.min(width ?? maxWidth, maxWidth)
  const lines: string[] = []
  for (const word of printable(spelled(svc, text)).match(/(?:[^\s`]|`[^`]*`?)+/g) ?? []) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= most) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(`    ${word}`)
  }
  return lines
}

function cut(text: string, width: number): string {
  const characters = [...text]
  if (characters.length <= width) return text
  const end = Math.ceil((width - 1) / 2)
  return [...characters.slice(0, width - 1 - end), '…', ...characters.slice(-end)].join('')
}

/** The first digits of a SHA, for tables. */
export function short(sha: string | null): string {
  return sha === null ? '–' : sha.slice(0, 10)
}
