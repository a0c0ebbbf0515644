// Options and parts of all commands for manifests in Git.
import type { Subcommand } from '../account/subcommand.js'
import { UsageError } from '../errors.js'

export interface GitSubcommand extends Subcommand {
  /** The examples, without `svc`. */
  readonly examples: readonly string[]
}

/** ms: the platform reads a branch for as long as 60 seconds for each operation of Git, and waits for another reading. */
export const readingTimeoutMs = 180_000

/** The id of a repository or an assignment. Throws UsageError for other text. */
export function idOf(what: string, text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text)
  throw new UsageError(`${what} is \`${text}\`: write a number, such as 2`)
}
