// The description of a kind of finding, from which docs/findings.md and the rules of SARIF are made.

/** An error makes the command fail, a warning does so with --strict, an info never does. */
export type Severity = 'error' | 'warning' | 'info'

export interface FindingKind<I extends string = string> {
  readonly id: I
  readonly severity: Severity
  /** The fact that was found, as a sentence without a period. */
  readonly title: string
  /** The reason why it matters. */
  readonly why: string
  /** The next action of a person. */
  readonly remedy: string
  /** A part of a file with the finding, and the corrected part. */
  readonly wrong?: string
  readonly right?: string
}

/** Keeps the ids of a list as literal types. */
export function defineKinds<const I extends string>(kinds: readonly FindingKind<I>[]): readonly FindingKind<I>[] {
  return kinds
}
