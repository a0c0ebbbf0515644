// The local engine as users run it: the built command in a separate process, over real HTTP.
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type IncomingHttpHeaders, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createChecker } from '@svc/engine/parts'
import { documents, type Problem } from '@svc/schemas'
import { runSvc as runToEnd } from '../cli/svc.js'

const root = import.meta.url.includes('/test/dist/') ? '../../../../' : '../../../'
const program = fileURLToPath(new URL(`${root}cli/bin/svc.js`, import.meta.url))
const checker = createChecker(Object.values(documents))

interface ServeAnswer<T> {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: T
}

export interface ServeCall {
  readonly body?: unknown
  /** Sent as it is instead of `body`. */
  readonly raw?: string | Uint8Array
  /** Override the default headers; null removes one. */
  readonly headers?: Readonly<Record<string, string | null>>
}

export interface Serve {
  readonly url: string
  readonly port: number
  readonly pid: number | undefined
  readonly folder: string
  readonly post: <T>(path: string, body: unknown) => Promise<ServeAnswer<T>>
  readonly call: <T = Problem>(method: string, path: string, call?: ServeCall) => Promise<ServeAnswer<T>>
  /** Everything printed so far. */
  readonly printed: () => { readonly out: string; readonly err: string }
  /** The lines of the trace that are on disk. */
  readonly trace: () => TraceRow[]
  readonly signal: (signal: NodeJS.Signals) => void
  /** Resolves with the exit code. */
  readonly ended: Promise<number | null>
  /** Ends it and removes its files. */
  readonly discard: () => Promise<void>
  /** Kills it and starts it again in the same folder; use the returned one from then on. */
  readonly restart: () => Promise<Serve>
}

/** A line of the trace. Its members are not typed: each test states the ones that it expects. */
type TraceRow = Record<string, unknown> & { readonly kind: string; readonly meta?: Record<string, unknown> }

/** A new folder with these files. */
export function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-serve-'))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return folder
}

/** Runs `svc` to its end. */
export async function runSvc(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const isServer = args[0] === 'serve'
  const folder = isServer ? folderWith({}) : undefined
  const { code, stdout: out, stderr: err } = await runToEnd(args, env, '', folder)
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
  return { code, out, err }
}

/** Starts `svc serve` on a free port, in a folder with these files. Rejects with its output when it ends instead. */
export async function startServe(
  args: readonly string[],
  files: Readonly<Record<string, string>> = {},
  env: Readonly<Record<string, string>> = {},
): Promise<Serve> {
  return startIn(folderWith(files), args, env)
}

async function startIn(folder: string, args: readonly string[], env: Readonly<Record<string, string>>): Promise<Serve> {
  const { child, printed, ended } = start(['serve', '--port', '0', ...args], env, folder)
  const url = await new Promise<string>((resolve, reject) => {
    const look = () => {
      const { out, err } = printed()
      const found = /at (http:\/\/\S+)\n/.exec(out + err)?.[1]
      if (found !== undefined) resolve(found)
    }
    child.stdout?.on('data', look)
    child.stderr?.on('data', look)
    ended.then((code) => reject(new Error(`svc serve ended with ${code}: ${JSON.stringify(printed())}`)))
  })
  const call = <T>(method: string, path: string, what?: ServeCall) => send<T>(url, method, path, what)
  let is_continued = false
  return {
    url,
    port: Number(new URL(url).port),
    pid: child.pid,
    folder,
    post: (path, body) => call('POST', path, { body }),
    call,
    printed,
    trace: () => linesOf(join(folder, 'data', 'traces.jsonl')),
    signal: (signal) => child.kill(signal),
    ended,
    discard: async () => {
      child.kill('SIGKILL')
      await ended
      // A process that continues in the folder discards it.
      if (!is_continued) rmSync(folder, { recursive: true, force: true })
    },
    restart: async () => {
      is_continued = true
      child.kill('SIGKILL')
      await ended
      return startIn(folder, args, env)
    },
  }
}

function start(args: readonly string[], env: Readonly<Record<string, string>>, cwd: string) {
  const child: ChildProcess = spawn(process.execPath, [program, ...args], {
    cwd,
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const texts = { out: '', err: '' }
  child.stdout?.on('data', (chunk: Buffer) => {
    texts.out += chunk.toString()
  })
  child.stderr?.on('data', (chunk: Buffer) => {
    texts.err += chunk.toString()
  })
  const ended = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)))
  return { child, printed: () => ({ ...texts }), ended }
}

function linesOf(path: string): TraceRow[] {
  const text = readFileSync(path, 'utf8')
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as TraceRow)
}

const answers: Readonly<Record<string, string>> = {
  '/health': 'engine-health',
  '/evaluate': 'evaluation',
  '/record': 'recorded-step',
  '/end_task': 'ended-task',
  '/release': 'released-reservation',
  '/reload': 'engine-health',
  '/readyz': 'readiness',
  '/register_agent': 'local-registration',
}

/** One request; every answer is checked against its schema. */
function send<T>(url: string, method: string, path: string, { body, raw, headers }: ServeCall = {}) {
  const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body))
  const sent = { ...(payload !== undefined && { 'content-type': 'application/json' }), ...headers }
  const kept = Object.entries(sent).filter((entry): entry is [string, string] => entry[1] !== null)
  return new Promise<ServeAnswer<T>>((resolve, reject) => {
    const outgoing = request(url + path, { method, headers: Object.fromEntries(kept), agent: false }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
      })
      response.on('error', reject)
      response.on('end', () => {
        const status = response.statusCode ?? 0
        const answer = JSON.parse(text) as T
        const minimal = response.headers['preference-applied'] === 'return=minimal'
        const expected = minimal ? 'minimal-evaluation' : answers[path]
        const name = status === 200 || path === '/readyz' ? expected : 'problem'
        const problems = name === undefined ? [] : checker(`${name}.json`)(answer)
        if (problems.length > 0) reject(new Error(`${path} ${status}: not a \`${name}\`: ${JSON.stringify(problems)}`))
        else resolve({ status, headers: response.headers, body: answer })
      })
    })
    outgoing.on('error', reject)
    outgoing.end(payload)
  })
}
