// The command `svc`: in this process, and the built one in a separate process.
import { type ChildProcess, spawn } from 'node:child_process'
import { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'

const root = import.meta.url.includes('/test/dist/') ? '../../../../' : '../../../'
const program = fileURLToPath(new URL(`${root}cli/bin/svc.js`, import.meta.url))

export interface Finished {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface Running {
  readonly child: ChildProcess
  readonly finished: Promise<Finished>
}

/** Starts `svc` without the environment of this process, except PATH. */
export function startSvc(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  stdin?: string | Uint8Array,
  cwd?: string,
): Running {
  const child = spawn(process.execPath, [program, ...args], { cwd, env: { PATH: process.env.PATH, ...env } })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  // A program that rejects its arguments does not read its input.
  child.stdin.on('error', () => undefined)
  child.stdin.end(stdin ?? '')
  const finished = new Promise<Finished>((resolve) => child.once('close', (code) => resolve({ code, stdout, stderr })))
  return { child, finished }
}

/** Runs `svc` to its end: in this process, which takes a tenth of the time, but for commands that serve. */
export async function runSvc(...call: Parameters<typeof startSvc>): Promise<Finished> {
  const [args, env, stdin = '', cwd] = call
  if (servers.includes(args[0] ?? '')) return startSvc(...call).finished
  if (cwd !== undefined && cwd !== process.cwd()) return inFolder(cwd, () => runSvc(args, env, stdin))
  // Loaded here: built programs such as `npm run bench` start commands in processes only.
  const [{ calledAs }, { main }] = await Promise.all([
    import('../../../cli/called-as.js'),
    import('../../../cli/main.js'),
  ])
  const PATH = process.env.PATH ?? ''
  const [out, err] = [collector(), collector()]
  let code = 0
  await main(args, {
    svc: calledAs({ program, cwd: process.cwd(), path: PATH }),
    env: { PATH, ...env },
    stdin: Readable.from([Buffer.from(stdin)]),
    stdout: out.stream,
    stderr: err.stream,
    exit: (given) => {
      code = given
    },
  })
  return { code, stdout: out.text(), stderr: err.text() }
}

/** Commands that serve until a signal ends their process. */
const servers = ['serve', 'witness']

let lastInFolder: Promise<unknown> = Promise.resolve()

/** Runs the work in another current folder, one at a time. */
function inFolder<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const before = process.cwd()
  const run = lastInFolder.then(async () => {
    process.chdir(folder)
    try {
      return await work()
    } finally {
      process.chdir(before)
    }
  })
  lastInFolder = run.catch(() => undefined)
  return run
}

/** A stream that keeps what is written. */
function collector() {
  const chunks: Buffer[] = []
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      chunks.push(chunk)
      done()
    },
  })
  return { stream, text: () => Buffer.concat(chunks).toString() }
}

export interface Login {
  /** The page where a person approves; its `user_code` is the printed code. */
  readonly address: URL
  readonly finished: Promise<Finished>
}

/** Starts `svc login`, and waits until it prints the page where a person approves. */
export function startLogin(args: readonly string[], env: Readonly<Record<string, string>>): Promise<Login> {
  const { child, finished } = startSvc(['login', ...args], env)
  let printed = ''
  return new Promise((resolve, reject) => {
    child.stdout?.on('data', (text: string) => {
      printed += text
      const [, address, code] = /open (http\S+)\n.* shows ([B-Z]{4}-[B-Z]{4}),/.exec(printed) ?? []
      if (address !== undefined && new URL(address).searchParams.get('user_code') === code)
        resolve({ address: new URL(address), finished })
    })
    finished.then(({ stderr }) => reject(new Error(`svc login has ended: ${stderr}`)))
  })
}
