// Repeated kill -9 during an import: every acknowledged step is stored once, and every chain verifies.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseCheckpoint, parseNote, verifyConsistency } from '@svc/proof'
import type { BatchAnswer, ConsistencyProof, LogCheckpoint, LoggedStep, TaskChain, Verification } from '@svc/schemas'
import { describe, expect, it, vi } from 'vitest'
import { freePort, sharedPostgres } from '../support/server/postgres.js'
import { type PlatformProcess, startProcess } from '../support/server/process.js'
import { soon } from '../support/server/soon.js'

const postgres = await sharedPostgres()

const cycles = Number(process.env.SVC_CRASH_CYCLES ?? 10)
const writers = 8
const stepsPerTask = 40

describe.each([
  { kind: 'pglite', database: () => ({}) },
  ...(postgres === null
    ? []
    : [{ kind: 'postgresql', database: () => ({ SVC_DATABASE_URL: postgres.freshDatabase() }) }]),
])('on $kind', ({ database }) => {
  it(`stores every acknowledged step once in ${cycles} crashes`, async () => {
    const data_dir = mkdtempSync(join(tmpdir(), 'svc-crash-'))
    const port = String(await freePort())
    const env = { SVC_DATA_DIR: data_dir, SVC_PORT: port, SVC_CHECKPOINT_SECONDS: '1', ...database() }
    const acknowledged = new Map<string, LoggedStep>()
    let sent = 0
    let seen: LogCheckpoint | null = null
    let platform = await startProcess(env)
    await request(platform, 'POST', '/api/v1/agents', { agent_key: 'importer' })
    for (let cycle = 0; cycle < cycles; cycle++) {
      const before = acknowledged.size
      let stop = false
      const work = Array.from({ length: writers }, (_, writer) =>
        write(
          platform,
          `${cycle}-${writer}`,
          acknowledged,
          () => stop,
          () => sent++,
        ),
      )
      // The crash comes after some acknowledged steps of this cycle, while others are in progress.
      await until(() => acknowledged.size >= before + 60 + cycle * 10)
      await platform.kill9()
      stop = true
      await Promise.all(work)
      platform = await startProcess(env)
      await checkAll(platform, acknowledged)
      seen = await laterCheckpoint(platform, seen)
    }
    await platform.terminate()
    rmSync(data_dir, { recursive: true, force: true })
    console.log(
      `${cycles} crashes, ${sent} requests sent, ${acknowledged.size} steps acknowledged, 0 lost, 0 doubled; ${seen?.size} signed for`,
    )
  })
})

/** Writes tasks in small batches, until it is stopped or the platform is down. */
async function write(
  platform: PlatformProcess,
  name: string,
  acknowledged: Map<string, LoggedStep>,
  stopped: () => boolean,
  count: () => void,
): Promise<void> {
  for (let task = 0; !stopped(); task++) {
    for (let step = 1; step <= stepsPerTask && !stopped(); step += 4) {
      const entries = [0, 1, 2, 3].map((more) => entry(`${name}-${task}`, step + more))
      count()
      const answer = await request<BatchAnswer>(platform, 'POST', '/api/v1/logs/batch', { entries }).catch(() => null)
      if (answer === null) return
      for (const { entry: logged } of answer.results)
        if (logged !== undefined) acknowledged.set(`${logged.task_id} ${logged.step}`, logged)
    }
  }
}

function entry(task_id: string, step: number) {
  const step_type = step === 1 ? 'START_NODE' : step === stepsPerTask ? 'END_NODE' : 'step.resource'
  return {
    task_id,
    step,
    step_type,
    timestamp: new Date(Date.UTC(2026, 0, 5) + step * 1000).toISOString(),
    input: { step },
  }
}

/** Asserts that every acknowledged step is stored once with its log index and hash, and that a retry gets the same answer. */
async function checkAll(platform: PlatformProcess, acknowledged: ReadonlyMap<string, LoggedStep>): Promise<void> {
  const tasks = new Set([...acknowledged.values()].map((step) => step.task_id))
  for (const task_id of tasks) {
    const verdict = await request<Verification>(platform, 'GET', `/api/v1/tasks/${task_id}/verify`)
    expect(verdict.integrity).toEqual({ ok: true, first_bad: null })
    expect(verdict.sequence.issues).toEqual([])
    const chain = await request<TaskChain>(platform, 'GET', `/api/v1/tasks/${task_id}/chain`)
    const stored = chain.entries.map((found) => `${found.step} ${found.seq} ${found.hash} ${found.log_id}`)
    expect(new Set(chain.entries.map((found) => found.step)).size).toBe(chain.entries.length)
    const expected = [...acknowledged.values()].filter((step) => step.task_id === task_id)
    for (const step of expected) expect(stored).toContain(`${step.step} ${step.seq} ${step.hash} ${step.log_id}`)
  }
  const [sample] = [...acknowledged.values()].slice(-1)
  if (sample === undefined) throw new Error('nothing was acknowledged before the crash')
  expect(await request(platform, 'POST', '/api/v1/logs', entry(sample.task_id, sample.step))).toEqual(sample)
}

/** The checkpoint after a crash, which is not smaller than the last one and proven to continue it. */
async function laterCheckpoint(platform: PlatformProcess, seen: LogCheckpoint | null): Promise<LogCheckpoint> {
  const now = await vi.waitFor(async () => {
    const found = await request<LogCheckpoint>(platform, 'GET', '/api/v1/log/checkpoint')
    expect(found.size).toBeGreaterThan(seen?.size ?? 0)
    return found
  }, soon)
  const text = parseNote(now.note)?.text ?? ''
  expect(parseCheckpoint(text)).toMatchObject({ size: now.size, root: Buffer.from(now.root, 'hex') })
  if (seen === null) return now
  expect(now.key).toBe(seen.key)
  const path = `/api/v1/log/proof/consistency?first=${seen.size}&second=${now.size}`
  const { proof } = await request<ConsistencyProof>(platform, 'GET', path)
  const bytes = (hex: string) => Buffer.from(hex, 'hex')
  expect(verifyConsistency(seen.size, now.size, proof.map(bytes), bytes(seen.root), bytes(now.root))).toBe(true)
  return now
}

async function request<T>(platform: PlatformProcess, method: string, path: string, body?: unknown): Promise<T> {
  const headers = { authorization: `Bearer ${platform.api_key}`, 'content-type': 'application/json' }
  const response = await fetch(platform.url + path, {
    method,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`)
  return (await response.json()) as T
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5))
}
