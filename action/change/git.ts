// Reads a commit of the repository in the workspace, without a checkout and without network.
import { spawnSync } from 'node:child_process'
import { posix } from 'node:path'
import { filesInTree, type GitFile, textsInBatch } from '@svc/engine/parts'
import type { Environment } from '../inputs.js'

export interface Repository {
  readonly is_shallow: boolean
  /** The commit of a name; null for an unknown one. */
  readonly commitOf: (ref: string) => string | null
  /** The commit where the two have parted; null when it is not in the clone. */
  readonly forkPoint: (a: string, b: string) => string | null
  /** The files of a commit by their paths in the workspace; links and submodules are left out. Null when they cannot be read. */
  readonly filesIn: (commit: string) => readonly GitFile[] | null
  /** The texts of blobs in their order; null when one is not in the clone. */
  readonly textsOf: (blobs: readonly GitFile[]) => readonly string[] | null
}

const timeoutMs = 60_000
const maxBytes = 200 * 1024 * 1024

/** The repository of the current folder, else of the first of the folders that has one; null without a repository. */
export function openRepository(folders: readonly string[], env: Environment): Repository | null {
  for (const folder of ['.', ...folders]) {
    const top = runGit(folder, env, ['rev-parse', '--show-cdup'])
    if (top === null) continue
    const root = posix.normalize(posix.join(folder, top.toString('utf8').trim() || '.')).replace(/(?<=.)\/$/, '')
    // Of a repository around the workspace, only the files in the workspace count.
    return repositoryIn(root.startsWith('..') ? '.' : root, env)
  }
  return null
}

function repositoryIn(folder: string, env: Environment): Repository {
  const git = (args: readonly string[], input?: string) => runGit(folder, env, args, input)
  const commitIn = (output: Buffer | null) => /^[0-9a-f]{40,64}$/m.exec(output?.toString('latin1') ?? '')?.[0] ?? null
  return {
    is_shallow: git(['rev-parse', '--is-shallow-repository'])?.toString('latin1').trim() === 'true',
    commitOf: (ref) => commitIn(git(['rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`])),
    forkPoint: (a, b) => commitIn(git(['merge-base', a, b])),
    filesIn: (commit) => {
      const listed = git(['ls-tree', '-r', '-z', commit])
      return (
        listed && filesInTree(listed.toString('utf8')).map(({ sha, path }) => ({ sha, path: posix.join(folder, path) }))
      )
    },
    textsOf: (blobs) => {
      const batch = git(['cat-file', '--batch'], blobs.map(({ sha }) => `${sha}\n`).join(''))
      const texts = batch && textsInBatch(batch, blobs.length)
      return texts?.length === blobs.length ? texts : null
    },
  }
}

/** The output of git; null when it fails. Names are checked before, and no shell reads them. */
function runGit(cwd: string, env: Environment, args: readonly string[], input = ''): Buffer | null {
  const settings = [
    // A container runs as another user than the one that made the clone.
    ['-c', 'safe.directory=*'],
    // A bare repository among the files of a pull request is not the one that was checked out.
    ['-c', 'safe.bareRepository=explicit'],
    ['-c', 'protocol.allow=never'],
    ['--no-replace-objects', '--no-optional-locks'],
  ].flat()
  const options = { cwd, env: environmentOf(env), input, timeout: timeoutMs, maxBuffer: maxBytes }
  const { status, stdout, error } = spawnSync('git', [...settings, ...args], options)
  return error === undefined && status === 0 ? stdout : null
}

/** No variable of the workflow redirects git; what a partial clone lacks is not fetched. */
function environmentOf(env: Environment): Record<string, string> {
  const kept = Object.entries(env).filter(([name]) => !/^(GIT|INPUT|GITHUB|ACTIONS)_/i.test(name))
  const own = { GIT_TERMINAL_PROMPT: '0', GIT_NO_LAZY_FETCH: '1', GIT_ALLOW_PROTOCOL: '', LC_ALL: 'C' }
  return { ...(Object.fromEntries(kept) as Record<string, string>), ...own }
}
