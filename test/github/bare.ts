// A bare repository of Git, read and written with Git's own programs.
import { execFileSync, spawnSync } from 'node:child_process'
import type { Files as WholeFiles } from '../support/git/github.js'

/** Path to content; null removes a file. */
export type Files = Readonly<Record<string, WholeFiles[string] | null>>

export interface Person {
  readonly name: string
  readonly email: string
}

export interface Commit {
  readonly sha: string
  readonly tree: string
  readonly parents: readonly string[]
  readonly author: Person & { readonly date: string }
  readonly committer: Person & { readonly date: string }
  readonly message: string
}

export interface ChangedFile {
  readonly path: string
  readonly previous_path: string | null
  readonly status: 'added' | 'removed' | 'modified' | 'renamed' | 'changed'
  /** Of the new blob; of the old one for a removed file. */
  readonly sha: string
  readonly additions: number
  readonly deletions: number
  /** From the first `@@`; null for a binary file and for a change of the mode alone. */
  readonly patch: string | null
}

export interface TreeLine {
  readonly path: string
  readonly mode: string
  readonly type: string
  readonly sha: string
  readonly size: number | null
}

export interface NewCommit {
  readonly branch: string
  readonly files: Files
  readonly author: Person
  readonly message: string
  /** Seconds since 1970. */
  readonly time: number
  /** A new branch starts here; default: at nothing. */
  readonly from?: string
}

/** A commit of a tree that exists, on no branch. */
export interface JoinedCommit extends Pick<NewCommit, 'author' | 'message' | 'time'> {
  readonly tree: string
  readonly parents: readonly string[]
}

export interface Bare {
  readonly folder: string
  /** The output of a command without the last line break; throws when it fails. */
  readonly git: (...args: readonly string[]) => string
  /** The output of a command; null when it fails. */
  readonly attempt: (...args: readonly string[]) => Buffer | null
  readonly branches: () => Map<string, string>
  readonly add: (commit: NewCommit) => string
  readonly join: (commit: JoinedCommit) => string
  /** Type and bytes of an object; null when there is no such object. */
  readonly object: (sha: string) => { readonly type: string; readonly bytes: Buffer } | null
  readonly tree: (sha: string, isRecursive: boolean) => TreeLine[]
  /** The commits of a range as `git log` names them, the latest first. */
  readonly log: (range: readonly string[], max: number) => Commit[]
  /** What differs between two commits, renames found. */
  readonly diff: (from: string, to: string) => ChangedFile[]
  readonly mergeBase: (a: string, b: string) => string | null
}

const sha = /^[0-9a-f]{40}$/
const limits = { stdio: 'pipe', maxBuffer: 256 * 1024 * 1024 } as const

/** Creates a bare repository in the folder, or a copy of the other one. */
export function createBare(folder: string, source?: Bare): Bare {
  if (source !== undefined) execFileSync('git', ['clone', '--quiet', '--bare', source.folder, folder], limits)
  else execFileSync('git', ['init', '--quiet', '--bare', '--initial-branch=main', folder], limits)
  const env = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' }
  const run = (args: readonly string[]) => spawnSync('git', [`--git-dir=${folder}`, ...args], { ...limits, env })
  const attempt = (...args: readonly string[]) => {
    const { status, stdout } = run(args)
    return status === 0 ? stdout : null
  }
  const git = (...args: readonly string[]) => {
    const { status, stdout, stderr } = run(args)
    if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`)
    return stdout.toString().replace(/\n$/, '')
  }
  git('config', 'http.receivepack', 'true')
  const fixed = remember((key) => attempt(...(JSON.parse(key) as string[])))
  const read = (...args: readonly string[]) => fixed(JSON.stringify(args))
  const object = (name: string) => {
    if (!sha.test(name)) return null
    const type = read('cat-file', '-t', name)?.toString().trim()
    const bytes = type === undefined ? null : read('cat-file', type, name)
    return type === undefined || bytes === null ? null : { type, bytes }
  }
  const branches = () => {
    const lines = git('for-each-ref', '--format=%(objectname) %(refname)', 'refs/heads').split('\n')
    return new Map(lines.filter(Boolean).map((line) => [line.slice(41).replace('refs/heads/', ''), line.slice(0, 40)]))
  }
  return {
    folder,
    git,
    attempt,
    branches,
    object,
    add: (commit) => {
      const head = branches().get(commit.branch) ?? commit.from
      const input = fastImport(commit, head)
      execFileSync('git', [`--git-dir=${folder}`, 'fast-import', '--quiet', '--force'], { ...limits, input, env })
      return git('rev-parse', `refs/heads/${commit.branch}`)
    },
    join: ({ tree, parents, author, message, time }) => {
      const by = byline({ author, time })
      const lines = [`tree ${tree}`, ...parents.map((parent) => `parent ${parent}`), `author ${by}`, `committer ${by}`]
      const input = `${lines.join('\n')}\n\n${message}\n`
      const command = [`--git-dir=${folder}`, 'hash-object', '-t', 'commit', '-w', '--stdin']
      return execFileSync('git', command, { ...limits, env, input })
        .toString()
        .trim()
    },
    tree: (name, isRecursive) =>
      (read('ls-tree', '-l', '-z', ...(isRecursive ? ['-r', '-t'] : []), name)?.toString() ?? '')
        .split('\0')
        .filter(Boolean)
        .map(treeLine),
    log: (range, max) => commitsOf(attempt('log', `--max-count=${max}`, `--format=${logFormat}`, ...range, '--')),
    diff: (from, to) => changesOf(read('diff', ...diffArguments, from, to)?.toString() ?? ''),
    mergeBase: (a, b) => read('merge-base', a, b)?.toString().trim() ?? null,
  }
}

function remember<T>(make: (key: string) => T): (key: string) => T {
  const known = new Map<string, T>()
  return (key) => {
    const found = known.get(key) ?? make(key)
    if (found !== null) known.set(key, found)
    return found
  }
}

function byline({ author, time }: Pick<NewCommit, 'author' | 'time'>): string {
  const clean = (text: string) => text.replace(/[<>\n\0]/g, '')
  return `${clean(author.name)} <${clean(author.email)}> ${time} +0000`
}

function fastImport({ branch, files, author, message, time }: NewCommit, head: string | undefined): Buffer {
  const by = byline({ author, time })
  const text = Buffer.from(message)
  const start = `commit refs/heads/${branch}\nauthor ${by}\ncommitter ${by}\ndata ${text.length}\n`
  const parts = Object.entries(files).flatMap(([path, file]) => {
    if (file === null) return [Buffer.from(`D ${quoted(path)}\n`)]
    const { mode, content } = typeof file === 'string' ? { mode: '100644', content: file } : file
    if (mode === '160000') return [Buffer.from(`M ${mode} ${content} ${quoted(path)}\n`)]
    const bytes = Buffer.from(content as string)
    return [Buffer.from(`M ${mode} inline ${quoted(path)}\ndata ${bytes.length}\n`), bytes, Buffer.from('\n')]
  })
  const from = Buffer.from(head === undefined ? '\n' : `\nfrom ${head}\n`)
  return Buffer.concat([Buffer.from(start), text, from, ...parts])
}

const quoted = (path: string) => `"${path.replace(/["\\]/g, '\\$&').replace(/\n/g, '\\n')}"`

