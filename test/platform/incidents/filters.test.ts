// The filters of the list of incidents, with exact totals.
import type { Incident, IncidentList, Problem } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'

const start = Date.parse('2026-01-05T12:00:00Z')
let now = start
let platform: TestPlatform
let all: readonly Incident[]
beforeAll(async () => {
  platform = await startPlatform({ clock: () => now })
  for (const agent_key of ['a', 'b'])
    await platform.call('POST', '/api/v1/agents', { as: 'key', body: { agent_key, owner_id: 'o', purpose: 'p' } })
  // A registration without a purpose and an owner violates policies too.
  await platform.call('POST', '/api/v1/agents', { as: 'key', body: { agent_key: 'c' } })
  now += 1000
  const log = (agent_key: string, task_id: string, step: number, more: object) =>
    platform.call('POST', '/api/v1/logs', {
      as: 'key',
      body: { agent_key, task_id, step, timestamp: '2026-01-05T09:00:00Z', ...more },
    })
  for (const [agent_key, task_id] of [
    ['a', 'one'],
    ['b', 'two'],
    ['a', 'three'],
  ] as const) {
    await log(agent_key, task_id, 1, { step_type: 'step.exec' })
    await log(agent_key, task_id, 2, { step_type: 'step.model', properties: { data: { labels: ['secret'] } } })
    now += 1000
  }
  await platform.call('POST', '/api/v1/agents', { as: 'key', body: { agent_key: 'd' } })
  all = (await list('')).incidents
  const [last] = all
  await platform.call('POST', `/api/v1/incidents/${last?.id}/resolve`)
})
afterAll(() => discard(platform))

async function list(query: string): Promise<IncidentList> {
  const { status, body } = await platform.call<IncidentList>('GET', `/api/v1/incidents?${query}`)
  expect([query, status]).toEqual([query, 200])
  return body
}

const beyond = ['limit=1000', 'limit=201', 'limit=0', 'limit=ten']

/** The expected incidents of a filter, from all of them: each query with the condition that it states. */
const rows: readonly [string, (incident: Incident, index: number) => boolean][] = [
  ['state=open', (_, index) => index > 0],
  ['state=open,resolved', () => true],
  ['state=resolved&state=ignored', (_, index) => index === 0],
  ['severity=critical', ({ severity }) => severity === 'critical'],
  ['severity=low,critical', ({ severity }) => severity === 'low' || severity === 'critical'],
  ['min_severity=high', ({ severity }) => severity === 'high' || severity === 'critical'],
  ['min_severity=low', () => true],
  ['min_severity=critical&severity=low', () => false],
  ['task_id=two', ({ task_id }) => task_id === 'two'],
  ['task_id=two&state=open', ({ task_id }, index) => task_id === 'two' && index > 0],
  ['scope=step_execution', ({ scope }) => scope === 'step_execution'],
  ['scope=agent_registration', ({ scope }) => scope === 'agent_registration'],
  ['mode=enforce', ({ mode }) => mode === 'enforce'],
  ['mode=observe', ({ mode }) => mode === 'observe'],
  ['from=2026-01-05T12:00:02Z', ({ first_seen }) => first_seen >= '2026-01-05T12:00:02.000Z'],
  ['to=2026-01-05T12:00:02Z', ({ first_seen }) => first_seen <= '2026-01-05T12:00:02.000Z'],
  [
    'from=2026-01-05T13:00:02%2B01:00&to=2026-01-05T12:00:02Z&state=open',
    ({ first_seen }) => first_seen === '2026-01-05T12:00:02.000Z',
  ],
  ['from=2027-01-01T00:00:00Z', () => false],
  ['q=CODE', ({ policy_name }) => policy_name.toLowerCase().includes('code')],
  ['q=no policy has this', () => false],
  ['q=%25', () => false],
]

