// The consequence of a reading of a branch for one assignment: a decision from data, without a database (docs/design/git.md §2).
import type { Finding } from '@svc/engine/parts'
import type { Assignment, Manifest } from '@svc/schemas'
import type { NewCondition } from './conditions.js'
import { failedTests, type Known, type OnAgent, trippedGuards } from './guards.js'

/** The manifest at the head of the branch. */
export type AtHead =
  | { readonly kind: 'missing'; readonly renamed_to: readonly string[] }
  /** The version that was in force when the branch was read; its content is not read again. */
  | { readonly kind: 'known'; readonly blob_sha: string }
  /** There, but not readable as a manifest file: a link, too large, not UTF-8. */
  | { readonly kind: 'unreadable'; readonly blob_sha: string; readonly problem: string }
  | { readonly kind: 'invalid'; readonly blob_sha: string; readonly findings: readonly Finding[] }
  | {
      readonly kind: 'valid'
      readonly blob_sha: string
      readonly manifest: Manifest
      readonly text: string
      /** Messages of its failed tests. */
      readonly failed_tests: readonly string[]
    }

/** The decision: put the version at the head in force, or keep the one in force and say why. */
export type Plan =
  | { readonly kind: 'apply' }
  | {
      readonly kind: 'keep'
      readonly head_sha: string | null
      readonly held_sha: string | null
      readonly conditions: readonly NewCondition[]
    }

interface Change {
  readonly known: Known
  /** The policies and waivers of the version at the head. */
  readonly after: () => OnAgent
}

/**
 * The plan for an assignment. `by_hand`: an operator asks for the version at the head, so that neither guards nor earlier
 * roll-backs hold it.
 */
export function planOf(assignment: Assignment, head: AtHead, by_hand: boolean, change: Change): Plan {
  if (head.kind === 'missing') return keep(null, [missing(assignment, head.renamed_to)])
  const { blob_sha } = head
  if (assignment.pinned_sha !== null || blob_sha === assignment.manifest_sha) return keep(blob_sha, [])
  // It was rolled back and unpinned since: the reading that follows compares it.
  if (head.kind === 'known') return keep(blob_sha, assignment.conditions)
  if (head.kind === 'unreadable') return keep(blob_sha, [unusable('unreadable_file', assignment, head.problem)])
  if (head.kind === 'invalid') return keep(blob_sha, [unusable('invalid_manifest', assignment, wordsOf(head.findings))])
  if (by_hand) return { kind: 'apply' }
  if (assignment.rejected_shas.includes(blob_sha)) return keep(blob_sha, [rejected(assignment)])
  const failed = failedTests(head.failed_tests)
  const reasons = [...failed, ...trippedGuards(change.known, change.after())]
  if (reasons.length === 0) return { kind: 'apply' }
  const reason = failed.length > 0 ? 'tests_failed' : 'guard_tripped'
  return { kind: 'keep', head_sha: blob_sha, held_sha: blob_sha, conditions: [held(assignment, reason, reasons)] }
}

function keep(head_sha: string | null, conditions: readonly NewCondition[]): Plan {
  return { kind: 'keep', head_sha, held_sha: null, conditions }
}

function missing({ manifest_path }: Assignment, renamed_to: readonly string[]): NewCondition {
  const [path] = renamed_to
  const remedy =
    path === undefined
      ? 'restore the file, or remove the assignment'
      : `the same content is now at \`${path}\`: assign that path, then remove this assignment`
  const message = `\`${manifest_path}\` is not in the branch any more, and its last version stays in force: ${remedy}`
  return { kind: 'manifest_missing', reason: path === undefined ? 'deleted' : 'renamed', message }
}

function unusable(reason: string, { manifest_path }: Assignment, problem: string): NewCondition {
  const message = `\`${manifest_path}\` cannot be used, and its last valid version stays in force: ${problem}`
  return { kind: 'invalid_manifest', reason, message }
}

function wordsOf(findings: readonly Finding[]): string {
  const [first] = findings
  if (first === undefined) return 'it has errors'
  const others = findings.length - 1
  const more = others === 0 ? '' : ` (and ${others} more: run \`svc validate\`)`
  return `line ${first.line}, column ${first.column}: ${first.message}${more}`
}

function rejected({ id }: Assignment): NewCondition {
  const message = `the version at the head was rolled back, and is not applied automatically: push another version, or run \`svc resync ${id}\``
  return { kind: 'rejected_version', reason: 'rolled_back', message }
}

function held({ id }: Assignment, reason: string, reasons: readonly string[]): NewCondition {
  const shown = reasons.slice(0, 5).join('; ')
  const more = reasons.length > 5 ? `; and ${reasons.length - 5} more` : ''
  const message = `the new version waits for an approval, because ${shown}${more}: to put it in force, run \`svc approve-resync ${id}\``
  return { kind: 'guard_tripped', reason, message }
}
