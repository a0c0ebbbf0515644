// Errors of the YAML package as messages for the author of the file: the line, the problem, and the remedy.
import type { YAMLError } from 'yaml'
import { quote } from '../../check/quote.js'
import type { FindingId } from '../../findings/kinds.js'
import { columnOf, type Diagnosis, type Fault, type FaultContext } from './fault-context.js'
import { indentOf, isContent, itemAbove, keyColumn, nearestKey, spaces, wantedIndent } from './indents.js'
import { afterQuotes, bracket, openQuote, specialStart } from './value-faults.js'

/** The message for one error. */
export function faultOf({ code, message, pos }: YAMLError, text: string): Fault {
  const offset = Math.min(pos[0], text.length)
  const lines = text.split('\n')
  const before = text.slice(0, offset).split('\n').length - 1
  // The end of the file is reported after its last line.
  const row = lines[before] === '' && before > 0 && before === lines.length - 1 ? before - 1 : before
  const context: FaultContext = { text, lines, row, code, report: message, offset }
  for (const [id, diagnose] of diagnoses) {
    const diagnosis = diagnose(context)
    if (diagnosis === null) continue
    const start = lines.slice(0, diagnosis.row).reduce((sum, line) => sum + line.length + 1, 0)
    return {
      id,
      message: `line ${diagnosis.row + 1} ${diagnosis.predicate}`,
      offset: start + (diagnosis.column ?? indentOf(lines[diagnosis.row])),
    }
  }
  const unread = `line ${row + 1} cannot be read: put a value with special characters in quotes`
  return { id: 'yaml-syntax', message: unread, offset }
}

/** In this order: problems visible in the line come before those of the parsed structure. */
const diagnoses: readonly (readonly [FindingId, (context: FaultContext) => Diagnosis | null])[] = [
  ['yaml-tab', tab],
  ['yaml-character', oddSpace],
  ['yaml-dash', otherDash],
  ['over-limit', tooDeep],
  ['yaml-tag', tag],
  ['yaml-dash', spaceAfterDash],
  ['yaml-colon', spaceAfterColon],
  ['yaml-colon', colonInValue],
  ['yaml-quote', openQuote],
  ['yaml-bracket', bracket],
  ['yaml-special', specialStart],
  ['yaml-quote', afterQuotes],
  ['yaml-anchor', anchor],
  ['yaml-colon', loneKey],
  ['yaml-syntax', other],
  ['yaml-colon', missingColon],
  ['yaml-indent', deeperThanKey],
  ['yaml-indent', indentation],
]

function tab({ code, lines, row }: FaultContext): Diagnosis | null {
  if (code !== 'TAB_AS_INDENT' && !/^ *\t/.test(lines[row] ?? '')) return null
  const at = /^ *\t/.test(lines[row] ?? '')
    ? row
    : Math.max(
        0,
        lines.findIndex((line) => /^ *\t/.test(line)),
      )
  return {
    row: at,
    column: lines[at]?.indexOf('\t') ?? 0,
    predicate: `is indented with a tab: indent it by ${spaces(wantedIndent(lines, at))} instead`,
  }
}

/** A space that looks like an ordinary one, as word processors write it. */
function oddSpace({ lines, row }: FaultContext): Diagnosis | null {
  const odd = /^[ ]*(?:- )*(?:[\w.-]+:)?[ ]*[\u00a0\u2000-\u200b\u202f\u3000]/
  const at = [row, row - 1].find((index) => odd.test(lines[index] ?? ''))
  if (at === undefined) return null
  const column = (lines[at] ?? '').search(/[\u00a0\u2000-\u200b\u202f\u3000]/)
  return { row: at, column, predicate: 'has a special space, such as a non-breaking one: write an ordinary space' }
}

/** A dash or bullet of a word processor at the start of an item. */
function otherDash({ lines, row }: FaultContext): Diagnosis | null {
  const at = [row, row - 1, row + 1].find((index) => /^\s*[–—−•●▪‣·*] /u.test(lines[index] ?? ''))
  if (at === undefined) return null
  const mark = (lines[at] ?? '').trim()[0] ?? ''
  return {
    row: at,
    predicate: `begins with ${quote(mark)}, which begins no item of a list: write a dash, ${quote('- …')}`,
  }
}

function tooDeep({ code, row }: FaultContext): Diagnosis | null {
  return code === 'RESOURCE_EXHAUSTION' ? { row, predicate: 'is nested too deeply to be read' } : null
}

function tag({ code, text, lines, row, offset }: FaultContext): Diagnosis | null {
  if (code !== 'TAG_RESOLVE_FAILED' && code !== 'MULTIPLE_TAGS') return null
  const [name = '!'] = /^\S+/.exec(text.slice(offset)) ?? []
  return {
    row,
    column: columnOf(lines, row, offset),
    predicate: `has the tag ${quote(name)}: remove it, tags are not allowed`,
  }
}

