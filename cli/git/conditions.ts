// The reason why a repository or an assignment is not in step with its branch, in words.
import type { Condition } from '@svc/schemas'

/** A note for each condition. The message is text of a manifest or a Git host in part. */
export function conditionNotes(conditions: readonly Condition[]): string[] {
  return conditions.map(
    ({ kind, message, since }) => `${kind.replaceAll('_', ' ')} since ${since.replace(/\.\d+/, '')}: ${message}`,
  )
}
