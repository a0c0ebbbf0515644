// `svc serve` as its users run it: the built program, on a free port.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { createChecker } from '@svc/engine'
import { documents } from '@svc/schemas'

const program = fileURLToPath(
  new URL(
    import.meta.url.includes('/test/dist/') ? '../../../engine/bin/svc.js' : '../../engine/bin/svc.js',
    import.meta.url,
  ),
)

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface Serving {
  readonly url: string
  readonly stderr: () => string
  readonly send: (
    path: string,
    raw: string | Uint8Array | null,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<{ status: number; body: Record<string, unknown> }>
  readonly post: <T = Record<string, unknown>>(path: string, body: unknown) => Promise<T>
  readonly stop: (signal?: NodeJS.Signals) => Promise<Ended>
}

/** Runs `svc` with these arguments to its end. */
export function runSvc(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  cwd?: string,
): Promise<Ended> {
  return spawnSvc(args, env, cwd).ended
}

function spawnSvc(args: readonly string[], env: Readonly<Record<string, string>>, cwd: string | undefined) {
  const child = spawn(process.execPath, [program, ...args], {
    env: { PATH: process.env.PATH, ...env },
    ...(cwd !== undefined && { cwd }),
  })
  const out = { stdout: '', stderr: '' }
  child.stdout.on('data', (chunk: Buffer) => {
    out.stdout += chunk.toString()
  })
  child.stderr.on('data', (chunk: Buffer) => {
    out.stderr += chunk.toString()
  })
  const ended = new Promise<Ended>((resolve) => child.once('close', (code) => resolve({ code, ...out })))
  return { child, out, ended }
}

const answers: Readonly<Record<string, string>> = {
  '/health': 'engine-health',
  '/evaluate': 'evaluation',
  '/record': 'recorded-step',
  '/end_task': 'ended-task',
  '/register_agent': 'local-registration',
}
const checker = createChecker(Object.values(documents))

/** Starts serving; every answer is checked against its schema. Rejects with what was printed when it ends instead. */
export async function serve(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Serving> {
  const { child, out, ended } = spawnSvc(['serve', '--port', '0', ...args], env, undefined)
  const url = await new Promise<string>((resolve, reject) => {
    const look = () => {
      const found = /at (http:\S+)/.exec(out.stdout + out.stderr)?.[1]
      if (found !== undefined) resolve(found)
    }
    child.stdout.on('data', look)
    child.stderr.on('data', look)
    ended.then(({ code, stderr }) => reject(new Error(`svc serve ended with ${code}: ${stderr}`)))
  })
  const send: Serving['send'] = async (path, raw, headers = {}) => {
    const response = await fetch(
      url + path,
      raw === null
        ? {}
        : { method: 'POST', body: raw as string, headers: { 'content-type': 'application/json', ...headers } },
    )
    const body = (await response.json()) as Record<string, unknown>
    const name = response.ok ? (answers[path] ?? '') : 'problem'
    const problems = checker(`${name}.json`)(body)
    if (problems.length > 0)
      throw new Error(`${path} ${response.status}: not a \`${name}\`: ${JSON.stringify(problems)}`)
    return { status: response.status, body }
  }
  const post = async <T>(path: string, body: unknown) => {
    const answer = await send(path, JSON.stringify(body))
    if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`)
    return answer.body as T
  }
  const stop = (signal: NodeJS.Signals = 'SIGTERM') => {
    child.kill(signal)
    return ended
  }
  return { url, stderr: () => out.stderr, send, post, stop }
}
