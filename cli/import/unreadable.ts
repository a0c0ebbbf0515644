// Messages about files, lines and documents that are not runs.
import { descriptionOf, type FormatName, formatNames, formatOfRun, hasMessages } from '@svc/engine'
import { printable } from '@svc/proof'
import { shellWord } from '../called-as.js'
import type { Fault } from './runs.js'

/** The import that the messages are about. */
export interface Expected {
  readonly format: FormatName
  /** How `svc` was called. */
  readonly svc: string
}

/** The format of the value, when it is another one than `format`; else null. */
export function otherFormatOf({ value }: Fault, format: FormatName): FormatName | null {
  const found = value === undefined ? null : formatOfRun(value)
  return found === format ? null : found
}

/** One message about one fault. */
export function faultText(fault: Fault, { format, svc }: Expected): string {
  const { file, line, entry, reason } = fault
  const other = otherFormatOf(fault, format)
  const command = `${svc} import ${other} ${shellWord(file)}`
  const why = other === null ? reason : `in the format ${other}, not ${format}: import it with \`${command} …\``
  if (line !== null) return `${file}:${line + 1} ${why}`
  return entry === null ? `${file}: ${why}` : `${file}: run ${entry + 1}: ${why}`
}

/** One message about a file without runs, by its first fault and their number. */
export function noRunsText(first: Fault, faults: number, expected: Expected): string {
  if (first.value === undefined || otherFormatOf(first, expected.format) !== null || hasMessages(first.value))
    return faultText(first, expected) + (faults > 1 ? `; ${othersText(first, faults - 1)}` : '')
  const what = printable(descriptionOf(first.value))
  return `${first.file}: ${whereOf(first)} ${what}. A run has \`messages\`; the formats are ${formatNames.join(' and ')}`
}

function whereOf({ line, entry }: Fault): string {
  if (line !== null) return 'each line should be a run, but the first is'
  return entry === null
    ? 'the file should be a run, but it is'
    : 'the file should be a list of runs, but the first entry is'
}

function othersText({ line }: Fault, others: number): string {
  const [one, many] = line === null ? ['run', 'runs'] : ['line', 'lines']
  return others === 1 ? `the other ${one} is unreadable too` : `the other ${others} ${many} are unreadable too`
}
