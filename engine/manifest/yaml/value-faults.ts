// Diagnoses of values: quotes, brackets and special characters.
import { quote } from '../../check/quote.js'
import { columnOf, type Diagnosis, type FaultContext } from './fault-context.js'
import { openBracket } from './open-bracket.js'

export function openQuote({ code, report, lines, row }: FaultContext): Diagnosis | null {
  if (code !== 'MISSING_CHAR' || !report.startsWith('Missing closing')) return null
  const mark = report.includes("'") ? "'" : '"'
  const starts = new RegExp(`(^|[\\s:,[{-])${mark}`)
  const isOdd = (line: string) => starts.test(line) && line.replaceAll(`\\${mark}`, '').split(mark).length % 2 === 0
  const at = lines.findIndex((line, index) => index <= row && isOdd(line))
  const found = at < 0 ? row : at
  const column = Math.max(0, lines[found]?.search(starts) ?? 0)
  return {
    row: found,
    column,
    predicate: `opens a quote that is never closed: add ${quote(mark)} at the end of the value`,
  }
}

const closing: Readonly<Record<string, string>> = { '[': ']', '{': '}' }

export function bracket({ code, report, text, lines, row, offset }: FaultContext): Diagnosis | null {
  const column = columnOf(lines, row, offset)
  const here = text[offset] ?? ''
  if (code === 'UNEXPECTED_TOKEN' && (here === ']' || here === '}') && report.includes('YAML stream'))
    return { row, column, predicate: `has a ${quote(here)} that closes nothing: remove it, or put the value in quotes` }
  if (code === 'UNEXPECTED_TOKEN' && here === ',')
    return { row, column, predicate: 'has two commas without a value between them: remove one' }
  if (code === 'BLOCK_IN_FLOW') {
    const missing = /^[^,]*:\s/.test(text.slice(offset))
    return {
      row,
      column,
      predicate: missing
        ? 'has no comma between two values in brackets: write one'
        : 'has a dash inside brackets: separate the items with commas instead',
    }
  }
  if (!/Flow (map|sequence)/.test(report)) return null
  const open = openBracket(text, offset)
  if (open === null) return null
  const at = text.slice(0, open).split('\n').length - 1
  const mark = text[open] ?? ''
  const wrong = here === ']' || here === '}' ? `, not ${quote(here)}` : ''
  return {
    row: at,
    column: columnOf(lines, at, open),
    predicate: `opens a ${quote(mark)} that is never closed: add ${quote(closing[mark] ?? '')}${wrong}`,
  }
}

/** A value that begins with a special character of YAML. */
export function specialStart({ code, lines, row, offset }: FaultContext): Diagnosis | null {
  if (code !== 'BAD_SCALAR_START' && code !== 'UNEXPECTED_TOKEN' && code !== 'BAD_ALIAS') return null
  const pattern = bracketsWithText(lines[row] ?? '')
  if (pattern !== null) return { row, ...pattern }
  const here = columnOf(lines, row, offset)
  const [inside = ''] = /^[*&!|>%@`][^,\]}]*/.exec((lines[row] ?? '').slice(here)) ?? []
  if (inside !== '' && /[[{]/.test((lines[row] ?? '').slice(0, here)))
    return { row, column: here, predicate: quoted(inside) }
  const [, head = '', first, value = ''] =
    /^(\s*(?:- )*(?:[\w.-]+: +)?)([[\]{}*&!|>%@`])(.*)$/.exec(lines[row] ?? '') ?? []
  if (first === undefined || columnOf(lines, row, offset) < head.length) return null
  return {
    row,
    column: head.length,
    predicate: quoted(first + value),
  }
}

/** A value inside braces that begins with a bracket and continues after it, such as the pattern in `{ pattern: [0-9]{6}$ }`. */
function bracketsWithText(line: string): Omit<Diagnosis, 'row'> | null {
  const found = /[{,]\s*[\w.-]+: +((?:\[[^\]]*\]|\{[^}]*\})[^\s,}\]][^\s,]*)/.exec(line)
  if (found === null) return null
  const [whole, value = ''] = found
  return { column: found.index + whole.length - value.length, predicate: quoted(value) }
}

function quoted(value: string): string {
  return `has a value that begins with ${quote(value[0] ?? '')}: put it in quotes, ${quote(single(value))}`
}

export function afterQuotes({ code, report, lines, row, offset }: FaultContext): Diagnosis | null {
  if (code === 'BAD_DQ_ESCAPE') {
    const sequence = report.split(' ').at(-1) ?? ''
    return {
      row,
      column: columnOf(lines, row, offset),
      predicate: `has ${quote(sequence)} in double quotes, which is not an escape: use single quotes, or write ${quote(`\\${sequence}`)}`,
    }
  }
  const [, head = '', mark] = /^(\s*(?:- )*(?:[\w.-]+: +)?)(['"])/.exec(lines[row] ?? '') ?? []
  if (code !== 'UNEXPECTED_TOKEN' || mark === undefined || columnOf(lines, row, offset) <= head.length) return null
  const escaped = mark === '"' ? '`\\"`' : "`''`"
  return {
    row,
    column: head.length,
    predicate: `has text after a closing quote: write a quote inside the value as ${escaped}`,
  }
}

function single(text: string): string {
  return `'${text.trim().replaceAll("'", "''")}'`
}
