// A heading stays with what it heads: it starts a page when the first rows of its table would not fit below it.
import type { Block } from './engine.js'
import { styles, textWidth } from './style.js'

/** More than this is never asked for: a row as tall as a page breaks a page anyway. */
const maxNeeds = 560
/** Under a heading, a paragraph shorter than this stays with what follows it; points. */
const short = 60

/** Sets how much room each heading needs; heights are estimated, because pdfmake knows them only after it has broken pages. */
export function keepTogether(content: readonly Block[]): Block[] {
  return content.map((block, index) => {
    const { needs } = block
    return typeof needs === 'number'
      ? { ...block, needs: Math.min(maxNeeds, Math.max(needs, roomFor(content, index))) }
      : block
  })
}

function roomFor(content: readonly Block[], index: number): number {
  const [block, next] = [content[index], content[index + 1]]
  if (block === undefined) return 0
  const own = beginOf(block, textWidth)
  const isEnough = !('needs' in block) && (own > short || isTable(block))
  return isEnough || next === undefined ? own : own + roomFor(content, index + 1)
}

const isTable = (block: Block): boolean => 'table' in block || blocksOf(block.stack).some((each) => 'table' in each)

const blocksOf = (value: unknown): readonly Block[] => (Array.isArray(value) ? (value as Block[]) : [])
const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)

/** The height of a block, of a table only that of its head and its first row. */
function beginOf(block: Block, width: number, em = characterWidth): number {
  const [, above = 0, , below = 0] = Array.isArray(block.margin) ? (block.margin as number[]) : []
  return above + below + insideOf(block, width, em)
}

function insideOf(block: Block, width: number, em: number): number {
  if (typeof block.height === 'number') return block.height
  if (Array.isArray(block.stack)) {
    const parts = blocksOf(block.stack)
    const table = parts.findIndex((part) => 'table' in part)
    return sum(parts.slice(0, table === -1 ? undefined : table + 1).map((part) => beginOf(part, width, em)))
  }
  if (Array.isArray(block.columns))
    return Math.max(0, ...blocksOf(block.columns).map((part) => beginOf(part, width / 2, em)))
  if (Array.isArray(block.ul)) return sum(blocksOf(block.ul).map((part) => beginOf(part, width, em)))
  if ('table' in block) return tableBegin(block.table as TableNode)
  return textHeight(block, width, em)
}

interface TableNode {
  readonly widths: readonly number[]
  readonly body: readonly (readonly Block[])[]
}

const rowPadding = 8

function tableBegin({ widths, body }: TableNode): number {
  const rows = body
    .slice(0, 2)
    .map((cells) => Math.max(0, ...cells.map((cell, column) => beginOf(cell, widths[column] ?? 0))))
  return sum(rows) + rowPadding * rows.length
}

/** Of the size of a font: the mean width of a character, generously, and the height of a line. */
const characterWidth = 0.56
const fontHeight = 1.18

function textHeight({ text, style, fontSize }: Block, width: number, em: number): number {
  const look = typeof style === 'string' ? styles[style] : undefined
  const size = typeof fontSize === 'number' ? fontSize : (look?.fontSize ?? 9.5)
  const length = typeof text === 'string' ? text.length : sum(blocksOf(text).map((run) => String(run.text).length))
  const lines = Math.max(1, Math.ceil((length * size * em) / Math.max(size, width)))
  return lines * size * fontHeight * (look?.lineHeight ?? 1.25)
}

/** Of the widest letters. */
const widest = 0.95
/** Below the head of a table; points. */
const maxRow = 620

/** True if each row surely fits on a page: pdfmake drops a row that may not be divided and does not fit. */
export function allFit(rows: readonly (readonly Block[])[], widths: readonly number[]): boolean {
  return rows.every((cells) => cells.every((cell, column) => beginOf(cell, widths[column] ?? 0, widest) < maxRow))
}
