// An assignment in words.
import { lastDayOf } from '@svc/engine/parts'
import type { Assignment, MadeAssignment } from '@svc/schemas'
import { indented, rowsWithNotes, type Screen, short } from '../account/columns.js'
import type { Output } from '../account/subcommand.js'
import { conditionNotes } from './conditions.js'

const columns = [
  { heading: 'ID' },
  { heading: 'AGENT', least: 12 },
  { heading: 'REPO' },
  { heading: 'MANIFEST', least: 12 },
  { heading: 'VERSION' },
  { heading: 'POLICIES' },
  { heading: 'STATUS' },
]

/** `keys`: the keys of agents by id. */
export function assignmentTable(
  screen: Screen,
  assignments: readonly Assignment[],
  keys: ReadonlyMap<string, string>,
): string[] {
  if (assignments.length === 0) return ['no manifest is assigned: `svc assign-manifest` assigns one']
  const rows = assignments.map((one) => ({
    cells: [
      String(one.id),
      keys.get(one.agent_id) ?? one.agent_id,
      one.repo_id === null ? 'baseline' : String(one.repo_id),
      one.manifest_path,
      short(one.manifest_sha),
      String(one.policies),
      wordOf(one.status),
    ],
    notes: assignmentNotes(one),
  }))
  return rowsWithNotes(screen, columns, rows)
}

/** The reason that holds a version back, and other differences from the manifest. */
export function assignmentNotes(assignment: Assignment | MadeAssignment): string[] {
  const { id, conditions, pinned_sha, head_sha, pin, skipped, waivers } = assignment
  const pinned = `stays at ${pinned_sha} until \`svc unpin-assignment ${id}\``
  const behind = head_sha !== pinned_sha && head_sha !== null ? `; the branch has ${head_sha}` : ''
  return [
    ...conditionNotes(conditions),
    ...(conditions.some(({ kind }) => ofBranch.has(kind))
      ? ['until the branch can be read, the policies in force stay']
      : []),
    ...(pinned_sha === null ? [] : [`${pinned}${behind}`]),
    ...(pin === 'task' ? ['running tasks keep the version that they began with'] : []),
    ...(skipped.length > 0 ? [`skipped, for a risk level above that of the agent: ${skipped.join(', ')}`] : []),
    ...waivers.map(
      ({ policy, waived_until }) => `\`${policy}\` is waived until the end of ${lastDayOf(waived_until)} (UTC)`,
    ),
  ]
}

/** The assignment after a change; `isUnreached` when what the change was for is not reached. */
export function assignmentOutput(svc: string, assignment: Assignment, isUnreached = false): Output {
  const { id, status, manifest_path, manifest_sha, policies } = assignment
  const heading = `assignment ${id}: ${wordOf(status)}, ${policiesText(policies)} in force, of \`${manifest_path}\``
  const lines = [
    heading,
    `version ${manifest_sha}`,
    ...assignmentNotes(assignment).flatMap((note) => indented(svc, note)),
  ]
  return { lines, json: assignment, isUnreached }
}

/** Conditions of the repository, whose messages do not name the assignment. */
const ofBranch: ReadonlySet<string> = new Set(['branch_missing', 'access_revoked', 'fetch_failed'])

export function policiesText(count: number): string {
  return count === 1 ? '1 policy is' : `${count} policies are`
}

function wordOf(status: Assignment['status']): string {
  return status.replaceAll('_', ' ')
}
