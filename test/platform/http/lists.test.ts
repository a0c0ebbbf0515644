// Lists and other queries: filters, pages, caching, and parameters that are rejected.
import type { LogList, Problem, TaskList } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { discard, type TestPlatform } from '../../support/server/platform.js'
import { newClock, registration, startWithAgent, stepOf } from './booker.js'

const clock = newClock()
let platform: TestPlatform
beforeAll(async () => {
  platform = await startWithAgent(clock)
})
afterAll(() => discard(platform))

describe('a list', () => {
  let platform: TestPlatform
  beforeAll(async () => {
    platform = await startWithAgent(clock)
    for (const name of ['b', 'c', 'd', 'e'])
      await platform.call('POST', '/api/v1/agents', { as: 'key', body: { agent_key: name, environment: 'test' } })
    await platform.call('POST', '/api/v1/agents', { as: 'key', body: { ...registration, environment: 'production' } })
    const log = (body: unknown) => platform.call('POST', '/api/v1/logs', { as: 'key', body })
    for (const [task_id, ...types] of [
      ['done', 'START_NODE', 'END_NODE'],
      ['failed', 'START_NODE', 'task.error'],
      ['open', 'START_NODE', 'step.exec', 'step.exec'],
      ['other', 'START_NODE', 'step.exec'],
    ] as const) {
      for (const [index, type] of types.entries()) await log(stepOf(task_id, index + 1, type))
      clock.now += 1000
    }
  })
  afterAll(() => discard(platform))

  const tasks = async (query: string) => {
    const { body } = await platform.call<TaskList>('GET', `/api/v1/logs/tasks?${query}`)
    expect(body.total).toBeGreaterThanOrEqual(body.tasks.length)
    return body.tasks.map((task) => task.task_id)
  }

  it.each([
    ['', ['other', 'open', 'failed', 'done']],
    ['status=error', ['failed']],
    ['status=completed', ['done']],
    ['status=running', ['other', 'open']],
    ['environment=production', ['other', 'open', 'failed', 'done']],
    ['environment=test', []],
    ['q=op', ['open']],
    ['q=pe', []],
    ['q=o&status=running', ['other', 'open']],
    ['q=o&skip=1&environment=production', ['open']],
    ['q=%25', []],
    ['unfinished=true', []],
    ['skip=1&limit=2', ['open', 'failed']],
    // The same moment in three zones: the first task ended before it, and the third began after it.
    ['from=2026-01-05T12:00:01Z', ['other', 'open', 'failed']],
    ['from=2026-01-06T11:59:01%2B23:59', ['other', 'open', 'failed']],
    ['to=2026-01-05T12:00:00Z', ['done']],
  ])('of tasks is filtered: %s', async (query, expected) => expect(await tasks(query)).toEqual(expected))

  it('of tasks selects those that did not end within the timeout', async () => {
    clock.now += 3600 * 1000
    expect(await tasks('unfinished=true')).toEqual(['other', 'open'])
    expect(await tasks('unfinished=true&status=running')).toEqual(['other', 'open'])
    expect(await tasks('unfinished=true&status=error')).toEqual([])
    expect(await tasks('unfinished=false')).toEqual(['failed', 'done'])
  })

  const pages = async (path: string, name: string, key: string) => {
    const seen: unknown[] = []
    let cursor: string | null = null
    let total = -1
    do {
      type List = { total: number; next_cursor: string | null } & Record<string, Record<string, unknown>[]>
      const more: string = cursor === null ? '' : `&cursor=${cursor}`
      const { body }: { body: List } = await platform.call<List>('GET', `${path}?limit=2${more}`)
      seen.push(...(body[name] ?? []).map((row) => row[key]))
      total = body.total
      cursor = body.next_cursor
    } while (cursor !== null)
    return { seen, total }
  }

  it.each([
    ['/api/v1/agents', 'agents', 'agent_id'],
    ['/api/v1/policies', 'policies', 'id'],
    ['/api/v1/incidents', 'incidents', 'id'],
  ])('has pages that neither repeat nor skip rows: %s', async (path, name, key) => {
    const { seen, total } = await pages(path, name, key)
    expect(seen.length).toBeGreaterThan(2)
    expect(new Set(seen).size).toBe(seen.length)
    expect(seen.length).toBe(total)
  })

  it.each([
    ['agents?q=TRAVEL', 1],
    ['agents?q=book', 1],
    // The name is `Travel` and the key `booker`: the text that spans both is in neither.
    ['agents?q=velboo', 0],
    ['agents?environment=test', 4],
    ['agents?active=false', 0],
    ['agents?risk_classification=high', 0],
    ['policies?enabled=false', 0],
    ['policies?scope=nonsense', null],
    ['policies?limit=201', null],
    ['incidents?task_id=open', 1],
    ['incidents?task_id=open&severity=low', 0],
    ['incidents?state=resolved', 0],
    ['incidents?policy_id=0', null],
    ['incidents?policy_id=999999999999999', 0],
  ])('is filtered: %s', async (query, expected) => {
    const { status, body } = await platform.call<{ total?: number }>('GET', `/api/v1/${query}`)
    expect([status, body.total]).toEqual(expected === null ? [422, undefined] : [200, expected])
  })

  it.each([
    ['task_id=open', [1, 2, 3]],
    ['task_id=open&limit=2', [1, 2]],
    ['task_id=open&step_type=step.exec', [2, 3]],
    ['q=ope&limit=1', [3]],
    ['from=9999-12-31T23:59:59Z', []],
    ['to=0001-01-01T00:00:00Z', []],
  ])('of the log is filtered: %s', async (query, expected) => {
    const { body } = await platform.call<LogList>('GET', `/api/v1/logs?${query}`)
    expect(body.logs.map((entry) => entry.step)).toEqual(expected)
  })

  it('suggests the parameter that is misspelt', async () => {
    const { status, body } = await platform.call<Problem>('GET', '/api/v1/logs?stepp_type=x&limit=x')
    expect(status).toBe(422)
    expect(body.errors.map((error) => error.path).sort()).toEqual(['limit', 'stepp_type'])
    expect(JSON.stringify(body.errors)).toContain('did you mean `step_type`')
  })
})

