// Messages about files, lines and documents that are not runs.
import { descriptionOf, hasMessages } from '@svc/engine/parts'
import { printable } from '@svc/proof'
import { shellWord } from '../../called-as.js'
import { type FormatName, formatNames, formatOf } from './formats.js'
import { isSessionFormat } from './options.js'
import type { Fault } from './reader.js'
import { listed } from './words.js'

/** The import that the messages are about. */
export interface Expected {
  readonly format: FormatName
  /** The name by which `svc` was called. */
  readonly svc: string
}

/** The format of the value, when it is another one than `format`; else null. */
export function otherFormatOf({ value }: Fault, format: FormatName): FormatName | null {
  const found = value === undefined ? null : formatOf(value)
  return found === format ? null : found
}

/** One message about one fault. */
export function faultText(fault: Fault, { format, svc }: Expected): string {
  const { file, line, entry, unit, reason } = fault
  const other = otherFormatOf(fault, format)
  const command = `${svc} import ${other} ${shellWord(file)}`
  const why = other === null ? reason : `in the format ${other}, not ${format}: import it with \`${command} …\``
  const what = entry === null ? '' : `${unit} ${entry + 1}: `
  return line === null ? `${file}: ${what}${why}` : `${file}:${line + 1} ${what}${why}`
}

/** One message about a file without runs, by its first fault and their number. */
export function noRunsText(first: Fault, faults: number, expected: Expected): string {
  if (first.value === undefined || otherFormatOf(first, expected.format) !== null || hasMessages(first.value))
    return faultText(first, expected) + (faults > 1 ? `; ${othersText(first, faults - 1)}` : '')
  const what = printable(descriptionOf(first.value))
  const { one, sign } = nounsOf(expected.format)
  return `${first.file}: ${whereOf(first, expected.format)} ${what}. ${one} has \`${sign}\`; the formats are ${listed(formatNames, 'and')}`
}

/** The words for the content of a format, and the member that shows it. */
function nounsOf(format: FormatName) {
  if (format === 'otel') return { one: 'OTLP JSON', sign: 'resourceSpans' }
  if (isSessionFormat(format)) return { one: 'A line of a session', sign: format === 'codex' ? 'payload' : 'sessionId' }
  return format === 'trace' ? { one: 'A step', sign: 'step_type' } : { one: 'A run', sign: 'messages' }
}

function whereOf({ line, entry }: Fault, format: FormatName): string {
  const one = nounsOf(format).one.replace(/^A /, 'a ')
  if (line !== null) return `each line should be ${one}, but the first is`
  return entry === null
    ? `the file should be ${one}, but it is`
    : 'the file should be a list of runs, but the first entry is'
}

function othersText({ line, unit }: Fault, others: number): string {
  const one = unit === 'span' ? 'span' : line === null ? 'run' : 'line'
  const many = `${one}s`
  return others === 1 ? `the other ${one} is unreadable too` : `the other ${others} ${many} are unreadable too`
}
