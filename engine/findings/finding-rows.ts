// Findings as the rows of a table.
import type { Finding } from './finding.js'
import { messageMarkdown, placeMarkdown, row } from './markdown-parts.js'

export const findingHeads = ['', 'Where', 'What is wrong, and what to write instead', 'Finding'] as const

const marks = { error: '❌ error', warning: '⚠️ warning', info: 'ℹ️ info' } as const

/** Errors first. Failed tests are left out: they have a part of their own. */
export function findingRows(findings: readonly Finding[], address: string | null): string[] {
  const others = findings.filter(({ id }) => id !== 'test-failed')
  return (['error', 'warning', 'info'] as const).flatMap((severity) =>
    others.filter((finding) => finding.severity === severity).map((finding) => findingRow(finding, address)),
  )
}

function findingRow({ severity, file, line, message, id }: Finding, address: string | null): string {
  return row(marks[severity], placeMarkdown(file, line, address), messageMarkdown(message), `\`${id}\``)
}
