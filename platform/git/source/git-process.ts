// Runs Git: the only module of this room that starts a process. Each command gets an environment of its own, a time limit, an
// output limit and a process group, because Git leaves its helpers running when only Git itself is killed.
import { type ChildProcess, spawn } from 'node:child_process'
import { realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Limits } from './limits.js'
import { SourceError } from './source.js'

export interface GitCommand {
  readonly args: readonly string[]
  /** An existing folder. A repository around it is not read. */
  readonly cwd: string
  readonly settings?: readonly Setting[]
  /** The one protocol that Git may use; none without it. */
  readonly protocol?: 'https' | 'http' | 'file'
  /** A file of settings for the programs that Git starts; settings of the environment do not reach all of them. */
  readonly config_file?: string
  readonly input?: string
  /** Less than the limit of every command. */
  readonly timeoutMs?: number
  /** Called while the command runs; a returned error ends it. */
  readonly watch?: () => Promise<SourceError | null>
}

export interface GitOutput {
  readonly exit_code: number
  readonly stdout: Buffer
  /** The first 64 KiB. */
  readonly stderr: string
}

/** Name and value of a Git setting. They travel in the environment, which other users of the machine cannot read. */
export type Setting = readonly [name: string, value: string]

export interface GitProcess {
  /** Resolves with whatever exit code; rejects with SourceError when Git cannot be started or passes a limit. */
  readonly run: (command: GitCommand) => Promise<GitOutput>
  /** Ends all running commands. */
  readonly close: () => void
}

const watchMs = 250

/** Programs that configuration can name are disabled, and so is everything that needs no place in a bare copy. */
const baseSettings: readonly Setting[] = [
  ['core.hooksPath', '/dev/null'],
  ['core.fsmonitor', 'false'],
  ['core.askPass', ''],
  ['core.alternateRefsCommand', ''],
  ['core.attributesFile', '/dev/null'],
  // Larger blobs are not read into memory when a pack is checked.
  ['core.bigFileThreshold', '1m'],
  ['credential.helper', ''],
  // A proxy would resolve the name itself.
  ['http.proxy', ''],
  ['http.followRedirects', 'false'],
  ['http.emptyAuth', 'false'],
  ['http.lowSpeedLimit', '1'],
  ['http.lowSpeedTime', '60'],
  ['fetch.recurseSubmodules', 'false'],
  ['submodule.recurse', 'false'],
  // One pack for each fetch: nothing is unpacked to many small files.
  ['fetch.unpackLimit', '1'],
  ['fetch.writeCommitGraph', 'false'],
  ['transfer.bundleURI', 'false'],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  ['protocol.version', '2'],
]

/** `path`: the folders in which Git is looked for, as in the variable PATH. */
export function createGitProcess(path: string, limits: Pick<Limits, 'timeoutMs' | 'maxReadBytes'>): GitProcess {
  const running = new Set<ChildProcess>()
  return {
    run: (command) => runLimited(command, { path, limits, running }),
    close: () => {
      for (const child of running) killGroup(child)
    },
  }
}

interface Around {
  readonly path: string
  readonly limits: Pick<Limits, 'timeoutMs' | 'maxReadBytes'>
  readonly running: Set<ChildProcess>
}

async function runLimited(command: GitCommand, { path, limits, running }: Around): Promise<GitOutput> {
  const { cwd } = command
  const child = spawn('git', command.args, { cwd, env: environmentOf(command, path), detached: true, stdio: 'pipe' })
  running.add(child)
  let failure: SourceError | null = null
  const end = (error: SourceError) => {
    failure ??= error
    killGroup(child)
  }
  const timeoutMs = Math.min(limits.timeoutMs, command.timeoutMs ?? limits.timeoutMs)
  const timer = setTimeout(
    () => end(new SourceError('fetch_failed', `no answer within ${timeoutMs / 1000} s`)),
    timeoutMs,
  )
  const watcher = setInterval(() => {
    command.watch?.().then(
      (error) => error !== null && end(error),
      () => undefined,
    )
  }, watchMs)
  try {
    const output = collect(child, limits.maxReadBytes, end)
    child.stdin.on('error', () => undefined).end(command.input ?? '')
    const exit_code = await exitOf(child)
    if (failure !== null) throw failure
    return { exit_code, stdout: Buffer.concat(output.stdout), stderr: Buffer.concat(output.stderr).toString('utf8') }
  } finally {
    clearTimeout(timer)
    clearInterval(watcher)
    running.delete(child)
  }
}

function collect(child: ChildProcess, maxBytes: number, end: (error: SourceError) => void) {
  const stdout: Buffer[] = []
  const stderr: Buffer[] = []
  const lengths = { stdout: 0, stderr: 0 }
  child.stdout?.on('data', (chunk: Buffer) => {
    lengths.stdout += chunk.length
    if (lengths.stdout <= maxBytes) stdout.push(chunk)
    else
      end(new SourceError('too_large', `the repository holds more than ${maxBytes / 1024 / 1024} MiB to list or read`))
  })
  child.stderr?.on('data', (chunk: Buffer) => {
    lengths.stderr += chunk.length
    if (lengths.stderr <= 64 * 1024) stderr.push(chunk)
  })
  return { stdout, stderr }
}

/** The exit code once Git and its helpers, which share its output, have ended; 1 for an end by a signal. */
function exitOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.on('error', (error: NodeJS.ErrnoException) => {
      const missing = 'the command `git` is not installed on the server: install Git 2.37 or later'
      reject(new SourceError('fetch_failed', error.code === 'ENOENT' ? missing : `git does not start: ${error.code}`))
    })
    child.on('close', (code) => resolve(code ?? 1))
  })
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // The group has ended.
  }
}

/** Built from nothing: no variable of the platform reaches Git, and no file of the user or the system configures it. */
function environmentOf(
  { cwd, settings = [], protocol, config_file }: GitCommand,
  path: string,
): Record<string, string> {
  const all = [...baseSettings, ...settings]
  const numbered = all.flatMap(([name, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, name],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ])
  return {
    PATH: path,
    // Git and curl look for their files there (`.netrc`).
    HOME: '/nonexistent',
    LC_ALL: 'C',
    GIT_CEILING_DIRECTORIES: dirname(realpathSync(cwd)),
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_SYSTEM: '/dev/null',
    GIT_CONFIG_GLOBAL: config_file ?? '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: '',
    SSH_ASKPASS: '',
    GIT_ALLOW_PROTOCOL: protocol ?? 'none',
    GIT_PROTOCOL_FROM_USER: '0',
    GIT_NO_LAZY_FETCH: '1',
    // The maximum of one allocation: Git keeps trees, and the references of a host, in memory as a whole.
    GIT_ALLOC_LIMIT: '128m',
    GIT_CONFIG_COUNT: String(all.length),
    ...Object.fromEntries(numbered),
  }
}
