// The local engine over HTTP against bare node:http answering the same bytes, and how long it takes to start.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import autocannon from 'autocannon'
import { stringify } from 'yaml'
import { startServe } from '../support/engine/serve.js'
import type { Row } from './main.js'
import { pastStep } from './past-steps.js'
import { agent, hundredPolicies, step } from './policies.js'

const connections = 16
const headers = { 'content-type': 'application/json' }
/** Each server is asked this many seconds, in turn, this many times; the median counts. */
const seconds = 3
const rounds = 3
const starts = 10

export async function benchServe(): Promise<Row[]> {
  return [await throughput(), await startTime()]
}

async function throughput(): Promise<Row> {
  const policies = hundredPolicies().map(({ name, rule_type, params, scope, severity, approval }) => {
    return { name, rule_type, params, scope, severity, ...(approval && { approval }) }
  })
  const files = { 'hundred.yaml': stringify({ name: 'hundred', version: '1', policies }) }
  const serve = await startServe(['--policy-file', 'hundred.yaml', '--log-location', 'none'], files)
  const context = { agent_id: 'a', task_id: 't', ...agent }
  for (let index = 0; index < 50; index++) await serve.post('/record', { step: { ...pastStep(index), task_id: 't' } })
  const body = JSON.stringify({ intended: step, context })
  const answer = await fetch(`${serve.url}/evaluate`, { method: 'POST', headers, body })
  if (answer.status !== 200) throw new Error(await answer.text())
  const bare = await startBare(await answer.text())
  const own: number[] = []
  const reference: number[] = []
  for (let round = 0; round < rounds; round++) {
    own.push(await rate(`${serve.url}/evaluate`, body))
    reference.push(await rate(bare.url, body))
  }
  bare.end()
  await serve.discard()
  return {
    what: `svc serve /evaluate, 100 policies, ${connections} connections`,
    measured: `${Math.round(median(own))} /s`,
    reference: `bare node:http, the same bytes ${Math.round(median(reference))} /s`,
    ratio: (median(own) / median(reference)).toFixed(2),
    bar: '≥ 0.5',
  }
}

async function rate(url: string, body: string): Promise<number> {
  const result = await autocannon({ url, connections, duration: seconds, method: 'POST', headers, body })
  if (result.non2xx > 0) throw new Error(`${result.non2xx} requests failed`)
  return result.requests.average
}

async function startBare(answer: string) {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bare-'))
  writeFileSync(join(folder, 'answer.json'), answer)
  const program = fileURLToPath(new URL('./bare-http.js', import.meta.url))
  const child: ChildProcess = spawn(process.execPath, [program, join(folder, 'answer.json')])
  const url = await new Promise<string>((resolve) => child.stdout?.once('data', (line) => resolve(String(line).trim())))
  const end = () => {
    child.kill()
    rmSync(folder, { recursive: true, force: true })
  }
  return { url, end }
}

async function startTime(): Promise<Row> {
  const own: number[] = []
  const reference: number[] = []
  for (let round = 0; round < starts; round++) {
    const before = performance.now()
    const serve = await startServe(['--baseline', '--log-location', 'none'])
    own.push(performance.now() - before)
    await serve.discard()
    const start = performance.now()
    execFileSync(process.execPath, ['-e', '0'])
    reference.push(performance.now() - start)
  }
  return {
    what: 'start of svc serve --baseline',
    measured: `${Math.round(median(own))} ms`,
    reference: `node -e 0 ${Math.round(median(reference))} ms`,
    ratio: (median(own) / median(reference)).toFixed(1),
    bar: '≤ 4',
  }
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0
}
