// The command of a demonstration: options, signals, and a company that is removed at the end.
import { execFileSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { printable } from '@svc/proof'
import type { Company } from './company.js'

interface Demonstration {
  /** Of the script in package.json. */
  readonly name: string
  /** `port`: of `--port`; 0 for any. */
  readonly open: (port: number) => Promise<Company>
  readonly tell: (company: Company, isOnce: boolean) => Promise<void>
}

/** Opens, tells, and waits until a person stops it, but not with `--once`. Ends the process. */
export async function runDemonstration(demonstration: Demonstration): Promise<never> {
  const state = { isStopped: false }
  const stopRequested = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const)
      process.on(signal, () => {
        state.isStopped = true
        resolve()
      })
  })
  process.exitCode = await run(demonstration, stopRequested).catch((error: unknown) => {
    // Ctrl+C ends the processes of an unfinished start too, which then fails.
    if (state.isStopped) return 0
    process.stderr.write(`the demonstration has stopped: ${printable(messageOf(error))}\n`)
    return 1
  })
  // A wait may still be in progress.
  process.exit()
}

async function run({ name, open, tell }: Demonstration, stopRequested: Promise<void>): Promise<number> {
  const given = givenOptions(`usage: npm run ${name} -- [--once] [--port N]`)
  if (given === null) return 2
  const company = await open(given.port)
  try {
    await Promise.race([tell(company, given.once), stopRequested])
    if (!given.once) await stopRequested
  } finally {
    await company.close()
  }
  return 0
}

/** Null, with a message, for wrong options and a machine without git. */
function givenOptions(usage: string): { readonly once: boolean; readonly port: number } | null {
  const reject = (problem: string) => {
    process.stderr.write(`${problem}\n`)
    return null
  }
  try {
    execFileSync('git', ['merge-tree', '-h'], { stdio: 'ignore' })
  } catch (error) {
    if ((error as { readonly code?: string }).code === 'ENOENT')
      return reject('the demonstration needs git: install it, and run this command again')
  }
  try {
    const { values } = parseArgs({ options: { once: { type: 'boolean' }, port: { type: 'string', default: '0' } } })
    const port = Number(values.port)
    if (/^\d{1,5}$/.test(values.port) && port < 65_536) return { once: values.once === true, port }
    return reject(`\`--port\` must be a number from 0 to 65535, found \`${printable(values.port)}\`\n${usage}`)
  } catch (error) {
    return reject(`${printable(messageOf(error))}\n${usage}`)
  }
}

function messageOf(error: unknown): string {
  const { code, port, message } = error as { readonly code?: string; readonly port?: number; readonly message?: string }
  if (code === 'EADDRINUSE') return `port ${port} is in use: choose another one with \`--port\`, or leave it out`
  return message ?? String(error)
}

export function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
