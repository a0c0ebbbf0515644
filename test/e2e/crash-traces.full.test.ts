// Repeated kill -9 while a client posts traces, and posts each request again until it is answered: all of it arrives, once.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type {
  EventList,
  IncidentList,
  IncidentOccurrenceList,
  TaskChain,
  TraceAnswer,
  Verification,
} from '@svc/schemas'
import { describe, expect, it, vi } from 'vitest'
import { freePort, sharedPostgres } from '../support/server/postgres.js'
import { type PlatformProcess, startProcess } from '../support/server/process.js'
import { soon, untilDone } from '../support/server/soon.js'

const postgres = await sharedPostgres()

const crashes = Number(process.env.SVC_CRASH_CYCLES ?? 5)
const writers = 4
const stepsPerTask = 12

describe.each([
  { kind: 'pglite', database: () => ({}) },
  ...(postgres === null
    ? []
    : [{ kind: 'postgresql', database: () => ({ SVC_DATABASE_URL: postgres.freshDatabase() }) }]),
])('on $kind', ({ database }) => {
  it(`nothing of a trace is lost or doubled in ${crashes} crashes`, async () => {
    const data_dir = mkdtempSync(join(tmpdir(), 'svc-crash-'))
    const env = { SVC_DATA_DIR: data_dir, SVC_PORT: String(await freePort()), ...database() }
    const run: Run = { platform: await startProcess(env), answered: [], sent: 0, isOver: false }
    await request(run.platform, 'POST', '/api/v1/agents', { agent_key: 'a', owner_id: 'o', purpose: 'p' })
    const policy_id = await violatedPolicy(run.platform)
    const work = Array.from({ length: writers }, (_, writer) => write(run, String(writer), policy_id))
    for (let crash = 1; crash <= crashes; crash++) {
      const before = run.answered.length
      await vi.waitFor(() => expect(run.answered.length).toBeGreaterThanOrEqual(before + 4 + crash), soon)
      await run.platform.kill9()
      run.platform = await startProcess(env)
    }
    run.isOver = true
    await Promise.all(work)
    for (const task_id of run.answered) await check(run.platform, task_id, policy_id)
    expect(run.sent).toBeGreaterThan(run.answered.length)
    await run.platform.terminate()
    rmSync(data_dir, { recursive: true, force: true })
  })
})

interface Run {
  platform: PlatformProcess
  /** The tasks whose trace was taken. */
  readonly answered: string[]
  sent: number
  isOver: boolean
}

/** Posts the traces of tasks one after the other, each until it is answered. */
async function write(run: Run, writer: string, policy_id: number): Promise<void> {
  for (let task = 0; !run.isOver; task++) {
    const task_id = `w${writer}-${task}`
    const body = traceOf(task_id, policy_id)
    await untilDone(() => take(run, body))
    run.answered.push(task_id)
  }
}

/** Every third step has no number, as a client without a count sends it. */
function traceOf(task_id: string, policy_id: number) {
  const steps = Array.from({ length: stepsPerTask }, (_, index) => ({
    task_id,
    step_type: index === 0 ? 'task.start' : index + 1 === stepsPerTask ? 'task.end' : 'step.exec',
    timestamp: new Date(Date.UTC(2026, 0, 5) + index * 1000).toISOString(),
    input: { index },
    ...(index % 3 !== 2 && { step: index + 1 }),
  }))
  const time = '2026-01-05T09:00:00Z'
  return {
    agent_key: 'a',
    steps,
    incidents: [{ policy_id, task_id, step: 2, evaluation_id: `e-${task_id}` }],
    unrecorded: [
      {
        task_id,
        evaluation_id: `u-${task_id}`,
        decided_at: time,
        outcome: 'allow',
        intended: { step_type: 'step.exec' },
      },
    ],
    gaps: [{ gap_id: `g-${task_id}`, task_id, steps: 1, from: time, to: time, reason: 'spool_full' }],
  }
}

/** Rejects when the platform does not answer, or not for each item. */
async function take(run: Run, body: object): Promise<void> {
  run.sent++
  const answer = await request<TraceAnswer>(run.platform, 'POST', '/api/v1/traces', body)
  const statuses = (Object.values(answer).flat() as { readonly status: number }[]).map(({ status }) => status)
  expect(statuses.filter((status) => status >= 300)).toEqual([])
}

async function check(platform: PlatformProcess, task_id: string, policy_id: number): Promise<void> {
  const verdict = await request<Verification>(platform, 'GET', `/api/v1/tasks/${task_id}/verify`)
  expect([task_id, verdict.valid, verdict.sequence.issues]).toEqual([task_id, true, []])
  const chain = await request<TaskChain>(platform, 'GET', `/api/v1/tasks/${task_id}/chain`)
  expect(chain.entries.map(({ step }) => step)).toEqual(Array.from({ length: stepsPerTask }, (_, index) => index + 1))
  for (const kind of ['step.unrecorded', 'trace.gap']) {
    const { events } = await request<EventList>(platform, 'GET', `/api/v1/events?subject=${task_id}&kind=${kind}`)
    expect([task_id, kind, events.length]).toEqual([task_id, kind, 1])
  }
  const query = `task_id=${task_id}&policy_id=${policy_id}`
  const { incidents } = await request<IncidentList>(platform, 'GET', `/api/v1/incidents?${query}`)
  const path = `/api/v1/incidents/${incidents[0]?.id}/occurrences`
  const { occurrences } = await request<IncidentOccurrenceList>(platform, 'GET', path)
  const reported = occurrences.filter(({ is_reported }) => is_reported)
  expect([incidents.length, occurrences.length, reported.length]).toEqual([1, stepsPerTask - 2, 1])
}

async function violatedPolicy(platform: PlatformProcess): Promise<number> {
  const step = { task_id: 'probe', step: 1, step_type: 'step.exec', timestamp: '2026-01-05T09:00:00Z' }
  const { results } = await request<TraceAnswer>(platform, 'POST', '/api/v1/traces', { agent_key: 'a', steps: step })
  return results[0]?.entry?.violations[0]?.policy_id ?? 0
}

/** The body of an answer with a status below 400; otherwise rejects. */
async function request<T>(platform: PlatformProcess, method: string, path: string, body?: object): Promise<T> {
  const token = method === 'POST' ? platform.api_key : platform.operator_token
  const response = await fetch(platform.url + path, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(30_000),
  })
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status}`)
  return (await response.json()) as T
}
