// Untrusted text as runs that can be printed: each has one font and one direction, nothing is invisible, and nothing is lost.

import bidiFactory, { type Bidi } from 'bidi-js'
import { quiet } from '../charts/colours.js'
import { count } from '../content/figures.js'
import type { Family, FontOf } from './fonts.js'

/** A piece of text; pdfmake reads its members as style. */
export interface Run {
  readonly text: string
  readonly font: string
  readonly level?: number
  readonly noWrap?: boolean
  readonly color?: string
  readonly bold?: boolean
}

/** Marks where a long word may break and where none may. Text cannot contain them, because there they print as `U+200B`. */
const breakMark = '\u200b'
const joinMark = '\u2060'

/** Text as it is printed. */
export const withoutMarks = (text: string): string => text.replace(/[\u200b\u2060]/g, '')

/** A word longer than this gets places to break, one after this many characters. */
const maxUnbroken = 24
const partLength = 8

/** Its types describe another build than the one that Node loads. */
const bidi = (bidiFactory as unknown as () => Bidi)()

interface Cell {
  readonly text: string
  readonly font: string
  readonly isEscape: boolean
}

export interface Face {
  readonly family: Family
  readonly bold: boolean
  /** In printed characters. */
  readonly max: number
}

const isRightToLeft = /[\u0590-\u08ff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u

/**
 * Spaces and line breaks become single spaces; a character without a glyph becomes `U+XXXX`. What would print longer than `max`
 * characters ends with the number of those that are left out.
 */
export function runsOf(value: string, fontOf: FontOf, { family, bold, max }: Face): Run[] {
  const { cells, left_out } = cut(cellsOf(value, fontOf, { family, bold, max }), max)
  const text = cells.map((cell) => cell.text).join('')
  const runs = isRightToLeft.test(text) ? ordered(breakable(cells)) : breakable(cells).map(leftToRight)
  const rest = left_out === 0 ? [] : [{ text: ` …(${count(left_out)} more characters)`, font: 'Roboto', color: quiet }]
  return [...joined(runs), ...rest]
}

function cut(cells: readonly Cell[], max: number): { readonly cells: readonly Cell[]; readonly left_out: number } {
  let length = 0
  const end = cells.findIndex(({ text }) => {
    length += text.length
    return length > max
  })
  return end === -1 ? { cells, left_out: 0 } : { cells: cells.slice(0, end), left_out: cells.length - end }
}

const escapeOf = (character: string): string =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`

function cellsOf(value: string, fontOf: FontOf, { family, bold }: Face): Cell[] {
  const clean = value.normalize('NFC').replace(/\p{White_Space}+/gu, ' ')
  return Array.from(clean, (character) => {
    const font = fontOf(character.codePointAt(0) ?? 0, family, bold)
    if (font !== null) return { text: character, font, isEscape: false }
    return { text: escapeOf(character), font: 'Mono', isEscape: true }
  })
}

/**
 * Marks where words that no line could hold may break: after punctuation, else after some letters. A hyphen never ends a line,
 * because programs that extract text take it for one that divides a word.
 */
function breakable(cells: readonly Cell[]): Cell[] {
  const result: Cell[] = []
  for (let start = 0; start < cells.length; ) {
    const space = cells.findIndex(({ text }, index) => index >= start && text === ' ')
    const end = space === -1 ? cells.length : space + 1
    result.push(...marked(cells.slice(start, end)))
    start = end
  }
  return result
}

function marked(word: readonly Cell[]): Cell[] {
  const isLong = word.length > maxUnbroken
  const isBreak = word.map(
    (cell, index) =>
      needsBreak(cell) || (isLong && (/^[_./:@,;=&?|\\]$/.test(cell.text) || word[index + 1]?.text === '-')),
  )
  let last = -1
  return word.map((cell, index) => {
    const next = isBreak.indexOf(true, index)
    const isPart = isLong && (next === -1 ? word.length : next) - last > maxUnbroken && index - last >= partLength
    if (cell.text === '-' && index > 0 && index < word.length - 1) return { ...cell, text: `-${joinMark}` }
    if (isBreak[index] !== true && !isPart) return cell
    last = index
    return { ...cell, text: cell.text + breakMark }
  })
}

/** Characters of two UTF-16 units, which pdfmake would cut in two, and escapes. */
const needsBreak = (cell: Cell): boolean => cell.isEscape || isPair(cell.text)

const leftToRight = (cell: Cell): Run => runOf(cell, cell.text, 0)

function runOf(cell: Cell, text: string, level: number): Run {
  const run = { text, font: cell.font, ...(level > 0 && { level }) }
  if (cell.isEscape) return { ...run, noWrap: true, color: quiet, bold: false }
  return isPair(text) ? { ...run, noWrap: true } : run
}

/** A character that UTF-16 writes with two units. */
const isPair = (text: string): boolean => /^[\u{10000}-\u{10ffff}]/u.test(text)

function ordered(cells: readonly Cell[]): Run[] {
  const text = cells.map((cell) => cell.text).join('')
  const { levels } = bidi.getEmbeddingLevels(text, 'auto')
  let position = 0
  return cells.flatMap((cell) => {
    const level = levels[position] ?? 0
    position += cell.text.length
    const [character = '', ...rest] = cell.text
    const mirrored = level % 2 === 1 ? bidi.getMirroredCharacter(character) : null
    return runOf(cell, mirrored === null ? cell.text : mirrored + rest.join(''), level)
  })
}

/** Neighbours of one font and level as one run; in right-to-left text only letters, because spaces and digits move on their own. */
function joined(runs: readonly Run[]): Run[] {
  const result: { text: string; run: Run }[] = []
  for (const run of runs) {
    const last = result.at(-1)
    if (last !== undefined && canJoin(last, run)) last.text += run.text
    else result.push({ text: run.text, run })
  }
  return result.map(({ text, run }) => ({ ...run, text }))
}

function canJoin(last: { readonly text: string; readonly run: Run }, next: Run): boolean {
  if (next.noWrap === true || last.run.noWrap === true) return false
  if (last.run.font !== next.font || (last.run.level ?? 0) !== (next.level ?? 0)) return false
  return (next.level ?? 0) === 0 || (isLetters(last.text) && isLetters(next.text))
}

const isLetters = (text: string): boolean => /^[\p{L}\p{M}\u200b\u2060]+$/u.test(text)

/** Plain text for places without fonts, such as the title of a document: nothing invisible, and no longer than `max`. */
export function printable(value: string, max: number): string {
  const shown = Array.from(value.normalize('NFC').replace(/\p{White_Space}+/gu, ' '), (character) =>
    /[\p{C}\p{Default_Ignorable_Code_Point}]/u.test(character) ? escapeOf(character) : character,
  )
  return shown.length > max ? `${shown.slice(0, max).join('')}…` : shown.join('')
}
