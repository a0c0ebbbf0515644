// What an import did, for a person or a program.

import { printable } from '@svc/proof'
import type { Survey } from './survey.js'
import type { ImportCounts } from './target.js'

export interface ImportReport {
  readonly survey: Survey
  readonly counts: ImportCounts
  /** Runs that were passed over because they had been acknowledged before. */
  readonly skipped_runs: number
  /** Tools whose names say nothing. */
  readonly guessed_tools: readonly string[]
}

/** The report as one JSON object. */
export function reportAsJson({ survey, counts, skipped_runs, guessed_tools }: ImportReport): string {
  const { runs, bad_lines } = survey
  return JSON.stringify({ runs, skipped_runs, bad_lines, ...counts, guessed_tools })
}

/** The report as lines of text; the reasons of failures are a matter of their own. */
export function reportAsText({ survey, counts, skipped_runs, guessed_tools }: ImportReport): string {
  const { runs, bad_lines } = survey
  const { steps, created, replayed, failed_runs } = counts
  const lines = [`${runs} runs, ${steps} steps: ${created} new, ${replayed} already there, ${failed_runs} runs failed`]
  if (skipped_runs > 0) lines.push(`${skipped_runs} runs were passed over: they had been acknowledged before`)
  if (bad_lines > 0) lines.push(`${bad_lines} lines could not be read (named above)`)
  lines.push(...violationLines(counts))
  if (guessed_tools.length > 0) {
    lines.push(
      `taken for writes because their names say nothing: ${guessed_tools.join(', ')}`,
      '  say what they are in a file for --tools',
    )
  }
  return lines.map(printable).join('\n')
}

function violationLines({ violations, would_block }: ImportCounts): string[] {
  const policies = Object.entries(violations).sort(([, a], [, b]) => b - a)
  if (policies.length === 0) return []
  const blocks = new Map(Object.entries(would_block))
  const lineOf = ([name, count]: [string, number]) => {
    const blocked = blocks.get(name)
    return `  ${String(count).padStart(6)}  ${name}${blocked === undefined ? '' : ` (${blocked} would have been blocked)`}`
  }
  return ['violations by policy:', ...policies.map(lineOf)]
}
