// The report of an import, as text or JSON.
import { printable } from '@svc/proof'
import type { Survey } from './survey.js'
import type { ImportCounts } from './target.js'

export interface ImportReport {
  readonly survey: Survey
  readonly counts: ImportCounts
  /** Tools without a known meaning. */
  readonly guessed_tools: readonly string[]
}

/** The report as one JSON object. */
export function reportAsJson({ survey, counts, guessed_tools }: ImportReport): string {
  const { runs, bad_lines } = survey
  return JSON.stringify({ runs, bad_lines, ...counts, guessed_tools })
}

/** The report as lines of text, without the failures. */
export function reportAsText({ survey, counts, guessed_tools }: ImportReport): string {
  const { runs, bad_lines } = survey
  const { steps, created, replayed, failed_runs } = counts
  const lines = [`${runs} runs, ${steps} steps: ${created} new, ${replayed} already stored, ${failed_runs} runs failed`]
  if (bad_lines > 0) lines.push(`${bad_lines} lines could not be read (listed above)`)
  lines.push(...violationLines(counts))
  if (guessed_tools.length > 0) {
    lines.push(
      `tools of unknown meaning, imported as writes: ${guessed_tools.join(', ')}`,
      '  describe them in a file for `--tools`',
    )
  }
  return lines.map(printable).join('\n')
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
