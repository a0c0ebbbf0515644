// Findings as the commands that GitHub Actions reads from the output of a step, and shows beside the lines of a change.
import { onOneLine } from '../check/quote.js'
import { byPlace, type Finding } from './finding.js'
import type { Severity } from './kind.js'
import { findingKind } from './kinds.js'

/** A message beside a line of a file, or of the whole run. */
export interface Annotation {
  readonly severity: Severity
  readonly title: string
  readonly message: string
  readonly place?: Pick<Finding, 'file' | 'line' | 'column'>
}

const commands: Readonly<Record<Severity, string>> = { error: 'error', warning: 'warning', info: 'notice' }

/** GitHub shows ten annotations of each kind from a step; the tenth says how many more there are. */
const maxShown = 9

/** A longer message is cut: GitHub shows the beginning only. */
const maxMessage = 4000
const maxTitle = 255

/** The annotation of each finding, in the order of files and lines. */
export function annotationsOf(findings: readonly Finding[]): Annotation[] {
  return findings.toSorted(byPlace).map(({ id, severity, message, file, line, column }) => ({
    severity,
    title: `${findingKind(id)?.title ?? id} (${id})`,
    message,
    place: { file, line, column },
  }))
}

/**
 * One line for each annotation, errors first and in the given order, at most nine of each kind. `all` says where the rest is,
 * such as `see the job summary`.
 */
export function workflowCommands(annotations: readonly Annotation[], all: string): string[] {
  return (['error', 'warning', 'info'] as const).flatMap((severity) => {
    const found = annotations.filter((annotation) => annotation.severity === severity)
    const more = found.length - maxShown
    return [
      ...found.slice(0, maxShown).map(commandOf),
      ...(more > 0 ? [`::${commands[severity]}::${escapedData(`${more} more: ${all}`)}`] : []),
    ]
  })
}

function commandOf({ severity, title, message, place }: Annotation): string {
  const properties = [
    ...(place === undefined ? [] : [`file=${escapedProperty(place.file)},line=${place.line},col=${place.column}`]),
    `title=${escapedProperty(title.slice(0, maxTitle))}`,
  ]
  return `::${commands[severity]} ${properties.join(',')}::${escapedData(message.slice(0, maxMessage))}`
}

/** A text as the data of a command: on one line, and nothing in it is an escape of GitHub. */
function escapedData(text: string): string {
  return onOneLine(text).replaceAll('%', '%25')
}

function escapedProperty(text: string): string {
  return escapedData(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
}

/**
 * A line of the log that is not a command: GitHub reads `::` at the start of a line and `##[` anywhere in it as one. Control
 * characters are written as escapes.
 */
export function logLine(text: string): string {
  return onOneLine(text)
    .replace(/^(\s*):(?=:)/, '$1: ')
    .replaceAll(/##(?=\[)/g, '# #')
}
