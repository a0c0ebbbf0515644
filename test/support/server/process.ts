// The built platform in a separate process, which can be killed.
import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const program = (levels: string) => fileURLToPath(new URL(`${levels}app/bin/svc-platform.js`, import.meta.url))
const root = import.meta.url.includes('/test/dist/') ? '../../../../' : '../../../'

export interface PlatformProcess {
  readonly url: string
  readonly pid: number
  readonly api_key: string
  readonly operator_token: string
  /** Its output so far. */
  readonly printed: string
  /** Ends it with SIGKILL, like a crash. */
  readonly kill9: () => Promise<void>
  /** Ends it with SIGTERM; resolves with the exit code. */
  readonly terminate: () => Promise<number | null>
}

/** Starts the platform and waits until it prints its address. Rejects with its output when it ends instead. */
export function startProcess(env: Readonly<Record<string, string>>): Promise<PlatformProcess> {
  const child = spawn(process.execPath, [program(root), 'start'], {
    env: { PATH: process.env.PATH, SVC_LOG_LEVEL: 'error', ...keyFor(env), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)))
  let printed = ''
  let isReady = false
  return new Promise((resolve, reject) => {
    const read = (chunk: Buffer) => {
      printed += chunk.toString()
      const url = /running at (http:\S+)/.exec(printed)?.[1]
      // Later output comes when the data directory may be removed.
      if (isReady || !printed.includes('API description') || url === undefined) return
      isReady = true
      const { api_key, operator_token } = credentialsIn(env.SVC_DATA_DIR ?? 'data')
      resolve({
        url,
        pid: child.pid ?? 0,
        api_key: api_key ?? '',
        operator_token: env.SVC_OPERATOR_TOKEN ?? operator_token,
        get printed() {
          return printed
        },
        kill9: () => end(child, 'SIGKILL', ended).then(() => undefined),
        terminate: () => end(child, 'SIGTERM', ended),
      })
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    ended.then((code) => reject(new Error(`the platform ended with ${code}: ${printed}`)))
  })
}

function credentialsIn(data_dir: string): { api_key: string | null; operator_token: string } {
  return JSON.parse(readFileSync(join(data_dir, 'credentials.json'), 'utf8'))
}

/** Processes of one server share an encryption key; tests of keys set their own. */
export const serverKey = Buffer.alloc(32, 7).toString('base64')

function keyFor({ SVC_DATABASE_URL }: Readonly<Record<string, string>>): Record<string, string> {
  return SVC_DATABASE_URL === undefined ? {} : { SVC_ENCRYPTION_KEY: serverKey }
}

function end(child: ChildProcess, signal: NodeJS.Signals, ended: Promise<number | null>): Promise<number | null> {
  child.kill(signal)
  return ended
}

/** Runs another command of the platform to its end. */
export function runPlatform(args: readonly string[], env: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, [program(root), ...args], { env: { PATH: process.env.PATH, ...env } })
  const printed = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    child[name].on('data', (chunk: Buffer) => {
      printed[name] += chunk.toString()
    })
  return new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) =>
    child.once('close', (code) => resolve({ code, ...printed })),
  )
}
