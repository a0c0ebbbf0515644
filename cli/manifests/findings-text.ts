// Findings as text for a person: the place, the message, and the line of the file.
import { counted, type Finding, type SourceFile, type Validation } from '@svc/engine/parts'
import { printable } from '@svc/proof'
import { type Colour, inColour } from './colour.js'

/** The lines of the files by path. */
export type FileLines = ReadonlyMap<string, readonly string[]>

const colours: Readonly<Record<Finding['severity'], Colour>> = { error: 'red', warning: 'yellow', info: 'cyan' }

/** An excerpt longer than a line of a terminal is cut around the position. */
const maxExcerpt = 100

export function linesOf(files: readonly SourceFile[]): FileLines {
  return new Map(files.map(({ path, text }) => [path, (text ?? '').split('\n')]))
}

/** The place with severity and message, and the line with a mark below the position. */
export function findingLines({ id, severity, message, file, line, column }: Finding, files: FileLines): string[] {
  const place = inColour('bold', printable(`${file}:${line}:${column}`))
  const head = `${place} ${inColour(colours[severity], severity)}: ${printable(message)} [${id}]`
  const text = files.get(file)?.[line - 1]
  if (text === undefined || text.trim() === '' || id === 'untested-policy') return [head]
  const from = Math.max(0, column - 1 - maxExcerpt / 2)
  const excerpt = text.slice(from, from + maxExcerpt)
  const number = `${line}`.padStart(5)
  // A character that is printed as an escape is wider than one column.
  const before = shown(excerpt.slice(0, column - 1 - from))
  const mark = `${' '.repeat(5)} | ${' '.repeat(widthOf(before))}${inColour(colours[severity], '^')}`
  return [head, `${number} | ${shown(excerpt.trimEnd())}`, mark]
}

/** A tab as an arrow: it may be what is wrong, and takes one column here. */
function shown(excerpt: string): string {
  return printable(excerpt.replaceAll('\t', '→'))
}

function widthOf(text: string): number {
  return [...text].length
}

/** One line about all files. */
export function totalsLine({ manifests, findings, skipped }: Validation): string {
  const count = (severity: Finding['severity']) => findings.filter((one) => one.severity === severity).length
  const policies = manifests.reduce((sum, manifest) => sum + manifest.policies, 0)
  const infos = count('info')
  return [
    `${counted(manifests.length, 'manifest')}, ${counted(policies, 'valid policy', 'valid policies')}:`,
    `${counted(count('error'), 'error')}, ${counted(count('warning'), 'warning')}${infos > 0 ? `, ${counted(infos, 'info')}` : ''}`,
    ...(skipped.length > 0 ? [`(${counted(skipped.length, 'other YAML file')} without policies)`] : []),
  ].join(' ')
}

/** True if the findings make the command fail. */
export function isFailure(findings: readonly Finding[], strict: boolean): boolean {
  return findings.some(({ severity }) => severity === 'error' || (strict && severity === 'warning'))
}
