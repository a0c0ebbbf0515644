// A Git repository: a commit per checkpoint, pushed to the first remote of the repository.
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { replaceFile } from '@svc/engine/parts'
import { type Anchor, type AnchorContext, type Anchored, fileNameOf } from './anchor.js'

const run = promisify(execFile)
const timeoutMs = 30_000

/** `git:FOLDER`, a clone with write access; null for anything else. */
export function gitAnchor(text: string, { env }: AnchorContext): Anchor | null {
  const folder = /^git:(.+)$/.exec(text)?.[1]
  if (folder === undefined) return null
  let last: Promise<void> = Promise.resolve()
  return {
    name: text,
    // One commit at a time: a repository has one index.
    store: (checkpoint) => {
      last = last.catch(() => undefined).then(() => commit({ folder, env }, checkpoint))
      return last
    },
  }
}

interface Clone {
  readonly folder: string
  readonly env: AnchorContext['env']
}

/** Uses plumbing commands only: `add`, `status` and `commit` run programs that the repository's attributes and configuration name. */
async function commit(clone: Clone, { origin, size, note }: Anchored): Promise<void> {
  const file = `${fileNameOf(origin)}.note`
  replaceFile(join(clone.folder, file), note)
  const before = await git(clone, ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}']).catch(() => null)
  const blob = await git(clone, ['hash-object', '-w', '--no-filters', '--', file])
  // The checkpoint of an idle log is signed again, often with the same content.
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

/** Other staged files stay staged and are not committed: the tree is written from a temporary index. */
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
 * Disables the programs that the repository's own configuration can name, and password prompts. Credentials come from the
 * address of the remote or from keys that ssh finds.
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

/** Git runs the filters that attributes name when it compares files with the index: overrides empty all of them. */
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

/** The output of a Git command, without the last line break. Rejects with its error output. */
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
