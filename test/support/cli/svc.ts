// The built command `svc` in a separate process.
import { type ChildProcess, spawn } from 'node:child_process'
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

export function runSvc(...call: Parameters<typeof startSvc>): Promise<Finished> {
  return startSvc(...call).finished
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