describe('the policies of an agent', () => {
  const fetchPolicies = (headers = {}) =>
    platform.call('GET', '/api/v1/policies/effective?agent_key=booker', { as: 'key', headers })

  it('are answered with 304 while they are unchanged, in every form of the tag', async () => {
    const tag = (await fetchPolicies()).headers.get('etag') ?? ''
    expect(tag).toMatch(/^"[^"]+"$/)
    for (const known of [tag, `W/${tag}`, `"old", ${tag}`, '*'])
      expect((await fetchPolicies({ 'if-none-match': known })).status).toBe(304)
    for (const unknown of ['"old"', tag.slice(1, -1), ''])
      expect((await fetchPolicies({ 'if-none-match': unknown })).status).toBe(200)
  })

  it('are sent again after a change of the agent', async () => {
    const tag = (await fetchPolicies()).headers.get('etag') ?? ''
    await platform.call('POST', '/api/v1/agents', { as: 'key', body: { ...registration, purpose: 'other' } })
    expect((await fetchPolicies({ 'if-none-match': tag })).status).toBe(200)
  })

  it('are rejected without the key of the agent', async () => {
    const { status, body } = await platform.call<Problem>('GET', '/api/v1/policies/effective', { as: 'key' })
    expect([status, body.errors[0]?.path]).toEqual([422, 'agent_key'])
  })
})

describe('a request', () => {
  it.each([
    ['/api/v1/logs/tasks?limit=101', 422],
    ['/api/v1/logs/tasks?limit=0', 422],
    ['/api/v1/logs/tasks?skip=-1', 422],
    ['/api/v1/logs?task=x', 422],
    ['/api/v1/logs?task_id=a&task_id=b', 422],
    ['/api/v1/logs?cursor=%00', 422],
    ['/api/v1/logs?from=yesterday', 422],
    ['/api/v1/logs?from=0000-01-01T00:00:00Z', 422],
    ['/api/v1/logs?q=%00', 422],
    ['/api/v1/logs/%00', 404],
    ['/api/v1/tasks/a%00/verify', 404],
    ['/api/v1/logs/%E0%A4', 400],
    ['/api/v1/logs/log_nothing', 404],
    ['/api/v1/tasks/nothing/verify', 404],
    ['/api/v1/tasks/nothing/chain', 404],
    ['/api/v1/agents/ag_nothing', 404],
    ['/api/v1/policy-templates', 404],
    ['/api/v1/%2e%2e/%2e%2e/etc/passwd', 404],
    ["/api/v1/logs/tasks?q=' or 1=1 --", 200],
  ])('GET %s: %i', async (path, status) => expect((await platform.call('GET', path)).status).toBe(status))

  it('with a wrong method is answered with the right ones', async () => {
    const answer = await platform.call('GET', '/api/v1/logs/batch', {})
    expect([answer.status, answer.headers.get('allow')]).toEqual([404, null])
    const put = await platform.call('PUT', '/api/v1/logs', { body: {} })
    expect([put.status, put.headers.get('allow')]).toEqual([405, 'POST, GET'])
  })
})
