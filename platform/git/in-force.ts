// The changes of a commit for each assignment of a repository, from the database: no Git host is asked.
import { parseManifest } from '@svc/engine'
import { diffManifests, type ManifestDiff } from '@svc/engine/parts'
import type { Assignment, Manifest } from '@svc/schemas'
import { findAgents } from '../agents/store/agents.js'
import type { Scope } from '../db/scope.js'
import { assignmentsFrom } from '../policies/store/assignments.js'
import { readText } from '../policies/store/manifest-texts.js'
import { versionsOf } from '../policies/store/versions.js'
import type { Reading } from './recorded/reading.js'

/** An assignment after a branch was read. */
export interface AssignmentState {
  readonly id: number
  readonly agent: { readonly agent_key: string; readonly name: string; readonly risk_classification: string }
  readonly manifest_path: string
  /** Blob SHA of the version in force. */
  readonly manifest_sha: string
  /** `changed`: the commit put this version in force; `kept`: another version is at the head, or the head cannot be used. */
  readonly kind: 'changed' | 'kept' | 'unchanged'
  readonly pinned: boolean
  readonly conditions: Assignment['conditions']
  /** Of `changed`: the version before; null for the first one, and where its text was not stored. */
  readonly old_sha: string | null
  readonly diff: ManifestDiff | null
}

export interface InForce {
  /** Of all assignments, by kind. */
  readonly counts: Readonly<Record<AssignmentState['kind'], number>>
  /** The first ones: those that are kept, then those that changed. */
  readonly listed: readonly AssignmentState[]
}

/** The most assignments whose versions are compared. */
const maxListed = 200
const kinds = ['kept', 'changed', 'unchanged'] as const

/** Reads in snapshots, one for each assignment that is compared. */
export async function inForceAfter(read: Reading, scope: Scope, repo_id: number, commit_sha: string): Promise<InForce> {
  const assignments = await read((tx) => assignmentsFrom(scope, tx, repo_id))
  const of = (kind: AssignmentState['kind']) => assignments.filter((one) => kindOf(one, commit_sha) === kind)
  const listed = kinds.flatMap(of).slice(0, maxListed)
  const rows = await read((tx) => findAgents(scope, tx, [...new Set(listed.map(({ agent_id }) => agent_id))]))
  const agents = new Map(rows.map((agent) => [agent.agent_id, agent]))
  const states: AssignmentState[] = []
  for (const one of listed) {
    const {
      agent_key = '',
      name = '',
      effective_risk_classification: risk_classification = 'unclassified',
    } = agents.get(one.agent_id) ?? {}
    const agent = { agent_key, name, risk_classification }
    const { id, manifest_path, manifest_sha, conditions } = one
    const kind = kindOf(one, commit_sha)
    const change = kind === 'changed' ? await changeOf(read, scope, one, agent) : { old_sha: null, diff: null }
    states.push({
      id,
      agent,
      manifest_path,
      manifest_sha,
      kind,
      pinned: one.pinned_sha !== null,
      conditions,
      ...change,
    })
  }
  return {
    counts: { kept: of('kept').length, changed: of('changed').length, unchanged: of('unchanged').length },
    listed: states,
  }
}

function kindOf(one: Assignment, commit_sha: string): AssignmentState['kind'] {
  if (one.conditions.length > 0 || one.head_sha !== one.manifest_sha) return 'kept'
  return one.commit_sha === commit_sha ? 'changed' : 'unchanged'
}

/** The version in force against the one before it. */
async function changeOf(
  read: Reading,
  scope: Scope,
  { id, manifest_path }: Assignment,
  agent: AssignmentState['agent'],
): Promise<Pick<AssignmentState, 'old_sha' | 'diff'>> {
  return read(async (tx) => {
    const [now, before] = await versionsOf(scope, tx, id)
    const textOf = async (sha: string | undefined) => (sha === undefined ? null : readText(scope, tx, sha))
    const [next, old] = [await textOf(now?.manifest_sha), await textOf(before?.manifest_sha)]
    if (next === null || old === null) return { old_sha: null, diff: null }
    const [was, is] = [manifestIn(old, manifest_path), manifestIn(next, manifest_path)]
    return { old_sha: before?.manifest_sha ?? null, diff: diffManifests(was, is, [agent]) }
  })
}

function manifestIn(text: string, path: string): Manifest | null {
  return parseManifest(text, path).value
}
