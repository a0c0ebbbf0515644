// Memory of the local engine after a million steps.
import { existsSync, readFileSync } from 'node:fs'
import autocannon from 'autocannon'
import { startServe } from '../support/engine/serve.js'
import type { Row } from './main.js'
import { step } from './policies.js'

const steps = 1_000_000
const tasks = 10_000
const connections = 16
const what = 'memory of serve after 1 million steps in 10,000 tasks'
const bar = '≤ 300 MiB'

export async function benchMemory(): Promise<Row[]> {
  const serve = await startServe(['--baseline', '--log-location', 'none'])
  const status = `/proc/${serve.pid}/status`
  if (!existsSync(status)) {
    await serve.discard()
    return [{ what, measured: 'skipped: needs /proc', reference: '–', ratio: '–', bar }]
  }
  let sent = 0
  const next = () => JSON.stringify({ step: { ...step, task_id: `task ${sent++ % tasks}` } })
  const result = await autocannon({
    url: `${serve.url}/record`,
    connections,
    amount: steps,
    requests: [
      {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        setupRequest: (request) => ({ ...request, body: next() }),
      },
    ],
  })
  const resident = Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(status, 'utf8'))?.[1]) / 1024
  await serve.discard()
  if (result['2xx'] !== steps) throw new Error(`${result['2xx']} of ${steps} steps were taken`)
  return [{ what, measured: `${Math.round(resident)} MiB at most`, reference: '–', ratio: '–', bar }]
}
