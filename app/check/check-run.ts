// The life of a check run: begun before the work, completed in any case, written once more for the same commit.
import { createHash } from 'node:crypto'
import { isoTime } from '@svc/schemas'
import type { CheckContent } from './content/content.js'
import { toDoList } from './content/words.js'
import { type CheckParts, type CheckRun, type Checks, checkName } from './parts.js'

interface Parts extends Pick<CheckParts, 'checks' | 'clock' | 'warn'> {
  /** By default that of the check of a change. */
  readonly name?: string
}

/** GitHub takes this many annotations at once. */
const maxBatch = 50

/**
 * Runs the work for a commit and shows its result. A failure is shown too, and the call rejects with it where another try can help.
 */
export async function runCheck(parts: Parts, head_sha: string, work: () => Promise<CheckContent>): Promise<void> {
  const { checks, clock, name = checkName } = parts
  const known = await checks.find(head_sha, name)
  const running = { title: 'Replaying recorded tasks', summary: 'The manifests are being checked.' }
  const begun = { status: 'in_progress', started_at: isoTime(clock()), output: running } as const
  const run =
    known !== null && known.status !== 'completed'
      ? known
      : {
          id: await begin(checks, { head_sha, name }, known, begun),
          status: 'in_progress',
          external_id: known?.external_id ?? null,
          annotations_count: known?.annotations_count ?? 0,
        }
  let content: CheckContent
  try {
    content = await work()
  } catch (error) {
    await complete(parts, run, head_sha, failed(error))
    if (canHeal(error)) throw error
    parts.warn((error as Error).message)
    return
  }
  await complete(parts, run, head_sha, content)
}

async function begin(
  checks: Checks,
  { head_sha, name }: { readonly head_sha: string; readonly name: string },
  known: CheckRun | null,
  change: Parameters<Checks['update']>[1],
): Promise<number> {
  if (known === null) return checks.create(head_sha, name, change)
  await checks.update(known.id, change)
  return known.id
}

/**
 * Writes the result. What GitHub rejects of it is left out, so that the run does not stay in progress: the annotations, then all.
 * Annotations cannot be taken back: other ones than the run has begin another run, which replaces it.
 */
async function complete(parts: Parts, run: CheckRun, head_sha: string, content: CheckContent): Promise<void> {
  const external_id = digestOf(content.annotations)
  const isOther = run.annotations_count > 0 && run.external_id !== external_id
  const id = isOther ? await replaced(parts, run, head_sha) : run.id
  const left = content.annotations.slice(isOther ? 0 : run.annotations_count)
  const plain = { ...content, summary: `${content.summary}\n\n${unannotated}` }
  const attempts = [
    () => write(parts, id, external_id, content, left),
    ...(left.length === 0 ? [] : [() => write(parts, id, '', plain, [])]),
  ]
  for (const attempt of attempts) {
    try {
      return await attempt()
    } catch (error) {
      if (!isRejected(error)) throw error
      parts.warn((error as Error).message)
    }
  }
  await write(parts, id, '', failed({ code: 'rejected' }), [])
}

const unannotated = 'GitHub did not take the notes at the lines of the files.'

function isRejected(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === 'rejected'
}

async function write(
  { checks, clock }: Parts,
  id: number,
  external_id: string,
  { conclusion, title, summary, text }: CheckContent,
  annotations: CheckContent['annotations'],
): Promise<void> {
  const output = { title, summary, ...(text === undefined ? {} : { text }) }
  for (let at = 0; at < annotations.length - maxBatch; at += maxBatch)
    await checks.update(id, { external_id, output: { ...output, annotations: annotations.slice(at, at + maxBatch) } })
  const last = annotations.slice(Math.max(0, Math.ceil(annotations.length / maxBatch) - 1) * maxBatch)
  await checks.update(id, {
    status: 'completed',
    conclusion,
    completed_at: isoTime(clock()),
    external_id,
    output: { ...output, annotations: last },
  })
}

/** Completes the run with the old annotations, so that none stays in progress, and begins one without any. */
async function replaced({ checks, clock, name = checkName }: Parts, run: CheckRun, head_sha: string): Promise<number> {
  const now = isoTime(clock())
  const id = await checks.create(head_sha, name, { status: 'in_progress', started_at: now })
  const output = { title: 'Checked again', summary: 'A later check of this commit has the result.' }
  await checks.update(run.id, { status: 'completed', conclusion: 'neutral', completed_at: now, output })
  return id
}

function digestOf(annotations: CheckContent['annotations']): string {
  return createHash('sha256').update(JSON.stringify(annotations)).digest('hex').slice(0, 32)
}

/** True if another try can help: GitHub or the platform was not available. */
function canHeal(error: unknown): boolean {
  return faultOf(error)?.heals ?? true
}

/** A failure is not a pass: a rule of the branch that requires this check keeps the pull request open. */
function failed(error: unknown): CheckContent {
  const { reason, remedy } = faultOf(error) ?? ofPlatform
  // The message of the error can have words of a repository: only our own sentences are shown.
  const summary = `❌ **Nothing is known about this change yet, because ${reason}.**\n\n${toDoList([remedy])}`
  return { conclusion: 'failure', title: `Not checked: ${reason}`, summary, text: undefined, annotations: [] }
}

interface Fault {
  readonly heals: boolean
  readonly reason: string
  readonly remedy: string
}

/** Null for an error without a code that is known here. */
function faultOf(error: unknown): Fault | null {
  const { code } = (error ?? {}) as { readonly code?: unknown }
  return typeof code === 'string' && Object.hasOwn(faults, code) ? (faults[code] ?? null) : null
}

const again = 'The check tries again by itself a few times. After that, choose **Re-run** on this check.'

const ofPlatform: Fault = {
  heals: true,
  reason: 'the platform could not finish the check',
  remedy: `Wait some minutes. ${again}\n2. If it stops again, ask the operator of the platform: its log has the reason.`,
}

const away: Fault = {
  heals: true,
  reason: 'GitHub did not answer, or asks to wait',
  remedy:
    'Wait until GitHub answers: the check tries again by itself for a day. After that, choose **Re-run** on this check.',
}

const revoked: Fault = {
  heals: false,
  reason: 'GitHub does not let the App read the repository',
  remedy:
    'An administrator of the repository opens its settings, **GitHub Apps**, and gives the App access to this repository with the permissions that it asks for. Then choose **Re-run** on this check.',
}

const unsafe: Fault = {
  heals: false,
  reason: 'GitHub rejects what the App asks for',
  remedy: 'Ask the operator of the platform: its log has the reason.',
}

/** By the codes of the errors of sources, and of the client of the App. */
const faults: Readonly<Record<string, Fault>> = {
  fetch_failed: away,
  rate_limited: away,
  unavailable: away,
  access_revoked: revoked,
  private: revoked,
  repository_missing: revoked,
  permission: revoked,
  missing: revoked,
  credential: unsafe,
  rejected: unsafe,
  branch_missing: {
    heals: false,
    reason: 'the branch of the base does not exist any more',
    remedy: 'Choose another base branch for the pull request.',
  },
  too_large: {
    heals: false,
    reason: 'the change, a file of it, or the repository is too large',
    remedy:
      'Split it: at most 2,000 YAML files of a pull request, and 1 MiB of one file, are checked. A repository with more than 100,000 files and folders keeps its manifests in a repository of their own.',
  },
}
