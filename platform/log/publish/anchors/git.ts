// A Git repository: a commit for each checkpoint, pushed where the repository says.
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { replaceFile } from '@svc/engine'
import { type Anchor, type Anchored, fileNameOf, type Surroundings } from './anchor.js'

const run = promisify(execFile)
const timeoutMs = 30_000

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

/** By plumbing alone: `add`, `status` and `commit` would run what the repository's attributes and configuration name. */
async function commit(clone: Clone, { origin, size, note }: Anchored): Promise<void> {
  const file = `${fileNameOf(origin)}.note`
  replaceFile(join(clone.folder, file), note)
  const before = await git(clone, ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}']).catch(() => null)
  const blob = await git(clone, ['hash-object', '-w', '--no-filters', '--', file])
  // A checkpoint that is signed again at rest differs in its witnesses at most, and may not differ at all.
  const known = before === null ? '' : await git(clone, ['ls-tree', before, '--', file])
  if (!known.includes(` ${blob}\t`))
    await commitBlob(clone, before, { file, blob, message: `checkpoint ${size} of ${origin}` })
  const [remote = ''] = (await git(clone, ['remote'])).split('\n')
  if (remote !== '')
    await git(clone, ['push', '--quiet', '--no-verify', '--receive-pack=git-receive-pack', '--', remote, 'HEAD'])
}

interface Change {
  readonly file: string
  readonly blob: string
  readonly message: string
}

/** What is staged besides stays staged, and is not committed: the tree is made in an index of its own. */
async function commitBlob(clone: Clone, before: string | null, { file, blob, message }: Change): Promise<void> {
  const entry = ['update-index', '--add', '--cacheinfo', `100644,${blob},${file}`]
  const folder = await mkdtemp(join(tmpdir(), 'svc-index-'))
  const index = { GIT_INDEX_FILE: join(folder, 'index') }
  try {
    if (before !== null) await git(clone, ['read-tree', before], index)
    await git(clone, entry, index)
    const tree = await git(clone, ['write-tree'], index)
    const parent = before === null ? [] : ['-p', before]
    const made = await git(clone, ['commit-tree', tree, ...parent, '-m', message])
    await git(clone, ['update-ref', '-m', message, 'HEAD', made, before ?? ''])
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  await git(clone, entry, await withoutFilters(clone))
}

/**
 * Programs that a repository's own configuration could name are not this program's to run; nobody is asked for a password.
 * Credentials come from the address of the remote, or from keys that ssh finds by itself.
 */
const settings = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.attributesFile=/dev/null',
  'core.alternateRefsCommand=',
  'core.askPass=',
  'credential.helper=',
  'commit.gpgSign=false',
  'push.gpgSign=false',
  'push.recurseSubmodules=no',
  'gc.auto=0',
  'maintenance.auto=false',
  'user.name=svc',
  'user.email=svc@localhost',
]
const quiet = {
  GIT_TERMINAL_PROMPT: '0',
  GIT_SSH_COMMAND: 'ssh -oBatchMode=yes',
  GIT_ALLOW_PROTOCOL: 'file:http:https:ssh',
  GIT_ATTR_NOSYSTEM: '1',
}

/** Git compares files of the index with their content by the filters that attributes name: all of them are emptied. */
async function withoutFilters(clone: Clone): Promise<Readonly<Record<string, string>>> {
  const pattern = '^filter\\..*\\.(clean|smudge|process|required)$'
  const found = await git(clone, ['config', '--null', '--name-only', '--get-regexp', pattern]).catch(() => '')
  const names = [...new Set(found.split('\0').filter((name) => name !== ''))]
  const values = names.flatMap((name, index) => [
    [`GIT_CONFIG_KEY_${index}`, name],
    [`GIT_CONFIG_VALUE_${index}`, name.endsWith('.required') ? 'false' : ''],
  ])
  return { GIT_CONFIG_COUNT: String(names.length), ...Object.fromEntries(values) }
}

/** What a program prints, without the last line break. Rejects with what it complains of. */
async function git(
  { folder, env: given }: Clone,
  args: readonly string[],
  more: Readonly<Record<string, string>> = {},
) {
  const env = { ...given, ...quiet, ...more }
  try {
    const all = [...settings.flatMap((one) => ['-c', one]), ...args]
    return (await run('git', all, { cwd: folder, env, timeout: timeoutMs })).stdout.trimEnd()
  } catch (error) {
    const { stderr, message } = error as { stderr?: string; message?: string }
    throw new Error(`git ${args[0]}: ${(stderr || message || '').trim()}`)
  }
}
