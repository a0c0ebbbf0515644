// The times of a task: those of its first and last step by number, for any order of arrival.
import type { TaskList, Verification } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { register } from '../../support/log/log.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'

let platform: TestPlatform
beforeAll(async () => {
  platform = await startPlatform()
  await register(platform)
})
afterAll(() => discard(platform))

const at = (minute: number) => `2026-01-05T09:0${minute}:00Z`

// Steps as they arrive: number and time.
const rows = [
  {
    task: 'in order',
    steps: [
      [1, at(1)],
      [2, at(2)],
      [3, at(3)],
    ],
    first: at(1),
    last: at(3),
  },
  {
    task: 'last first',
    steps: [
      [3, at(3)],
      [2, at(2)],
      [1, at(1)],
    ],
    first: at(1),
    last: at(3),
  },
  {
    task: 'first in the middle',
    steps: [
      [2, at(2)],
      [1, at(1)],
      [3, at(3)],
    ],
    first: at(1),
    last: at(3),
  },
  {
    task: 'clock set back',
    steps: [
      [1, at(5)],
      [2, at(2)],
      [3, at(1)],
    ],
    first: at(5),
    last: at(1),
  },
  {
    task: 'number used twice',
    steps: [
      [1, at(1)],
      [1, at(4)],
      [2, at(2)],
      [2, at(5)],
    ],
    first: at(1),
    last: at(2),
  },
  {
    task: 'no zone',
    steps: [
      [1, '2026-01-05T09:01:00'],
      [2, '2026-01-05T09:02:00.5'],
    ],
    first: at(1),
    last: '2026-01-05T09:02:00.5Z',
  },
  {
    task: 'another zone',
    steps: [[1, '2026-01-05T10:01:00+01:00']],
    first: '2026-01-05T10:01:00+01:00',
    last: '2026-01-05T10:01:00+01:00',
  },
] as const

describe('the times of a task', () => {
  it.each(rows)('$task: $first to $last', async ({ task: task_id, steps, first, last }) => {
    for (const [step, timestamp] of steps) {
      const body = { task_id, step, step_type: 'step.model', timestamp, input: { at: timestamp } }
      expect((await platform.call('POST', '/api/v1/logs', { as: 'key', body })).status).toBe(201)
    }
    const { body } = await platform.call<TaskList>('GET', `/api/v1/logs/tasks?q=${encodeURIComponent(task_id)}`)
    expect(body.tasks).toMatchObject([{ task_id, first_ts: first, last_ts: last }])
    const verified = await platform.call<Verification>('GET', `/api/v1/tasks/${encodeURIComponent(task_id)}/verify`)
    expect(verified.body.integrity).toEqual({ ok: true, first_bad: null })
  })

  it('count as UTC without a zone', async () => {
    const log = async (step: number, timestamp: string) => {
      const body = { task_id: 'mixed', step, step_type: step === 1 ? 'START_NODE' : 'step.model', timestamp }
      return (await platform.call('POST', '/api/v1/logs', { as: 'key', body })).status
    }
    expect([await log(1, '2026-01-05T09:00:00'), await log(2, '2026-01-05T09:00:01Z')]).toEqual([201, 201])
    const { body } = await platform.call<Verification>('GET', '/api/v1/tasks/mixed/verify')
    expect(body.sequence.warnings.map(({ code }) => code)).not.toContain('timestamp_regression')
    const listed = await platform.call<TaskList>('GET', '/api/v1/logs/tasks?q=mixed&from=9999-12-31T23:59:59')
    expect([listed.status, listed.body.total]).toEqual([200, 0])
  })
})
