// The report of an import, as text or JSON.
import { printable } from '@svc/proof'
import { type GuessedTool, toolsYaml } from './guesses.js'
import type { Remarks } from './reading/reader.js'
import type { Survey } from './reading/survey.js'
import { countOf } from './reading/words.js'
import type { ImportCounts } from './target/target.js'

export interface ImportReport {
  readonly survey: Survey
  readonly counts: ImportCounts
  /** Tools whose guessed meaning can change a decision. */
  readonly guessed_tools: readonly GuessedTool[]
  readonly remarks: Remarks
}

/** The report as one JSON object. */
export function reportAsJson({ survey, counts, guessed_tools, remarks }: ImportReport): string {
  const { runs, bad_lines, bad_documents } = survey
  const tools_yaml = toolsYaml(guessed_tools).join('\n')
  return JSON.stringify({ runs, bad_lines, bad_documents, ...remarks.members, ...counts, guessed_tools, tools_yaml })
}

/** The report as lines of text, without the failures. */
export function reportAsText({ survey, counts, guessed_tools, remarks }: ImportReport): string {
  const { runs, bad_lines, bad_documents, bad_spans } = survey
  const { steps, created, replayed, failed_runs } = counts
  const read = `${countOf(runs, 'run')}, ${countOf(steps, 'step')}`
  const lines = [`${read}: ${created} new, ${replayed} already stored, ${countOf(failed_runs, 'run')} failed`]
  if (bad_lines > 0) lines.push(`${countOf(bad_lines, 'line')} could not be read (see above)`)
  if (bad_documents > 0) lines.push(`${countOf(bad_documents, 'document')} could not be read (see above)`)
  if (bad_spans > 0) lines.push(`${countOf(bad_spans, 'span')} could not be read (see above)`)
  lines.push(...remarks.lines, ...violationLines(counts), ...guessLines(guessed_tools))
  return lines.map(printable).join('\n')
}

function guessLines(guessed_tools: readonly GuessedTool[]): string[] {
  if (guessed_tools.length === 0) return []
  const are = guessed_tools.length === 1 ? 'is' : 'are'
  return [
    `${countOf(guessed_tools.length, 'tool')} ${are} guessed in a way that can change a decision; check these entries in a file for --tools:`,
    '',
    ...toolsYaml(guessed_tools),
  ]
}

function violationLines({ violations, would_block, would_ask }: ImportCounts): string[] {
  const policies = Object.entries(violations).sort(([, a], [, b]) => b - a)
  if (policies.length === 0) return []
  const [blocks, asks] = [new Map(Object.entries(would_block)), new Map(Object.entries(would_ask))]
  const lineOf = ([name, count]: [string, number]) => {
    const [blocked, asked] = [blocks.get(name), asks.get(name)]
    const would = [
      ...(blocked === undefined ? [] : [`${blocked} would have been blocked`]),
      ...(asked === undefined ? [] : [`${asked} would have needed an approval`]),
    ]
    return `  ${String(count).padStart(6)}  ${name}${would.length === 0 ? '' : ` (${would.join(', ')})`}`
  }
  return ['violations by policy:', ...policies.map(lineOf)]
}
