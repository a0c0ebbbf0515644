// The rows next to one row in the order of a filtered list: tasks and incidents.
import type { IncidentList, Problem, TaskList } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { discard, type TestPlatform } from '../../support/server/platform.js'
import { newClock, startWithAgent, stepOf } from './booker.js'

const clock = newClock()
let platform: TestPlatform
const log = async (task_id: string, ...types: readonly string[]) => {
  for (const [index, type] of types.entries()) {
    const { status } = await platform.call('POST', '/api/v1/logs', {
      as: 'key',
      body: stepOf(task_id, index + 1, type),
    })
    expect([200, 201]).toContain(status)
  }
  clock.now += 1000
}
beforeAll(async () => {
  platform = await startWithAgent(clock)
  await log('done', 'START_NODE', 'END_NODE')
  await log('failed', 'START_NODE', 'task.error')
  // The policies of the baseline require a gate before code runs.
  await log('open', 'START_NODE', 'step.exec', 'step.exec')
  await log('quiet', 'START_NODE')
  await log('other', 'START_NODE', 'step.exec')
})
afterAll(() => discard(platform))

const tasks = async (query: string) => {
  const { status, body } = await platform.call<TaskList & Problem>('GET', `/api/v1/logs/tasks?${query}`)
  expect([status, body]).toEqual([200, expect.anything()])
  return body
}

describe('the neighbours of a task', () => {
  const around = async (task_id: string, query = '') => {
    const { previous, next } = await tasks(`around=${task_id}&${query}`)
    return [previous, next]
  }

  it.each([
    ['other', '', [null, 'quiet']],
    ['quiet', '', ['other', 'open']],
    ['done', '', ['failed', null]],
    ['quiet', 'status=running', ['other', 'open']],
    ['other', 'violating=true', [null, 'open']],
    // The task itself does not match.
    ['quiet', 'violating=true', ['other', 'open']],
    ['failed', 'violating=true', ['open', null]],
    ['open', 'violating=false', ['quiet', 'failed']],
    ['open', 'environment=test', [null, null]],
    ['quiet', 'q=o&status=running', ['other', 'open']],
    // The page makes no difference.
    ['quiet', 'skip=100', ['other', 'open']],
    ['open', 'from=2026-01-05T12:00:01Z&to=2026-01-05T12:00:02.500Z', [null, 'failed']],
  ])('%s in the list of %s', async (task_id, query, expected) => expect(await around(task_id, query)).toEqual(expected))

  it('are absent unless the query names a task', async () => {
    expect(Object.keys(await tasks('')).sort()).toEqual(['next_cursor', 'tasks', 'total'])
  })

  it('stay the same while other tasks arrive', async () => {
    const before = await around('quiet', 'status=running')
    await log('later', 'START_NODE', 'step.model')
    expect(await around('quiet', 'status=running')).toEqual(before)
    expect(await around('other', 'status=running')).toEqual(['later', 'quiet'])
  })

  it('of an unknown task are a mistake of the query', async () => {
    const { status, body } = await platform.call<Problem>('GET', '/api/v1/logs/tasks?around=nothing')
    expect([status, body.errors.map(({ path }) => path)]).toEqual([422, ['around']])
    expect(body.detail).toContain('use the `task_id` of a row of this list')
  })
})

describe('a task', () => {
  it('has the number of the violations of its steps, and is found by them', async () => {
    const violating = await tasks('violating=true')
    expect(violating.tasks.map(({ task_id }) => task_id)).toEqual(['other', 'open'])
    expect(violating.total).toBe(2)
    const logged = await Promise.all(
      violating.tasks.map(async ({ task_id }) => {
        const { body } = await platform.call<{ steps: { violations: object[] }[] }>(
          'GET',
          `/api/v1/tasks/${task_id}/steps`,
        )
        return body.steps.flatMap(({ violations }) => violations).length
      }),
    )
    expect(violating.tasks.map(({ violations }) => violations)).toEqual(logged)
    expect(Math.min(...logged)).toBeGreaterThan(0)
    const others = await tasks('violating=false')
    expect(others.tasks.every(({ violations }) => violations === 0)).toBe(true)
    expect(others.total + violating.total).toBe((await tasks('')).total)
    expect((await tasks('violating=true&to=2026-01-05T12:00:02.500Z')).tasks.map(({ task_id }) => task_id)).toEqual([
      'open',
    ])
  })
})

describe('the neighbours of an incident', () => {
  beforeAll(async () => {
    for (const task_id of ['a', 'b', 'c']) await log(task_id, 'START_NODE', 'step.exec')
  })
  const list = async (query: string) =>
    (await platform.call<IncidentList>('GET', `/api/v1/incidents?limit=200&${query}`)).body

  it.each(['', 'task_id=open', 'severity=critical', 'state=open', 'state=resolved', 'q=nothing'])(
    'are those in the list: %s',
    async (query) => {
      const all = (await list('')).incidents
      const listed = (await list(query)).incidents
      expect(all.length).toBeGreaterThan(2)
      for (const { id, log_index } of all) {
        const { previous, next } = await list(`${query}&around=${id}`)
        const above = listed.findLast((one) => one.log_index > log_index)
        const below = listed.find((one) => one.log_index < log_index)
        expect([previous, next]).toEqual([above?.id ?? null, below?.id ?? null])
      }
    },
  )

  it.each(['', 'state=open', 'severity=critical'])('are those in the list by severity: %s', async (query) => {
    const listed = (await list(`${query}&order=severity`)).incidents.map(({ id }) => id)
    expect(listed.length).toBeGreaterThan(1)
    for (const [index, id] of listed.entries()) {
      const { previous, next } = await list(`${query}&order=severity&around=${id}`)
      expect([previous, next]).toEqual([listed[index - 1] ?? null, listed[index + 1] ?? null])
    }
  })

  it('of an incident that no longer matches are those of its place', async () => {
    const [first, second = '', third] = (await list('state=open')).incidents.map(({ id }) => id)
    await platform.call('POST', `/api/v1/incidents/${second}/resolve`, { body: { note: 'seen' } })
    const { incidents, next, previous } = await list(`state=open&around=${second}`)
    expect([incidents.some(({ id }) => id === second), previous, next]).toEqual([false, first, third])
    expect(third).toBeDefined()
  })

  it('of an unknown incident are a mistake of the query', async () => {
    const { status, body } = await platform.call<Problem>('GET', '/api/v1/incidents?around=inc_nothing')
    expect([status, body.errors.map(({ path }) => path)]).toEqual([422, ['around']])
  })
})
