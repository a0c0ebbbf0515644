// Versions of the manifest of an assignment, from stored texts: no Git host is asked.
import { parseManifest } from '@svc/engine'
import { changeWords, diffFiles, diffText, valuesInWords } from '@svc/engine/parts'
import type { Assignment, AssignmentDiff, AssignmentSource, AssignmentVersionList, Manifest } from '@svc/schemas'
import { findAgents } from '../agents/store/agents.js'
import type { Transaction } from '../db/db.js'
import type { Scope } from '../db/scope.js'
import { invalid } from '../errors.js'
import { type BaselineParts, baselineVersion } from '../policies/commands/put-baseline.js'
import { findAssignment } from '../policies/store/assignments.js'
import { readText } from '../policies/store/manifest-texts.js'
import { versionsOf } from '../policies/store/versions.js'
import { assignmentNotFound } from './errors.js'
import { findRepository } from './store/repositories.js'

/** A version of the manifest: Git's ids of the file and of the commit; null for an unknown commit. */
interface KnownVersion {
  readonly manifest_sha: string
  readonly commit_sha: string | null
}

/** The version in force against another one: `held`, `head` or a SHA; undefined: the one that is held, else the head. */
export async function diffOf(
  parts: BaselineParts,
  scope: Scope,
  tx: Transaction,
  id: number,
  wanted: string | undefined,
): Promise<AssignmentDiff> {
  const assignment = await assignmentIn(scope, tx, id)
  const to_sha = shaOf(assignment, wanted)
  await versionOf(scope, tx, assignment, to_sha, 'to')
  const [agent] = await findAgents(scope, tx, [assignment.agent_id])
  const agents = agent === undefined ? [] : [{ ...agent, risk_classification: agent.effective_risk_classification }]
  const { manifest_sha: from_sha, manifest_path: path } = assignment
  const old = await manifestOf(parts, scope, tx, path, from_sha)
  const next = await manifestOf(parts, scope, tx, path, to_sha)
  const report = diffFiles([{ path, old, next }], agents)
  const [{ policies, waivers } = { policies: [], waivers: [] }] = report.manifests
  return {
    from_sha,
    to_sha,
    summary: changeWords(report),
    changes: policies.map(({ name, old_name = null, change, members }) => ({
      name,
      old_name,
      change,
      members: members.map(({ path, old, new: next, effect }) => ({ path, what: valuesInWords(old, next), effect })),
    })),
    waivers: waivers.map(({ policy, agent_key, change, old = null, new: next = null }) => ({
      policy,
      agent_key,
      change,
      old,
      new: next,
    })),
    text: diffText(report).join('\n'),
  }
}

/** The text of a version, undefined: the one in force, with the line of each policy. */
export async function sourceOfVersion(
  parts: BaselineParts,
  scope: Scope,
  tx: Transaction,
  id: number,
  wanted: string | undefined,
): Promise<AssignmentSource> {
  const assignment = await assignmentIn(scope, tx, id)
  const { manifest_path: path, manifest_repo: repo_url } = assignment
  const { manifest_sha: sha, commit_sha } = await versionOf(
    scope,
    tx,
    assignment,
    wanted ?? assignment.manifest_sha,
    'sha',
  )
  const text = await textOf(parts, scope, tx, sha, 'sha')
  const { value, lines } = parseManifest(text, path)
  const policies = value?.policies ?? []
  return {
    repo_url,
    path,
    sha,
    commit_sha,
    text,
    lines: Object.fromEntries(policies.map(({ name }, index) => [name, lines[index] ?? 1])),
    web_url: webUrlOf(repo_url, commit_sha, path),
  }
}

/** Every version that the assignment had in force. */
export async function versionsInForce(scope: Scope, tx: Transaction, id: number): Promise<AssignmentVersionList> {
  await assignmentIn(scope, tx, id)
  return { versions: await versionsOf(scope, tx, id) }
}

async function assignmentIn(scope: Scope, tx: Transaction, id: number): Promise<Assignment> {
  const assignment = await findAssignment(scope, tx, id)
  if (assignment === null) throw assignmentNotFound()
  return assignment
}

function shaOf({ held_sha, head_sha, id }: Assignment, wanted: string | undefined): string {
  const named = { held: held_sha, head: head_sha }
  const found =
    wanted === undefined ? (held_sha ?? head_sha) : wanted === 'held' || wanted === 'head' ? named[wanted] : wanted
  if (found !== null) return found
  const message =
    wanted === 'held'
      ? 'no version is held: use `head`, or the SHA of a version'
      : `the manifest is not in the branch any more: see the conditions of GET /api/v1/assignments/${id}`
  throw invalid([{ path: 'to', message }])
}

/** A version that the assignment had in force, or that its branch had at the last reading. Throws INVALID. */
async function versionOf(
  scope: Scope,
  tx: Transaction,
  { id, repo_id, manifest_sha, commit_sha, head_sha, held_sha, rejected_shas }: Assignment,
  wanted: string,
  path: string,
): Promise<KnownVersion> {
  if (wanted === manifest_sha) return { manifest_sha, commit_sha }
  const versions = await versionsOf(scope, tx, id)
  const known = versions.find((one) => one.manifest_sha === wanted)
  if (known !== undefined) return known
  if (wanted === head_sha) {
    const repository = repo_id === null ? null : await findRepository(scope, tx, repo_id)
    return { manifest_sha: wanted, commit_sha: repository?.last_commit_sha ?? null }
  }
  if (wanted === held_sha || rejected_shas.includes(wanted)) return { manifest_sha: wanted, commit_sha: null }
  const shas = [...new Set([head_sha, manifest_sha, ...versions.map((one) => one.manifest_sha)])]
  const shown = shas.flatMap((sha) => (sha === null ? [] : `\`${sha}\``)).slice(0, 10)
  throw invalid([{ path, message: `is not a version of this assignment: use one of ${shown.join(', ')}` }])
}

async function manifestOf(
  parts: BaselineParts,
  scope: Scope,
  tx: Transaction,
  path: string,
  blob_sha: string,
): Promise<Manifest | null> {
  const text = await textOf(parts, scope, tx, blob_sha, 'to')
  return parts.manifests.read({ path, blob_sha, text }).value
}

/** The stored text, or that of the baseline of this build. Throws INVALID for a version that could not be used when it was read. */
async function textOf(parts: BaselineParts, scope: Scope, tx: Transaction, sha: string, path: string): Promise<string> {
  const { file } = baselineVersion(parts)
  const text = sha === file.blob_sha ? file.text : await readText(scope, tx, sha)
  if (text !== null) return text
  const message = `has no stored text, because \`${sha}\` was never a valid manifest here: see the conditions of the assignment`
  throw invalid([{ path, message }])
}

/** The page of the file at GitHub; null for other hosts, and for an unknown commit. */
export function webUrlOf(repo_url: string | null, commit_sha: string | null, path: string): string | null {
  if (commit_sha === null || !repo_url?.startsWith('https://github.com/')) return null
  const file = path.split('/').map(encodeURIComponent).join('/')
  return `${repo_url.replace(/\.git$/, '')}/blob/${commit_sha}/${file}`
}
