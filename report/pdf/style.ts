// The look of a report: one size for each kind of text.
import type { CustomTableLayout, StyleDictionary } from 'pdfmake/interfaces.js'
import { accent, hairline, ink, paper, quiet } from '../charts/colours.js'

/** A second line of a cell, and an id in it. */
export const small = { size: 7.2, color: quiet }
export const smallId = { mono: true, size: 6.6, color: quiet }

export const margins = { left: 56, right: 56, top: 74, bottom: 62 }
/** Between the margins of a page; points. */
export const textWidth = 595.28 - margins.left - margins.right

export const styles: StyleDictionary = {
  h1: { fontSize: 17, bold: true, color: accent, lineHeight: 1.1 },
  h2: { fontSize: 11.5, bold: true, color: ink, lineHeight: 1.15 },
  prose: { fontSize: 9.5, lineHeight: 1.32 },
  note: { fontSize: 8.5, color: quiet, lineHeight: 1.25 },
  cell: { fontSize: 8.2, lineHeight: 1.18 },
  head: { fontSize: 7.8, bold: true, color: accent, lineHeight: 1.1 },
  toc: { fontSize: 10.5 },
  running: { fontSize: 7.5, color: quiet, lineHeight: 1.1 },
}

const isHead = (line: number, node: { readonly table: { readonly headerRows?: number | undefined } }) =>
  line === (node.table.headerRows ?? 0) && line > 0

const rows: CustomTableLayout = {
  hLineWidth: (line, node) => (line === 0 ? 0 : isHead(line, node) ? 0.9 : 0.4),
  hLineColor: (line, node) => (isHead(line, node) ? accent : hairline),
  vLineWidth: () => 0,
  paddingLeft: (column) => (column === 0 ? 0 : gap / 2),
  paddingRight: (column, node) => (column === (node.table.widths?.length ?? 0) - 1 ? 0 : gap / 2),
  paddingTop: () => 3.6,
  paddingBottom: () => 3.4,
}

const box: CustomTableLayout = {
  hLineWidth: () => 0,
  vLineWidth: (column) => (column === 0 ? 2.4 : 0),
  vLineColor: () => accent,
  fillColor: () => paper,
  paddingLeft: (column) => (column === 0 ? 14 : 8),
  paddingRight: () => 14,
  paddingTop: () => 11,
  paddingBottom: () => 11,
}

/** The space that the box takes from the width of its contents; points. */
export const boxSides = 14 + 14 + 8 + 14 + 2.4

const plain: CustomTableLayout = {
  hLineWidth: () => 0,
  vLineWidth: () => 0,
  paddingLeft: () => 0,
  paddingRight: () => 0,
  paddingTop: () => 3,
  paddingBottom: () => 3,
}

const command: CustomTableLayout = {
  hLineWidth: () => 0,
  vLineWidth: () => 0,
  paddingLeft: () => 6,
  paddingRight: () => 6,
  paddingTop: () => 4,
  paddingBottom: () => 4,
}

const contents: CustomTableLayout = {
  hLineWidth: (line) => (line === 0 ? 0 : 0.4),
  hLineColor: () => hairline,
  vLineWidth: () => 0,
  paddingLeft: () => 0,
  paddingRight: () => 0,
  paddingTop: () => 2,
  paddingBottom: () => 2,
}

/** Between two columns of a table; points. */
export const gap = 10
/** pdfmake asks for `noBorders` where it draws a table of contents. */
export const layouts: Readonly<Record<string, CustomTableLayout>> = { rows, box, plain, command, noBorders: contents }
