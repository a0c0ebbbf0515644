// The first `npm start` on an empty data directory, compared with PGlite creating an empty database.
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Row } from './main.js'

const rounds = 3
const root = fileURLToPath(new URL(import.meta.url.includes('/test/dist/') ? '../../../' : '../../', import.meta.url))

interface Start {
  readonly seconds: number
  /** Peak memory of the process, MiB; NaN where the system does not report it. */
  readonly memory: number
}

const bareProgram = `
  const { PGlite } = await import('@electric-sql/pglite')
  const db = await PGlite.create(process.argv[1])
  console.log('ready')
  setInterval(() => {}, 1000)
`

export async function benchFirstStart(): Promise<Row[]> {
  const own: Start[] = []
  const bare: Start[] = []
  for (let round = 0; round < rounds; round++) {
    own.push(await first('npm', () => ['start'], 'API description'))
    bare.push(await first(process.execPath, (folder) => ['--input-type=module', '-e', bareProgram, folder], 'ready'))
  }
  const row = (what: string, of: (start: Start) => number, unit: string): Row => {
    const [measured, reference] = [median(own.map(of)), median(bare.map(of))]
    return {
      what: `first npm start on an empty folder, ${what}`,
      measured: `${measured.toFixed(1)} ${unit}`,
      reference: `bare PGlite.create ${reference.toFixed(1)} ${unit}`,
      ratio: (measured / reference).toFixed(2),
      bar: '≤ 1',
    }
  }
  return [row('time', ({ seconds }) => seconds, 's'), row('memory', ({ memory }) => memory, 'MiB')]
}

/** Runs the command until it prints that it is ready, then ends it. */
async function first(command: string, args: (folder: string) => readonly string[], ready: string): Promise<Start> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-start-'))
  const began = performance.now()
  const child = spawn(command, args(join(folder, 'data')), {
    cwd: root,
    env: { ...process.env, SVC_DATA_DIR: join(folder, 'data'), SVC_PORT: '0', SVC_LOG_LEVEL: 'error' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise((resolve) => child.once('close', resolve))
  await new Promise<void>((resolve) => {
    let printed = ''
    child.stdout.on('data', (chunk: Buffer) => {
      printed += chunk.toString()
      if (printed.includes(ready)) resolve()
    })
    child.once('close', resolve)
  })
  const seconds = (performance.now() - began) / 1000
  const lock = join(folder, 'data', 'lock')
  const pid = existsSync(lock) ? Number.parseInt(readFileSync(lock, 'utf8'), 10) : child.pid
  const memory = peakOf(pid)
  child.kill('SIGTERM')
  await ended
  rmSync(folder, { recursive: true, force: true })
  return { seconds, memory }
}

function peakOf(pid: number | undefined): number {
  const status = `/proc/${pid}/status`
  if (!existsSync(status)) return Number.NaN
  return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(status, 'utf8'))?.[1]) / 1024
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0
}
