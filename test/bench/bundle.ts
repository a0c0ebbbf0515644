// A bundle of 100,000 entries: how long it takes to make, how much memory, and how long to verify.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { LogCheckpoint } from '@svc/schemas'
import { startPostgres } from '../support/server/postgres.js'
import type { PlatformProcess } from '../support/server/process.js'
import { entry, post, startBench } from './logs.js'
import type { Row } from './main.js'

const entries = 100_000
const perTask = 500
const root = import.meta.url.includes('/test/dist/') ? '../../../' : '../../'
const file = (path: string) => fileURLToPath(new URL(`${root}${path}`, import.meta.url))

export async function benchBundle(): Promise<Row[]> {
  const postgres = await startPostgres()
  if (postgres === null) return []
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-bundle-'))
  const { platform, stop } = await startBench({
    SVC_DATABASE_URL: postgres.emptyDatabase(),
    SVC_CHECKPOINT_SECONDS: '1',
  })
  try {
    for (let task = 0; task < entries / perTask; task++) {
      const steps = Array.from({ length: perTask }, (_, index) => entry(`task-${task}`, index + 1))
      await post(platform, '/api/v1/logs/batch', { entries: steps })
    }
    const { key } = await wholeCheckpoint(platform)
    const [bundle, trust] = [join(folder, 'bundle.zip'), join(folder, 'trust.policy')]
    writeFileSync(trust, `log ${key}\n`)
    const started = performance.now()
    const bytes = Buffer.from(await (await read(platform, '/api/v1/log/bundle')).arrayBuffer())
    const made = (performance.now() - started) / 1000
    writeFileSync(bundle, bytes)
    const memory = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${platform.pid}/status`, 'utf8'))?.[1]
    const row = (what: string, measured: string, bar: string): Row => ({
      what,
      measured,
      reference: '–',
      ratio: '–',
      bar,
    })
    const timed = (command: string, ...args: string[]) => {
      const begun = performance.now()
      const { status, stdout } = spawnSync(
        command,
        [...args, bundle, ...(command === 'python3' ? [trust] : ['--trust', trust])],
        { encoding: 'utf8' },
      )
      if (status !== 0) throw new Error(`the bundle is not valid: ${stdout}`)
      return `${((performance.now() - begun) / 1000).toFixed(1)} s`
    }
    return [
      row(
        `bundle of ${entries} entries, ${(bytes.length / 2 ** 20).toFixed(0)} MiB, PostgreSQL`,
        `${made.toFixed(1)} s`,
        '< 30 s',
      ),
      row('memory of the platform that made it', `${(Number(memory) / 1024).toFixed(0)} MiB`, '≤ 512 MiB'),
      row('svc verify of it', timed(process.execPath, file('cli/bin/svc.js'), 'verify'), '–'),
      row('the second verifier', timed('python3', '-B', file('test/proof/verifier/verify.py')), '–'),
    ]
  } finally {
    await stop()
    await postgres.remove()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function read({ url, operator_token }: PlatformProcess, path: string): Promise<Response> {
  const response = await fetch(url + path, { headers: { authorization: `Bearer ${operator_token}` } })
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`)
  return response
}

async function wholeCheckpoint(platform: PlatformProcess): Promise<LogCheckpoint> {
  for (;;) {
    const latest = (await (await read(platform, '/api/v1/log/checkpoint')).json()) as LogCheckpoint
    if (latest.size >= entries) return latest
    await sleep(500)
  }
}
