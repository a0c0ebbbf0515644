// A repository in memory behind the interface that a check reads GitHub through, and the check runs that it writes.
import { createHash } from 'node:crypto'
import type { ImpactReport, TreeEntry } from '@svc/platform'
import type { CheckParts, CheckRunChange, PullRequest, PullRequestCommit, Review } from '../../../app/check/parts.js'

export type Files = Readonly<Record<string, string>>

export interface CheckWorld {
  readonly base: Files
  readonly head: Files
  /** Of the branch now; by default the base. */
  readonly tip?: Files
  readonly author?: string
  readonly commits?: readonly string[]
  /** `login state`, or `login state old` for a review of an earlier commit. */
  readonly reviews?: readonly string[]
  readonly followed?: boolean
  readonly visibility?: 'public' | 'private'
  readonly is_fork?: boolean
  /** Modes of paths, such as 120000 for a symbolic link. */
  readonly modes?: Readonly<Record<string, string>>
  /** Logins that may not push. */
  readonly strangers?: readonly string[]
  /** Times of reviews are 1, 2, …; the base branch was changed at this one. */
  readonly base_changed_at?: number
  /** Paths that assignments name. */
  readonly assigned?: readonly string[]
}

/** Of a change that no agent has. */
export const noImpact: ImpactReport = {
  agents: [],
  pinned_agents: [],
  recorded_tasks: 0,
  sampled_tasks: 0,
  tasks: 0,
  steps: 0,
  left_out: [],
  flipped_tasks: 0,
  newly_blocked_tasks: 0,
  newly_asked_tasks: 0,
  no_longer_blocked_tasks: 0,
  first_flips: { total: 0, listed: [] },
}

export const shas = { base: 'b'.repeat(40), head: 'a'.repeat(40), tip: 'c'.repeat(40) }

export function account(login: string) {
  return { login, type: login.endsWith('[bot]') ? 'Bot' : 'User' }
}

function blobSha(text: string): string {
  return createHash('sha1')
    .update(`blob ${Buffer.byteLength(text)}\0${text}`)
    .digest('hex')
}

function treeOf(files: Files, modes: Files = {}): Map<string, TreeEntry> {
  return new Map(
    Object.entries(files).map(([path, text]) => [
      path,
      { path, blob_sha: blobSha(text), mode: modes[path] ?? '100644', size: Buffer.byteLength(text) },
    ]),
  )
}

/** A check run as GitHub keeps it: annotations are appended. */
export interface StoredRun extends Omit<CheckRunChange, 'output'> {
  readonly id: number
  readonly head_sha: string
  readonly output?: NonNullable<CheckRunChange['output']>
}

export function checkWorld(
  { base, head, tip = base, author = 'mia', commits = [author], reviews = [], followed = true, ...more }: CheckWorld,
  impactOf: CheckParts['impactOf'],
) {
  const trees: Record<string, Files> = { [shas.base]: base, [shas.head]: head, [shas.tip]: tip }
  const blobs = new Map(
    Object.values(trees).flatMap((files) => Object.values(files).map((text) => [blobSha(text), text])),
  )
  const runs: StoredRun[] = []
  const pull: PullRequest = {
    number: 12,
    is_open: true,
    author: account(author),
    head_sha: shas.head,
    base_ref: 'main',
    is_fork: more.is_fork ?? false,
  }
  const parts: CheckParts = {
    reader: {
      pullRequest: async (number) => (number === 12 ? pull : null),
      openPullRequests: async () => [12],
      lastOpenPullRequests: async () => [{ number: 12, head_sha: shas.head }],
      commits: async () => ({
        listed: commits.map(
          (login): PullRequestCommit => ({ sha: shas.head, author: account(login), committer: account('web-flow') }),
        ),
        is_complete: true,
      }),
      reviews: async () =>
        reviews.map((text, index): Review => {
          const [login = '', state = '', old] = text.split(' ')
          const commit_id = old === undefined ? shas.head : shas.base
          return { user: account(login), state, commit_id, submitted_at: index + 1 }
        }),
      canPush: async (login) => !(more.strangers ?? []).includes(login),
      baseChangedAt: async () => more.base_changed_at ?? 0,
      branchHead: async () => shas.tip,
      mergeBase: async () => shas.base,
      list: async (sha) => treeOf(trees[sha] ?? {}, more.modes),
      read: async (wanted) => new Map(wanted.map((sha) => [sha, Buffer.from(blobs.get(sha) ?? '')])),
    },
    checks: {
      find: async (head_sha) => {
        const run = runs.findLast((one) => one.head_sha === head_sha)
        if (run === undefined) return null
        const { id, status = 'queued', external_id = null, output } = run
        return { id, status, external_id, annotations_count: output?.annotations?.length ?? 0 }
      },
      create: async (head_sha, _name, change) => {
        runs.push({ id: runs.length + 1, head_sha, ...change })
        return runs.length
      },
      update: async (id, change) => {
        const at = runs.findIndex((run) => run.id === id)
        const known = runs[at]
        if (known === undefined) throw new Error(`no check run ${id}`)
        const annotations = [...(known.output?.annotations ?? []), ...(change.output?.annotations ?? [])]
        if ((change.output?.annotations?.length ?? 0) > 50) throw new Error('more than 50 annotations')
        const output = { title: '', summary: '', ...known.output, ...change.output, annotations }
        runs[at] = { ...known, ...change, output }
      },
    },
    followed: async (branch) => {
      const { visibility = 'private', assigned = [] } = more
      const repository = { id: 7, owner: 'acme', name: 'policies', branch, visibility, assigned: new Set(assigned) }
      return followed ? repository : null
    },
    impactOf,
    warn: () => undefined,
    web_url: 'https://github.com/acme/policies',
    clock: () => Date.UTC(2026, 10, 22),
  }
  return { parts, runs, pull }
}
