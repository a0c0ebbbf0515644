// Named views: filters of lists, checked like requests of these lists.
import type { EventList, Problem, View, ViewList } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'

let platform: TestPlatform
beforeAll(async () => {
  platform = await startPlatform()
})
afterAll(() => discard(platform))

const make = (list: string, name: string, query: string) =>
  platform.call<View & Problem>('POST', '/api/v1/views', { body: { list, name, query } })
const views = async (query = '') => (await platform.call<ViewList>('GET', `/api/v1/views?${query}`)).body.views
const paths: Readonly<Record<string, string>> = {
  tasks: 'logs/tasks',
  logs: 'logs',
  incidents: 'incidents',
  incident_groups: 'incidents/groups',
  agents: 'agents',
  policies: 'policies',
  events: 'events',
}

describe('a view', () => {
  it.each([
    ['tasks', 'status=error&environment=production'],
    ['logs', 'step_type=step.exec&from=2026-01-01T00%3A00%3A00Z'],
    ['incidents', 'state=open&state=active&min_severity=high'],
    ['incident_groups', 'q=refund+amount'],
    ['agents', 'active=false'],
    ['policies', 'mode=observe'],
    ['events', 'kind=incident.'],
  ])('of %s keeps filters that the list takes: %s', async (list, query) => {
    const { status, body } = await make(list, 'mine', `?${query}`)
    expect([status, body]).toEqual([201, expect.objectContaining({ list, name: 'mine', query })])
    expect(await views(`list=${list}`)).toEqual([body])
    expect((await platform.call('GET', `/api/v1/${paths[list]}?${body.query}`)).status).toBe(200)
  })

  it.each([
    ['incidents', 'stat=open', 'query.stat'],
    ['incidents', 'state=closed', 'query.state'],
    ['tasks', 'state=open', 'query.state'],
    ['tasks', 'status=error&status=running', 'query.status'],
    ['events', 'from=yesterday', 'query.from'],
    ['agents', 'limit=10', 'query.limit'],
    ['agents', 'cursor=MQ', 'query.cursor'],
    ['tasks', 'skip=1', 'query.skip'],
    ['policies', 'q=%00', 'query.q'],
    ['policies', '?', 'query'],
    ['policies', '', 'query'],
    ['policies', `q=${'x'.repeat(1000)}`, 'query'],
    ['jobs', 'q=x', 'list'],
  ])('of %s cannot have the query %s', async (list, query, path) => {
    const { status, body } = await make(list, 'wrong', query)
    expect([status, body.errors.map((error) => error.path)]).toEqual([422, [path]])
  })

  it('has a name that is unique in its list', async () => {
    expect((await make('tasks', 'twice', 'status=error')).status).toBe(201)
    const again = await make('tasks', 'twice', 'status=running')
    expect([again.status, again.body.code]).toEqual([409, 'CONFLICT'])
    expect((await make('incidents', 'twice', 'state=open')).status).toBe(201)
  })

  it('is deleted once, and both are events', async () => {
    const { id } = (await make('agents', 'short', 'q=a')).body
    expect((await platform.call('DELETE', `/api/v1/views/${id}`)).status).toBe(204)
    expect((await views()).map((view) => view.id)).not.toContain(id)
    const again = await platform.call<Problem>('DELETE', `/api/v1/views/${id}`)
    expect([again.status, again.body.code]).toEqual([404, 'NOT_FOUND'])
    const { events } = (await platform.call<EventList>('GET', `/api/v1/events?subject=${id}`)).body
    expect(events.map(({ kind, data }) => [kind, data])).toEqual([
      ['view.deleted', { list: 'agents', name: 'short' }],
      ['view.created', { list: 'agents', name: 'short', query: 'q=a' }],
    ])
  })

  it('is one of at most 50 of its list', async () => {
    for (let count = (await views('list=logs')).length; count < 50; count += 1)
      expect((await make('logs', `view ${count}`, 'q=a')).status).toBe(201)
    const { status, body } = await make('logs', 'one more', 'q=a')
    expect([status, body.code, body.detail]).toEqual([409, 'CONFLICT', expect.stringContaining('50 views')])
    const names = (await views('list=logs')).map(({ name }) => name)
    expect(names.length).toBe(50)
  })
})
