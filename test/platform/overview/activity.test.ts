// Steps and violations by day, at the ends of days, with idle days, batches and steps that are sent again.
import type { Activity, Incident, IncidentList, Problem } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'

let now = Date.parse('2026-01-05T23:59:59.999Z')
let platform: TestPlatform
const entry = (task_id: string, step: number, step_type = 'step.model') => ({
  task_id,
  step,
  step_type,
  timestamp: '2026-01-05T09:00:00Z',
})
const send = (path: string, body: object) => platform.call('POST', path, { as: 'key', body })

beforeAll(async () => {
  platform = await startPlatform({ clock: () => now })
  await send('/api/v1/agents', { agent_key: 'a', owner_id: 'o', purpose: 'p' })
  await send('/api/v1/logs', entry('one', 1, 'task.start'))
  // This step violates a policy of the baseline.
  await send('/api/v1/logs', entry('one', 2, 'step.exec'))
  now += 1
  await send('/api/v1/logs', entry('one', 3))
  await send('/api/v1/logs', entry('one', 3))
  now = Date.parse('2026-01-08T12:00:00Z')
  await send('/api/v1/logs/batch', { entries: [1, 2, 3, 4].map((step) => entry('two', step)) })
})
afterAll(() => discard(platform))

const activity = (query = '') => platform.call<Activity & Problem>('GET', `/api/v1/activity?${query}`)
const occurrences = (all: readonly Incident[]) => all.reduce((sum, one) => sum + one.occurrences, 0)

describe('activity', () => {
  it('counts the steps of each day with their violations, also of days without any', async () => {
    const { body } = await activity('from=2026-01-05&to=2026-01-08')
    expect(body.days.map(({ date, steps }) => [date, steps])).toEqual([
      ['2026-01-05', 2],
      ['2026-01-06', 1],
      ['2026-01-07', 0],
      ['2026-01-08', 4],
    ])
    expect([body.steps, body.violations]).toEqual([7, body.days.reduce((sum, day) => sum + day.violations, 0)])
  })

  it('counts as many violations as the incidents of steps do', async () => {
    const path = '/api/v1/incidents?scope=step_execution'
    const of = async (query: string) =>
      occurrences((await platform.call<IncidentList>('GET', `${path}${query}`)).body.incidents)
    const { days } = (await activity('from=2026-01-05&to=2026-01-05')).body
    expect(days[0]?.violations).toBe(await of('&to=2026-01-05T23:59:59.999Z'))
    expect(days[0]?.violations).toBeGreaterThan(0)
  })

  it('has the thirty days that end today without a period', async () => {
    const { days } = (await activity()).body
    expect([days.length, days[0]?.date, days.at(-1)]).toEqual([
      30,
      '2025-12-10',
      expect.objectContaining({ date: '2026-01-08', steps: 4 }),
    ])
  })

  it.each([
    'from=2025-10-09&to=2026-01-08',
    'from=9999-12-31&to=9999-12-31',
    'to=1970-01-01',
    'from=2024-02-29&to=2024-02-29',
  ])('takes the period %s', async (query) => expect((await activity(query)).status).toBe(200))

  it.each([
    ['from=2025-10-08&to=2026-01-08', 'from'],
    ['from=2026-01-09', 'from'],
    ['from=2026-02-30&to=2026-03-01', 'from'],
    ['to=2026-13-01', 'to'],
    ['to=0000-01-01', 'to'],
    ['to=yesterday', 'to'],
    ['from=2026-01-05T00:00:00Z', 'from'],
  ])('rejects the period %s', async (query, path) => {
    const { status, body } = await activity(query)
    expect([status, body.errors.map((error) => error.path)]).toEqual([422, [path]])
  })
})