function spaceAfterDash({ code, lines, row }: FaultContext): Diagnosis | null {
  const glued = isImplicitKey(code) ? /^\s*-[A-Za-z"'[{]/ : /^\s*-[A-Za-z_]\w*:(\s|$)/
  const at = [row, row - 1].find((index) => glued.test(lines[index] ?? ''))
  if (at === undefined) return null
  const rest = (lines[at] ?? '').trim().slice(1)
  return { row: at, predicate: `has no space after the dash: write ${quote(`- ${rest}`)}` }
}

function spaceAfterColon({ code, lines, row }: FaultContext): Diagnosis | null {
  if (code !== 'MULTILINE_IMPLICIT_KEY' && code !== 'MISSING_CHAR') return null
  const [, key, value] = /^\s*(?:- )*([A-Za-z_]\w*):([^\s:/].*)$/.exec(lines[row] ?? '') ?? []
  return key === undefined
    ? null
    : { row, predicate: `has no space after the colon: write ${quote(`${key}: ${value}`)}` }
}

function colonInValue({ code, lines, row }: FaultContext): Diagnosis | null {
  if (code !== 'BLOCK_AS_IMPLICIT_KEY') return null
  const line = lines[row] ?? ''
  const [, head = '', key, value = ''] = /^(\s*(?:- )*([^\s:"'#][^:]*): +)([^\s"'[{|>#].*)$/.exec(line) ?? []
  if (key === undefined || !/:(\s|$)/.test(value)) return null
  const predicate = `has a colon inside the value of ${quote(key)}: put the value in quotes, ${quote(`${key}: ${JSON.stringify(value.trim())}`)}`
  return { row, column: head.length, predicate }
}

function anchor({ code, row }: FaultContext): Diagnosis | null {
  const predicate = anchorFaults[code]
  return predicate === undefined ? null : { row, predicate }
}

const anchorFaults: Readonly<Record<string, string>> = {
  MULTIPLE_ANCHORS: 'gives one value two anchors (`&name`): write one',
  ALIAS_PROPS: 'has an anchor or tag before an alias (`*name`): write the alias alone',
  BAD_ALIAS: 'has an anchor or alias without a name: put the value in quotes, or name it',
  BAD_PROP_ORDER: 'has an anchor (`&name`) in the wrong place: write it right before its value',
}

function loneKey({ code, lines, row }: FaultContext): Diagnosis | null {
  const line = (lines[row] ?? '').trim()
  const lone = (code === 'MISSING_CHAR' || code === 'MULTILINE_IMPLICIT_KEY') && /^(?:- )*[\w.-]+$/.test(line)
  return lone ? { row, predicate: `has no colon after ${quote(line)}: write ${quote(`${line}: …`)}` } : null
}

/** The other errors that a code or report identifies. */
function other({ code, report, lines, row }: FaultContext): Diagnosis | null {
  const line = (lines[row] ?? '').trim()
  if (code === 'BAD_DIRECTIVE') return { row, predicate: `has the directive ${quote(line)}: remove it` }
  if (code === 'KEY_OVER_1024_CHARS') return { row, predicate: 'has a key longer than 1,024 characters' }
  if (/Comments must be separated/.test(report))
    return { row, predicate: 'has no space before `#`: write one, or put the value in quotes' }
  if (/block-seq-ind on same line/.test(report))
    return { row, predicate: 'has a dash after a key: begin the list on a line of its own' }
  if (/Block scalar header|Not a YAML token/.test(report))
    return { row, predicate: 'has text after `|` or `>`: begin the text on the next line' }
  return null
}

/** A line of a map that has no colon between key and value. */
function missingColon({ code, lines, row }: FaultContext): Diagnosis | null {
  if (!isImplicitKey(code) && code !== 'MISSING_CHAR') return null
  const at = [row, row - 1].find((index) => withoutColon.test(lines[index] ?? ''))
  if (at === undefined) return null
  const [, key = '', value = ''] = withoutColon.exec(lines[at] ?? '') ?? []
  return { row: at, predicate: `has no colon: write ${quote(`${key}: ${value.replace(/^\s*[=:]\s*/, '').trim()}`)}` }
}

const withoutColon = /^\s*(?:- +)*([a-z_]\w*) +([^\s:#][^:]*)$/

/** The lines after `key: value` are deeper than its key, as if they were part of the value. */
function deeperThanKey({ code, lines, row }: FaultContext): Diagnosis | null {
  if (!isImplicitKey(code)) return null
  const next = lines.findIndex((line, index) => index > row && isContent(line))
  const key = keyColumn(lines[row] ?? '')
  if (next < 0 || key === null || !/:\s+\S/.test(lines[row] ?? '')) return null
  const [indent, deeper] = [indentOf(lines[row]), indentOf(lines[next])]
  if (deeper <= key) return null
  // Either the dash of the item is misplaced, or the one line after it.
  if (indent < key && indentOf(lines.slice(next + 1).find(isContent)) === deeper)
    return { row, predicate: `is indented by ${spaces(indent)}: indent it by ${indent + deeper - key}` }
  return { row: next, predicate: `is indented by ${spaces(deeper)}: indent it by ${key}, as line ${row + 1} is` }
}

function indentation({ lines, row }: FaultContext): Diagnosis | null {
  const indent = indentOf(lines[row])
  if (row === 0) return null
  const item = itemAbove(lines, row)
  if (item !== null)
    return {
      row,
      predicate: `is indented by ${spaces(indent)}: indent it by ${indentOf(lines[item])}, as line ${item + 1} is`,
    }
  const near = nearestKey(lines, row, indent)
  if (near === null) return null
  return { row, predicate: `is indented by ${spaces(indent)}: indent it by ${near.column}, as line ${near.row + 1} is` }
}

/** True when the package took other text for a key. */
function isImplicitKey(code: YAMLError['code']): boolean {
  return code === 'BLOCK_AS_IMPLICIT_KEY' || code === 'MULTILINE_IMPLICIT_KEY'
}
