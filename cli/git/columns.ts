// Tables and texts of a line length that terminals show without a break.
import { printable } from '@svc/proof'
import { table } from '../account/table.js'
import { spelled } from '../called-as.js'

const maxWidth = 100

export interface Column {
  readonly heading: string
  /** A longer value is cut in its middle; the JSON has it in full. */
  readonly width: number
}

/** A row, and the texts that explain it. */
export interface Row {
  readonly cells: readonly string[]
  readonly notes: readonly string[]
}

/** A table with headings, the notes of a row below it. `svc`: how this command is called. */
export function rowsWithNotes(svc: string, columns: readonly Column[], rows: readonly Row[]): string[] {
  const cells = rows.map((row) => row.cells.map((cell, at) => cut(printable(cell), columns[at]?.width ?? maxWidth)))
  const [heading = '', ...lines] = table([columns.map((column) => column.heading), ...cells])
  return [
    heading,
    ...lines.flatMap((line, at) => [line, ...(rows[at]?.notes ?? []).flatMap((note) => indented(svc, note))]),
  ]
}

/** The text in lines, indented below what it explains. A command stays on one line, so that it can be copied. */
export function indented(svc: string, text: string): string[] {
  const lines: string[] = []
  for (const word of printable(spelled(svc, text)).match(/(?:[^\s`]|`[^`]*`?)+/g) ?? []) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= maxWidth) lines[lines.length - 1] = `${last} ${word}`
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
