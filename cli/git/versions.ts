// `svc resync`, `svc approve-resync`, `svc pin-assignment`, `svc unpin-assignment`: which version of a manifest is in force.
import type { Assignment, Repository } from '@svc/schemas'
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
    call: 'approve-resync <id>',
    description: 'put the version in force that a guard holds back',
    options: [shaOption('the version that is held')],
    examples: ['approve-resync 4'],
    run: async ({ post, svc }, [text], { sha }) => {
      const after = await post<Assignment>(`${pathOf(text)}/approve`, versionIn(sha), readingTimeoutMs)
      return assignmentOutput(svc, after, after.status !== 'synced')
    },
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

function pathOf(text = ''): string {
  return `/api/v1/assignments/${idOf('the id of the assignment', text)}`
}

function versionIn(sha: string | undefined) {
  return sha === undefined ? {} : { manifest_sha: sha }
}