describe('the list of incidents', () => {
  it('names the agent of each', async () => {
    const names = new Map(all.map(({ agent_id, agent_name }) => [agent_id, agent_name]))
    const agent_id = all.find(({ task_id }) => task_id === 'one')?.agent_id ?? ''
    await platform.call('PATCH', `/api/v1/agents/${agent_id}`, { body: { name: 'Refund desk' } })
    const renamed = (await list(`agent_id=${agent_id}&limit=1`)).incidents[0]
    expect([names.size, names.get(agent_id) === 'Refund desk', renamed?.agent_name]).toEqual([4, false, 'Refund desk'])
  })

  it('has more than one policy, agent and time to filter by', () => {
    for (const name of ['policy_id', 'agent_id', 'first_seen', 'task_id'] as const)
      expect(new Set(all.map((incident) => incident[name])).size).toBeGreaterThan(1)
    const names = [...new Set(all.map(({ policy_name }) => policy_name.toLowerCase()))]
    expect([names, new Set(names.map((name) => name.includes('code'))).size]).toEqual([names, 2])
  })

  it.each(rows)('filters and counts: %s', async (query, matches) => {
    const expected = all.filter(matches).map(({ id }) => id)
    const { incidents, total } = await list(query)
    expect([incidents.map(({ id }) => id), total]).toEqual([expected, expected.length])
  })

  it.each(['policy_id', 'agent_id', 'manifest_id', 'rule_type'] as const)('filters by any %s', async (name) => {
    for (const value of new Set(all.map((incident) => incident[name]))) {
      const expected = all.filter((incident) => incident[name] === value).map(({ id }) => id)
      const { incidents, total } = await list(`${name}=${value}&limit=1`)
      expect([incidents.map(({ id }) => id), total]).toEqual([expected.slice(0, 1), expected.length])
    }
  })

  const bySeverity = (incidents: readonly Incident[]) => {
    const ranks = ['critical', 'high', 'medium', 'low']
    return incidents.toSorted(
      (a, b) => ranks.indexOf(a.severity) - ranks.indexOf(b.severity) || b.log_index - a.log_index,
    )
  }

  it('has several severities, which are not in the order of time', () => {
    expect(bySeverity(all).map(({ id }) => id)).not.toEqual(all.map(({ id }) => id))
  })

  it.each(['', 'state=open', 'min_severity=high', 'to=2026-01-05T12:00:03Z', 'mode=enforce'])(
    'pages the most severe first, then the newest: %s',
    async (query) => {
      const expected = bySeverity((await list(`${query}&order=newest&limit=200`)).incidents).map(({ id }) => id)
      expect(expected.length).toBeGreaterThan(2)
      const found: string[] = []
      let cursor: string | null = ''
      while (cursor !== null) {
        const page = await list(`${query}&order=severity&limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`)
        expect(page.total).toBe(expected.length)
        found.push(...page.incidents.map(({ id }) => id))
        cursor = page.next_cursor
      }
      expect(found).toEqual(expected)
    },
  )

  it('rejects a cursor of another order', async () => {
    const { next_cursor: newest } = await list('limit=1')
    const { next_cursor: severe } = await list('limit=1&order=severity')
    for (const query of [`order=severity&cursor=${newest}`, `cursor=${severe}`]) {
      const { status, body } = await platform.call<Problem>('GET', `/api/v1/incidents?${query}`)
      expect([status, body.errors?.[0]?.path]).toEqual([422, 'cursor'])
    }
  })

  it.each([
    'state=closed',
    'state=',
    'state=open,',
    'severity=open',
    'min_severity=low,high',
    'mode=on',
    'from=today',
    'order=policy',
    'q=',
    ...beyond,
  ])('rejects %s', async (query) => {
    const { status, body } = await platform.call<Problem>('GET', `/api/v1/incidents?${query}`)
    expect([status, body.errors?.[0]?.path]).toEqual([422, query.split('=')[0]])
    if (beyond.includes(query)) expect(body.detail).toMatch(/whole number from 1 to 200|from 1 to 200, found/)
  })
})
