// The assignments that one transaction changes: the log is locked until it ends, and steps wait for it.
import type { Assignment } from '@svc/schemas'
import type { Branch } from './branch.js'

const maxAssignments = 10
/** Replaced and inserted policies; an assignment with more is a chunk of its own. */
const maxPolicies = 200

/** The assignments in their order, in chunks that each lock the log for a fraction of a second. */
export function chunksOf<A extends Pick<Assignment, 'policies' | 'manifest_path' | 'manifest_sha'>>(
  assignments: readonly A[],
  branch: Pick<Branch, 'at'>,
): A[][] {
  const chunks: A[][] = []
  let room = 0
  for (const assignment of assignments) {
    const cost = costOf(assignment, branch)
    const last = chunks.at(-1)
    if (last !== undefined && last.length < maxAssignments && cost <= room) last.push(assignment)
    else {
      chunks.push([assignment])
      room = maxPolicies
    }
    room -= cost
  }
  return chunks
}

function costOf(
  assignment: Pick<Assignment, 'policies' | 'manifest_path' | 'manifest_sha'>,
  { at }: Pick<Branch, 'at'>,
) {
  const head = at(assignment)
  return head.kind === 'valid' && head.blob_sha !== assignment.manifest_sha
    ? assignment.policies + head.manifest.policies.length
    : 0
}
