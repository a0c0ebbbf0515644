// The model of assignments that follow a branch: what the rows must show at any time, and once the head was read.
import type { Assignment, Policy, Repository } from '@svc/schemas'

/** A version of a manifest file; `policies` is null for one that cannot be used. */
export interface WrittenVersion {
  readonly blob_sha: string
  readonly number: number
  readonly policies: number | null
  readonly isCritical: boolean
  readonly isObserved: boolean
}

/** The head of the branch: a condition of the host, or the version at each path. */
export type ModelHead = Repository['conditions'][number]['kind'] | ReadonlyMap<string, WrittenVersion>

export interface Shown {
  readonly assignment: Assignment
  readonly enabled: readonly Policy[]
}

export type Versions = ReadonlyMap<string, WrittenVersion>

/** What is wrong at any time, also between two statements of a reading. */
export function problemsOf({ assignment, enabled }: Shown, versions: Versions): string[] {
  const { manifest_sha, head_sha, pinned_sha, status, id } = assignment
  const version = versions.get(manifest_sha)
  const wanted = Array.from({ length: version?.policies ?? 0 }, () => `version ${version?.number} ${manifest_sha}`)
  const found = enabled.map((policy) => `${policy.description} ${policy.manifest_sha}`)
  const problems: string[] = []
  if (wanted.length === 0 || found.join() !== wanted.join()) problems.push(`${id} has ${found.join()}`)
  if (pinned_sha === null && head_sha !== manifest_sha && status === 'synced') problems.push(`${id} hides its head`)
  if (pinned_sha !== null && pinned_sha !== manifest_sha) problems.push(`${id} left its pin`)
  return problems
}

/** What is wrong once the head was read and nothing else happens. */
export function problemsAfter(shown: Shown, head: ModelHead, versions: Versions): string[] {
  const { id, conditions } = shown.assignment
  const kinds = conditions.map(({ kind }) => kind)
  const wanted = typeof head === 'string' ? head : conditionAt(shown.assignment, head, versions)
  const isRight = typeof head === 'string' ? kinds.includes(head) : kinds.join() === (wanted ?? '')
  const at = typeof head === 'string' ? 'away' : head.get(shown.assignment.manifest_path)?.number
  return [...problemsOf(shown, versions), ...(isRight ? [] : [`${id} at ${at} has [${kinds}], not [${wanted}]`])]
}

function conditionAt(assignment: Assignment, head: Exclude<ModelHead, string>, versions: Versions): string | null {
  const { manifest_path, manifest_sha, pinned_sha, rejected_shas } = assignment
  const at = head.get(manifest_path)
  if (at === undefined) return 'manifest_missing'
  if (pinned_sha !== null || at.blob_sha === manifest_sha) return null
  if (at.policies === null) return 'invalid_manifest'
  if (rejected_shas.includes(at.blob_sha)) return 'rejected_version'
  const was = versions.get(manifest_sha)
  return was !== undefined && weakens(was, at) ? 'guard_tripped' : 'nothing but the head in force'
}

function weakens(was: WrittenVersion, next: WrittenVersion): boolean {
  const removed = (was.policies ?? 0) - (next.policies ?? 0)
  const isLowered = was.isCritical && !next.isCritical
  return removed * 2 > (was.policies ?? 0) || isLowered || (!was.isObserved && next.isObserved)
}
