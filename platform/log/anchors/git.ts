// A Git repository: a commit for each checkpoint, pushed where the repository says.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { replaceFile } from '@svc/engine'
import { type Anchor, type Anchored, fileNameOf, type Surroundings } from './anchor.js'

const run = promisify(execFile)
const patience = 30_000

/** `git:FOLDER` of a clone that commits can be made in; null for anything else. */
export function gitAnchor(text: string, { env }: Surroundings): Anchor | null {
  const folder = /^git:(.+)$/.exec(text)?.[1]
  if (folder === undefined) return null
  let last: Promise<void> = Promise.resolve()
  return {
    name: text,
    // One commit at a time: a repository has one index.
    keep: (checkpoint) => {
      const turn = last.catch(() => undefined).then(() => commit({ folder, env }, checkpoint))
      last = turn
      return turn
    },
  }
}

interface Clone {
  readonly folder: string
  readonly env: Surroundings['env']
}

async function commit(clone: Clone, { origin, size, note }: Anchored): Promise<void> {
  const file = `${fileNameOf(origin)}.note`
  replaceFile(join(clone.folder, file), note)
  await git(clone, 'add', '--', file)
  // A checkpoint that is signed again at rest differs in its witnesses at most, and may not differ at all.
  const { stdout } = await git(clone, 'status', '--porcelain', '--', file)
  if (stdout !== '') await git(clone, 'commit', '--quiet', '--message', `checkpoint ${size} of ${origin}`, '--', file)
  const { stdout: remotes } = await git(clone, 'remote')
  if (remotes !== '') await git(clone, 'push', '--quiet', '--', remotes.split('\n')[0] ?? '', 'HEAD')
}

/** Hooks and helpers of the repository are not this program's to run; nobody is there to be asked for a password. */
const settings = ['core.hooksPath=/dev/null', 'commit.gpgSign=false', 'user.name=svc', 'user.email=svc@localhost']

async function git({ folder, env: given }: Clone, ...args: string[]) {
  const env = { ...given, GIT_TERMINAL_PROMPT: '0', GIT_SSH_COMMAND: 'ssh -oBatchMode=yes' }
  try {
    return await run('git', [...settings.flatMap((one) => ['-c', one]), ...args], {
      cwd: folder,
      env,
      timeout: patience,
    })
  } catch (error) {
    const { stderr, message } = error as { stderr?: string; message?: string }
    throw new Error(`git ${args[0]}: ${(stderr || message || '').trim()}`)
  }
}
