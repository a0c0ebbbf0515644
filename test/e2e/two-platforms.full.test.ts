// Two platform processes on one server under load: limits, scheduled jobs and notes of unfinished tasks count once; one of them
// is killed in the middle of its notes.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EventList, Verification } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { sharedPostgres } from '../support/server/postgres.js'
import { type PlatformProcess, startProcess } from '../support/server/process.js'
import { soon } from '../support/server/soon.js'

const postgres = await sharedPostgres()
const tasks = 2000
const mailboxLimit = 3
const operator_token = 'operator-token-of-both-processes-1'
const key = `SvcKey-${'s'.repeat(43)}`

describe.skipIf(postgres === null)('two platform processes on one server', () => {
  if (postgres === null) return
  const url = postgres.freshDatabase()
  const folders = [1, 2].map(() => mkdtempSync(join(tmpdir(), 'svc-two-')))
  const sql = (text: string) => postgres.psql(url, text)
  let processes: PlatformProcess[]
  const open = (which: number) =>
    startProcess({
      SVC_DATABASE_URL: url,
      SVC_DATA_DIR: folders[which] ?? '',
      SVC_PORT: '0',
      SVC_SEED_API_KEY: key,
      SVC_OPERATOR_TOKEN: operator_token,
      SVC_TASK_TIMEOUT_SECONDS: '1',
      SVC_CHECKPOINT_SECONDS: '1',
      SVC_RATE_LIMIT_MAILBOX: String(mailboxLimit),
      SVC_RATE_LIMIT_ADDRESS: '1000',
    })
  beforeAll(async () => {
    processes = [await open(0), await open(1)]
    await send(0, '/api/v1/agents', { agent_key: 'a' })
  })
  afterAll(async () => {
    for (const made of processes) await made.kill9()
    for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  })

  const fetchFrom = (which: number, path: string, init: RequestInit) =>
    fetch(`${processes[which]?.url}${path}`, { ...init, signal: AbortSignal.timeout(60_000) })
  const send = (which: number, path: string, body: unknown, as = key) =>
    fetchFrom(which, path, {
      method: 'POST',
      headers: { authorization: `Bearer ${as}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const read = async <T>(which: number, path: string) =>
    (await (await fetchFrom(which, path, { headers: { authorization: `Bearer ${operator_token}` } })).json()) as T
  const steps = (from: number, count: number, step: number) =>
    Array.from({ length: count }, (_, index) => ({
      task_id: `t-${from + index}`,
      step,
      step_type: step === 1 ? 'task.start' : 'step.model',
      timestamp: new Date().toISOString(),
    }))
  /** Writes to the living processes in turn until it is aborted; returns the number of answers by status. */
  const load = async (signal: AbortSignal, alive: () => number[]) => {
    const statuses = new Map<number, number>()
    for (let step = 1; !signal.aborted; step++) {
      for (const which of alive()) {
        const body = { task_id: `busy-${which}`, step, step_type: 'step.model', timestamp: new Date().toISOString() }
        const status = await send(which, '/api/v1/logs', body).then(
          (answer) => answer.status,
          () => 0,
        )
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
      }
    }
    return statuses
  }
  /** Sends the job that notes tasks to the queue, which both processes work on, beside its schedule. */
  const sweep = (times: number) =>
    sql(`insert into jobs (name, data) select 'note-unfinished-tasks', '{}' from generate_series(1, ${times})`)
  const noted = () =>
    sql(
      `select count(*), count(distinct subject_id) from events where kind = 'task.unfinished' and subject_id like 't-%'`,
    )

  it('count attempts together, while both are loaded', async () => {
    const stop = new AbortController()
    const loaded = load(stop.signal, () => [0, 1])
    const ask = (number: number) => send(number % 2, '/auth/magic-link', { email: 'mia@example.org' }, 'none')
    const answers = await Promise.all(Array.from({ length: 20 }, (_, number) => ask(number)))
    stop.abort()
    expect([...(await loaded).keys()]).toEqual([201])
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(mailboxLimit)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(20 - mailboxLimit)
  })

  it('note each unfinished task once, also when one of them is killed in the middle', async () => {
    for (let from = 0; from < tasks; from += 500) {
      const { status } = await send((from / 500) % 2, '/api/v1/logs/batch', { entries: steps(from, 500, 1) })
      expect(status).toBe(200)
    }
    const stop = new AbortController()
    let alive = [0, 1]
    const loaded = load(stop.signal, () => alive)
    await vi.waitFor(
      () =>
        expect(
          sql(
            "select count(*) from task_heads where last_received_at > now() - interval '1 second' and task_id like 't-%'",
          ),
        ).toBe('0'),
      soon,
    )
    sweep(20)
    await vi.waitFor(() => expect(noted()).not.toBe('0|0'), { ...soon, interval: 10 })
    alive = [0]
    await processes[1]?.kill9()
    await vi.waitFor(
      () => expect(sql(`select count(*) from jobs where name = 'note-unfinished-tasks'`)).toBe('0'),
      soon,
    )
    sweep(1)
    await vi.waitFor(() => expect(noted()).toBe(`${tasks}|${tasks}`), soon)
    stop.abort()
    const statuses = await loaded
    statuses.delete(0)
    expect([...statuses.keys()]).toEqual([201])
    processes = [processes[0] as PlatformProcess, await open(1)]
  })

  it('note a task again only after a late step, once', async () => {
    expect((await send(1, '/api/v1/logs/batch', { entries: steps(0, 100, 2) })).status).toBe(200)
    await vi.waitFor(
      () => {
        sweep(2)
        expect(noted()).toBe(`${tasks + 100}|${tasks}`)
      },
      { ...soon, interval: 1000 },
    )
    const { total } = await read<EventList>(1, '/api/v1/events?kind=task.unfinished&subject=t-5')
    expect(total).toBe(2)
    const { integrity } = await read<Verification>(0, '/api/v1/tasks/t-5/verify')
    expect(integrity).toEqual({ ok: true, first_bad: null })
  })

  it('run each scheduled job once a minute', async () => {
    // A job of the schedule has a key; those of this test have none.
    sql(`create table sent_jobs (minute timestamptz);
      create function note_sent() returns trigger language plpgsql as
        'begin insert into sent_jobs values (date_trunc(''minute'', now())); return null; end';
      create trigger note after insert on jobs for each row
        when (new.name = 'note-unfinished-tasks' and new.key is not null) execute function note_sent()`)
    const minutes = () => sql('select count(*), count(distinct minute) from sent_jobs').split('|')
    await vi.waitFor(() => expect(Number(minutes()[1])).toBeGreaterThanOrEqual(2), { timeout: 200_000, interval: 1000 })
    expect(new Set(minutes()).size).toBe(1)
    expect(sql(`select count(*) from job_runs where name = 'note-unfinished-tasks' and failed_at is not null`)).toBe(
      '0',
    )
  })
})
