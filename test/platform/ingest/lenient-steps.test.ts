// Steps that a sender writes in its own way: they are taken, kept whole, known again, and verified.
import {
  type BatchAnswer,
  type Evaluation,
  isoTime,
  type LogDetail,
  type LoggedStep,
  parseTimestamp,
  type Verification,
} from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectEqualVerdicts } from '../../support/log/rejudge.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'

let platform: TestPlatform
beforeAll(async () => {
  platform = await startPlatform()
  await platform.call('POST', '/api/v1/agents', { as: 'key', body: { agent_key: 'a', owner_id: 'o', purpose: 'p' } })
})
afterAll(() => discard(platform))

let tasks = 0
const newTask = () => `t${tasks++}`
const base = { agent_key: 'a', step: 1, step_type: 'START_NODE', timestamp: '2026-01-05T09:00:00Z' }
const log = async (more: object, raw?: string) => {
  const what = raw === undefined ? { body: { ...base, ...more } } : { raw }
  const { status, body } = await platform.call<LoggedStep>('POST', '/api/v1/logs', { as: 'key', ...what })
  return { status, ...body }
}
const detail = async (log_id: string) => (await platform.call<LogDetail>('GET', `/api/v1/logs/${log_id}`)).body
const verify = async (task_id: string) =>
  (await platform.call<Verification>('GET', `/api/v1/tasks/${task_id}/verify`)).body

const times: readonly (readonly [string, string, string])[] = [
  ['a zone without a colon', '2026-01-05T09:00:00+0000', '2026-01-05T09:00:00.000Z'],
  ['a zone of hours', '2026-01-05T09:00:00+01', '2026-01-05T08:00:00.000Z'],
  ['the basic format', '20260105T090000Z', '2026-01-05T09:00:00.000Z'],
  ['the basic format with a zone and a fraction', '20260105T090000.25-0130', '2026-01-05T10:30:00.250Z'],
  ['no seconds', '2026-01-05T09:00Z', '2026-01-05T09:00:00.000Z'],
  ['a decimal comma', '2026-01-05T09:00:00,250Z', '2026-01-05T09:00:00.250Z'],
  ['a date alone', '2026-01-05', '2026-01-05T00:00:00.000Z'],
]

describe('a time of a step', () => {
  it.each(times)('with %s is stored as it is, read as UTC and known again', async (_, timestamp, utc) => {
    const task_id = newTask()
    const first = await log({ task_id, timestamp })
    expect([first.status, (await log({ task_id, timestamp })).status]).toEqual([201, 200])
    expect((await detail(first.log_id)).timestamp).toBe(timestamp)
    expect(isoTime(parseTimestamp(timestamp) ?? 0)).toBe(utc)
    expect((await verify(task_id)).integrity.ok).toBe(true)
    const body = { intended: { step_type: 'step.model', timestamp }, context: { agent_id: 'a' } }
    const hosted = await platform.call<Evaluation>('POST', '/api/v1/engine/evaluate', { as: 'key', body })
    expect(hosted.status).toBe(200)
  })
})

describe('an empty previous hash', () => {
  it('means that it is not known, at any step, and a step that is sent again with or without it is the same', async () => {
    const task_id = newTask()
    const second = { task_id, step: 2, step_type: 'step.model' }
    expect((await log({ task_id, prev_hash: '' })).status).toBe(201)
    expect((await log({ ...second, prev_hash: '' })).status).toBe(201)
    expect([(await log({ task_id })).status, (await log(second)).status]).toEqual([200, 200])
    expect(await verify(task_id)).toMatchObject({ integrity: { ok: true }, sequence: { ok: true } })
    expect((await log({ task_id, step: 3, step_type: 'END_NODE', prev_hash: 'f'.repeat(64) })).status).toBe(201)
    expect((await verify(task_id)).sequence.ok).toBe(false)
  })
})

describe('an unknown member of a step', () => {
  it('is kept in `meta.attributes`, named in the answer, and part of the step when it is sent again', async () => {
    const task_id = newTask()
    const sent = { task_id, meta: { run: 7 }, stepname: 'x', team: { name: 'ops' } }
    const first = await log(sent)
    expect([first.status, first.warnings]).toEqual([
      201,
      [
        '`stepname` is not a member of a step, and is kept in `meta.attributes`: did you mean `step_name`?',
        '`team` is not a member of a step, and is kept in `meta.attributes`',
      ],
    ])
    const meta = { run: 7, attributes: { stepname: 'x', team: { name: 'ops' } } }
    expect(await detail(first.log_id)).toMatchObject({ meta, step_name: null })
    expect(await log(sent)).toEqual({ ...first, status: 200 })
    expect((await log({ ...sent, team: { name: 'other' } })).status).toBe(201)
    expect((await verify(task_id)).integrity.ok).toBe(true)
  })

  it('leaves `attributes` of the sender as they are', async () => {
    const { log_id, warnings } = await log({ task_id: newTask(), meta: { attributes: [1] }, other: null })
    expect((await detail(log_id)).meta).toEqual({ attributes: [1], attributes_2: { other: null } })
    expect(warnings).toEqual(['`other` is not a member of a step, and is kept in `meta.attributes_2`'])
  })

  it('with the name of the prototype, or among many, is kept', async () => {
    const task_id = newTask()
    const many = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`member_${n}`, n]))
    const text = JSON.stringify({ ...base, task_id, ...many }).replace('{', '{"__proto__":{"a":1},')
    const { log_id, warnings = [] } = await log({}, text)
    expect([warnings.length, warnings[10]]).toEqual([11, expect.stringMatching(/^31 more members/)])
    const kept = (await detail(log_id)).meta?.attributes as Record<string, unknown>
    expect([Object.keys(kept).length, Object.hasOwn(kept, '__proto__'), kept.member_39]).toEqual([41, true, 39])
  })

  it('is named in the results of a batch, and absent from the answer of a step without one', async () => {
    const task_id = newTask()
    const entries = [
      { ...base, task_id, team: 'ops' },
      { ...base, task_id, step: 2, step_type: 'step.model' },
    ]
    const { body } = await platform.call<BatchAnswer>('POST', '/api/v1/logs/batch', { as: 'key', body: { entries } })
    expect(body.results.map(({ entry }) => entry?.warnings?.length ?? 0)).toEqual([1, 0])
    expect(body.results[1]?.entry).not.toHaveProperty('warnings')
    await expectEqualVerdicts(platform)
  })
})
