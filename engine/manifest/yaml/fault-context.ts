// A fault of a text in YAML; what a diagnosis of an unreadable line reads, and what it finds.
import type { YAMLError } from 'yaml'
import type { FindingId } from '../../findings/kinds.js'

/** Text that is rejected, or accepted with a remark. */
export interface Fault {
  readonly id: FindingId
  readonly message: string
  /** 0-based offset into the text. */
  readonly offset: number
}

/** An error of the YAML package with the text around it. */
export interface FaultContext {
  readonly text: string
  readonly lines: readonly string[]
  /** 0-based number of the line that the package reports. */
  readonly row: number
  readonly code: YAMLError['code']
  readonly report: string
  readonly offset: number
}

/** A line, by its 0-based number, and its problem. */
export interface Diagnosis {
  readonly row: number
  readonly column?: number
  readonly predicate: string
}

/** 0-based column of an offset in a line. */
export function columnOf(lines: readonly string[], row: number, offset: number): number {
  return Math.max(0, offset - lines.slice(0, row).reduce((sum, line) => sum + line.length + 1, 0))
}
