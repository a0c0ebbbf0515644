// A report of validation, manifest tests, analysis and replay about a file.
import type { Severity } from './kind.js'
import { type FindingId, severityOf } from './kinds.js'

export interface Finding {
  /** Stable: docs/findings.md has a section for each. */
  readonly id: FindingId
  readonly severity: Severity
  /** One sentence in lower case without a final period: what is wrong, and what to write instead. */
  readonly message: string
  readonly file: string
  /** 1-based; of the key or value that is wrong. */
  readonly line: number
  readonly column: number
  /** Path in the document, dot-separated; empty for the whole document. */
  readonly path: string
}

/** In the order of files, lines and columns. */
export function byPlace(a: Finding, b: Finding): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1
  return a.line - b.line || a.column - b.column
}

/** A finding of that kind at a place. */
export function findingAt(
  id: FindingId,
  message: string,
  { file, line, column, path }: Pick<Finding, 'file' | 'line' | 'column' | 'path'>,
): Finding {
  return { id, severity: severityOf(id), message, file, line, column, path }
}

/** The beginning of a file. */
export function startOf(file: string) {
  return { file, line: 1, column: 1, path: '' }
}
