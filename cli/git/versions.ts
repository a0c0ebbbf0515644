// `svc resync`, `svc approve-resync`, `svc pin-assignment`, `svc unpin-assignment`: which version of a manifest is in force.
import type { Assignment, Repository } from '@svc/schemas'
import { allRows } from '../account/all-rows.js'
import type { Client } from '../account/client.js'
import { indented } from '../account/columns.js'
import type { Output } from '../account/subcommand.js'
import { UsageError } from '../errors.js'
import { assignmentOutput } from './assignment-text.js'
import { type GitSubcommand, idOf, readingTimeoutMs } from './git-subcommand.js'
import { stateOf } from './repositories.js'

const shaOption = (fallback: string) =>
  ['--sha <sha>', `blob SHA of the version, as \`git rev-parse COMMIT:PATH\` prints it (default: ${fallback})`] as const

export const versionSubcommands: readonly GitSubcommand[] = [
  {
    call: 'resync [id]',
    description: 'put the version at the head of the branch in force, also one that was rolled back or is held',
    options: [['--repo-id <id>', 'instead of an assignment: read the branch of a repository now, as the timer does']],
    examples: ['resync 4', 'resync --repo-id 2'],
    run: async ({ post, svc }, [text], { repoId }) => {
      if ((text === undefined) === (repoId === undefined))
        throw new UsageError(
          'name an assignment, as in `svc resync 4`, or a repository, as in `svc resync --repo-id 2`',
        )
      if (repoId !== undefined) {
        const path = `/api/v1/repos/${idOf('`--repo-id`', repoId)}/resync`
        return stateOf(svc, await post<Repository>(path, {}, readingTimeoutMs))
      }
      const after = await post<Assignment>(`${pathOf(text)}/resync`, {}, readingTimeoutMs)
      return assignmentOutput(svc, after, after.status !== 'synced')
    },
  },
  {
    call: 'approve-resync [id]',
    description:
      'put the version in force that a guard holds back: of an assignment, or of a manifest on all of its agents',
    options: [
      shaOption('the version that is held'),
      ['--repo-id <id>', 'instead of an assignment: the repository of the manifest, with --manifest'],
      ['--manifest <path>', 'path of the manifest in the repository'],
    ],
    examples: ['approve-resync 4', 'approve-resync --repo-id 2 --manifest refunds.yaml'],
    run: approveResync,
  },
  {
    call: 'pin-assignment <id>',
    description: 'keep the version in force, or roll back to an earlier one; pushes do not change it',
    options: [shaOption('the version in force')],
    examples: ['pin-assignment 4', 'pin-assignment 4 --sha "$(git rev-parse HEAD~1:refunds.yaml)"'],
    run: async ({ post, svc }, [text], { sha }) =>
      assignmentOutput(svc, await post(`${pathOf(text)}/pin`, versionIn(sha))),
  },
  {
    call: 'unpin-assignment <id>',
    description: 'let an assignment follow its branch again',
    examples: ['unpin-assignment 4'],
    run: async ({ post, svc }, [text]) =>
      assignmentOutput(svc, await post(`${pathOf(text)}/unpin`, {}, readingTimeoutMs)),
  },
]

type Options = Readonly<Record<string, string>>

async function approveResync(client: Client, [text]: readonly string[], options: Options): Promise<Output> {
  const { sha, repoId, manifest } = options
  if ((text === undefined) === (repoId === undefined && manifest === undefined))
    throw new UsageError(
      'name an assignment, as in `svc approve-resync 4`, or a manifest, as in `svc approve-resync --repo-id 2 --manifest refunds.yaml`',
    )
  if (text !== undefined) {
    const after = await client.post<Assignment>(`${pathOf(text)}/approve`, versionIn(sha), readingTimeoutMs)
    return assignmentOutput(client.svc, after, after.status !== 'synced')
  }
  if (repoId === undefined || manifest === undefined) throw new UsageError('give `--repo-id` and `--manifest` together')
  // Paths of manifests are stored without a beginning `./` or `/`.
  return approveManifest(client, idOf('`--repo-id`', repoId), manifest.replace(/^(\.?\/)+/, ''), sha ?? null)
}

/** Approves the held version on every agent that has the manifest, and shows what each approval has changed. */
async function approveManifest(client: Client, repo_id: number, path: string, sha: string | null): Promise<Output> {
  const all = await allRows<Assignment>(client, '/api/v1/assignments', 'assignments')
  const held = all.filter(
    (one) =>
      one.repo_id === repo_id &&
      one.manifest_path === path &&
      one.held_sha !== null &&
      (sha === null || one.held_sha === sha),
  )
  if (held.length === 0)
    throw new Error(
      `no version of \`${path}\` in repository ${repo_id} is held: \`svc list-assignments\` shows what waits`,
    )
  const approved: Assignment[] = []
  const lines: string[] = []
  for (const before of held) {
    const version = versionIn(before.held_sha ?? undefined)
    const after = await client.post<Assignment>(`${pathOf(String(before.id))}/approve`, version, readingTimeoutMs)
    approved.push(after)
    const reasons = before.conditions.flatMap(
      ({ message }) =>
        /^the new version waits for an approval, because (.*): to put it in force, run /s.exec(message)?.[1] ?? [],
    )
    lines.push(
      ...assignmentOutput(client.svc, after).lines,
      ...reasons.flatMap((reason) => indented(client.svc, `this version was held, because ${reason}`)),
    )
  }
  return { lines, json: { assignments: approved }, isUnreached: approved.some(({ status }) => status !== 'synced') }
}

function pathOf(text = ''): string {
  return `/api/v1/assignments/${idOf('the id of the assignment', text)}`
}

function versionIn(sha: string | undefined) {
  return sha === undefined ? {} : { manifest_sha: sha }
}