function treeLine(line: string): TreeLine {
  const [, mode = '', type = '', name = '', size = '', path = ''] =
    /^(\d+) (\w+) ([0-9a-f]+) +(\S+)\t([\s\S]*)$/.exec(line) ?? []
  return { path, mode, type, sha: name, size: size === '-' ? null : Number(size) }
}

const logFormat = '%x01%H%x00%T%x00%P%x00%an%x00%ae%x00%at%x00%cn%x00%ce%x00%ct%x00%B'

function commitsOf(output: Buffer | null): Commit[] {
  const entries = output?.toString().split('\x01').slice(1) ?? []
  return entries.map((entry) => {
    const [name = '', tree = '', parents = '', an = '', ae = '', at = '', cn = '', ce = '', ct = '', message = ''] =
      entry.split('\0')
    const date = (seconds: string) => new Date(Number(seconds) * 1000).toISOString().replace('.000', '')
    return {
      sha: name,
      tree,
      parents: parents.split(' ').filter(Boolean),
      author: { name: an, email: ae, date: date(at) },
      committer: { name: cn, email: ce, date: date(ct) },
      message: message.trimEnd(),
    }
  })
}

const diffArguments = ['--raw', '-z', '-p', '-M', '--no-abbrev', '--no-color', '--no-ext-diff', '--full-index']

/** The raw lines come first, then one patch a file in the same order; a file of another type has two. */
function changesOf(output: string): ChangedFile[] {
  const start = output.indexOf('\0\0')
  const fields = (start === -1 ? output : output.slice(0, start)).split('\0').filter(Boolean)
  const patches = start === -1 ? [] : output.slice(start + 2).split(/^(?=diff --git )/m)
  const found: ChangedFile[] = []
  while (fields.length > 0) {
    const [, , from = '', to = '', letter = ''] = (fields.shift() ?? '').slice(1).split(' ')
    const kind = letter.slice(0, 1)
    const previous_path = kind === 'R' || kind === 'C' ? (fields.shift() ?? null) : null
    const path = fields.shift() ?? ''
    const text = patches.splice(0, kind === 'T' ? 2 : 1).join('')
    const at = text.search(/^@@ /m)
    const patch = at === -1 ? null : text.slice(at).replace(/\n$/, '')
    const count = (sign: string) => patch?.split('\n').filter((line) => line.startsWith(sign)).length ?? 0
    found.push({
      path,
      previous_path,
      status: statuses[kind] ?? 'modified',
      sha: kind === 'D' ? from : to,
      additions: count('+'),
      deletions: count('-'),
      patch,
    })
  }
  return found
}

const statuses: Readonly<Record<string, ChangedFile['status']>> = {
  A: 'added',
  D: 'removed',
  M: 'modified',
  R: 'renamed',
  C: 'added',
  T: 'changed',
}
