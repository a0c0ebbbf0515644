// Tasks without an end: which are noted, when, and how often, on either database.
import type { EventList, JobList, TaskList } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { register } from '../../support/log/log.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'
import { sharedPostgres } from '../../support/server/postgres.js'
import { soon } from '../../support/server/soon.js'

const postgres = await sharedPostgres()
const start = Date.parse('2026-03-01T12:00:00Z')
const at = (ms: number) => new Date(ms).toISOString()
const hour = 3_600_000
const day = 24 * hour
const year = 365 * day

interface Row {
  readonly task: string
  /** The types of its steps, all logged at the start. */
  readonly steps: readonly string[]
  /** The time of its steps. */
  readonly timestamp?: string
  /** In the list, an hour and a minute later. */
  readonly unfinished: boolean
  readonly events: number
}

const open = ['task.start', 'step.model']
const rows: readonly Row[] = [
  { task: 'open', steps: open, unfinished: true, events: 1 },
  { task: 'only a start', steps: ['START_NODE'], unfinished: true, events: 1 },
  { task: 'ended', steps: [...open, 'task.end'], unfinished: false, events: 0 },
  { task: 'ended by another name', steps: [...open, 'END_NODE'], unfinished: false, events: 0 },
  { task: 'a step after the end', steps: [...open, 'task.end', 'step.model'], unfinished: false, events: 0 },
  { task: 'ended by an error', steps: [...open, 'task.error'], unfinished: false, events: 0 },
  { task: 'clock an hour behind', steps: open, timestamp: at(start - hour), unfinished: true, events: 1 },
  { task: 'spooled for 23 hours', steps: open, timestamp: at(start - 23 * hour), unfinished: true, events: 1 },
  { task: 'recorded run', steps: open, timestamp: at(start - year), unfinished: true, events: 0 },
  { task: 'recorded two days ago', steps: open, timestamp: at(start - 2 * day), unfinished: true, events: 0 },
  { task: 'clock a year ahead', steps: open, timestamp: at(start + year), unfinished: true, events: 1 },
  { task: 'time without a zone', steps: open, timestamp: '2026-03-01T12:00:00', unfinished: true, events: 1 },
  { task: "it's \"quoted\" \\ 'name'", steps: open, unfinished: true, events: 1 },
]

describe.each([
  { kind: 'pglite', database_url: () => null },
  ...(postgres === null ? [] : [{ kind: 'postgresql', database_url: postgres.freshDatabase }]),
])('unfinished tasks on $kind', ({ database_url }) => {
  let platform: TestPlatform
  let now = start
  beforeAll(async () => {
    platform = await startPlatform({ database_url: database_url(), clock: () => now })
    await register(platform)
  })
  afterAll(() => discard(platform))

  const log = async (task_id: string, steps: readonly string[], { timestamp = at(now), first = 1 } = {}) => {
    const entries = steps.map((step_type, index) => ({ task_id, step: first + index, step_type, timestamp }))
    const { status } = await platform.call('POST', '/api/v1/logs/batch', { as: 'key', body: { entries } })
    expect(status).toBe(200)
  }
  /** Moves the clock, and waits until the job of that minute has ended. */
  const pass = async (ms: number) => {
    now += ms
    await vi.waitFor(async () => {
      const { jobs } = (await platform.call<JobList>('GET', '/api/v1/jobs')).body
      const { last_completed_at } = jobs.find(({ name }) => name === 'note-unfinished-tasks') ?? {}
      expect(last_completed_at).toBe(at(now))
    }, soon)
  }
  const events = async () => {
    const { body } = await platform.call<EventList>('GET', '/api/v1/events?kind=task.unfinished&limit=200')
    return body.events
  }
  const noted = async (task_id: string) => (await events()).filter((event) => event.subject_id === task_id).length
  const isUnfinished = async (task_id: string) => {
    const { tasks } = (await platform.call<TaskList>('GET', '/api/v1/logs/tasks?limit=100')).body
    const filtered = (await platform.call<TaskList>('GET', '/api/v1/logs/tasks?limit=100&unfinished=true')).body
    const others = (await platform.call<TaskList>('GET', '/api/v1/logs/tasks?limit=100&unfinished=false')).body
    const shown = tasks.find((task) => task.task_id === task_id)?.unfinished
    const isIn = (list: TaskList) => list.tasks.some((task) => task.task_id === task_id)
    expect([isIn(filtered), isIn(others)]).toEqual([shown, !shown])
    return shown
  }

  it('are noted once the timeout has passed, and not before', async () => {
    for (const { task, steps, timestamp } of rows) await log(task, steps, { ...(timestamp && { timestamp }) })
    await pass(hour - 60_000)
    expect(await events()).toEqual([])
    await pass(120_000)
    for (const { task, unfinished, events: count } of rows)
      expect([task, await isUnfinished(task), await noted(task)]).toEqual([task, unfinished, count])
  })

  it('have an event with the agent, the last time and the number of steps', async () => {
    const found = (await events()).filter(({ subject_id }) => /^(open|time without a zone)$/.test(subject_id))
    expect(
      found.map(({ actor_kind, actor_id, subject_kind, data }) => [actor_kind, actor_id, subject_kind, data]),
    ).toEqual(
      Array(2).fill([
        'system',
        'task-timeout',
        'task',
        {
          agent_id: expect.stringMatching(/^ag_/),
          last_ts: expect.stringMatching(/^2026-03-01T12:00:00(\.000)?Z$/),
          steps: 2,
        },
      ]),
    )
  })

  it('are not noted twice while nothing changes, nor by a retry', async () => {
    await log('open', open, { timestamp: at(start) })
    await pass(3 * hour)
    for (const { task, events: count } of rows) expect([task, await noted(task)]).toEqual([task, count])
  })

  it('run again after a late step, and are noted again after another timeout', async () => {
    await log('open', ['step.model'], { first: 3 })
    await log('recorded run', ['step.model'], { first: 3 })
    expect([await isUnfinished('open'), await isUnfinished('recorded run')]).toEqual([false, false])
    await pass(hour - 60_000)
    expect([await noted('open'), await isUnfinished('open')]).toEqual([1, false])
    await pass(120_000)
    expect([await noted('open'), await isUnfinished('open')]).toEqual([2, true])
    expect([await noted('recorded run'), await isUnfinished('recorded run')]).toEqual([1, true])
  })

  it('are finished by a late end', async () => {
    await log('open', ['task.end'], { first: 4 })
    await pass(2 * hour)
    expect([await noted('open'), await isUnfinished('open')]).toEqual([2, false])
  })

  it('of a long list are all noted, once each', async () => {
    for (let part = 0; part < 2; part++) {
      const entries = Array.from({ length: 450 }, (_, index) => ({
        task_id: `many-${part * 450 + index}`,
        step: 1,
        step_type: 'task.start',
        timestamp: at(now),
      }))
      await platform.call('POST', '/api/v1/logs/batch', { as: 'key', body: { entries } })
    }
    await pass(2 * hour)
    const { total } = (await platform.call<EventList>('GET', '/api/v1/events?kind=task.unfinished&limit=1')).body
    const expected = rows.reduce((sum, { events: count }) => sum + count, 2)
    expect(total).toBe(expected + 900)
    const verified = await platform.call<{ integrity: { ok: boolean } }>('GET', '/api/v1/tasks/many-5/verify')
    expect(verified.body.integrity.ok).toBe(true)
  })
})
