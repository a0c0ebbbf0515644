// Groups of incidents: their numbers, pages and filters, and the list of the incidents of one group.
import type { AgentList, Incident, IncidentGroupList, IncidentList, Problem } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'

let now = Date.parse('2026-01-05T12:00:00Z')
let platform: TestPlatform
beforeAll(async () => {
  platform = await startPlatform({ clock: () => now })
  for (const agent_key of ['a', 'b'])
    await platform.call('POST', '/api/v1/agents', { as: 'key', body: { agent_key, owner_id: 'o', purpose: 'p' } })
  for (const [agent_key, task_id, steps] of [
    ['a', 'one', 3],
    ['b', 'two', 1],
    ['a', 'three', 1],
    ['a', 'four', 2],
  ] as const)
    for (let step = 1; step <= steps; step += 1) {
      now += 1000
      const properties = step === 2 ? { properties: { data: { labels: ['secret'] } } } : {}
      const output = step === 3 ? { output: { status: 'blocked' } } : {}
      const kind = { step_type: step === 2 ? 'step.model' : 'step.exec', timestamp: '2026-01-05T09:00:00Z' }
      const body = { agent_key, task_id, step, ...kind, ...properties, ...output }
      await platform.call('POST', '/api/v1/logs', { as: 'key', body })
    }
})
afterAll(() => discard(platform))

async function groups(query = ''): Promise<IncidentGroupList> {
  const { status, body } = await platform.call<IncidentGroupList>('GET', `/api/v1/incidents/groups?${query}`)
  expect([query, status]).toEqual([query, 200])
  return body
}

async function incidents(query = ''): Promise<readonly Incident[]> {
  return (await platform.call<IncidentList>('GET', `/api/v1/incidents?limit=200&${query}`)).body.incidents
}

const keyOf = (one: Pick<Incident, 'policy_id' | 'agent_id' | 'effect'> & { code: string }) =>
  [one.policy_id, one.agent_id, one.code, one.effect].join(' ')
const keyOfIncident = (one: Incident) => keyOf({ ...one, code: one.violation_details.code })

/** The groups that these incidents have, computed here. */
function expected(all: readonly Incident[]) {
  return [...new Set(all.map(keyOfIncident))].map((key) => {
    const members = all.filter((one) => keyOfIncident(one) === key)
    const latest = members.reduce((one, other) => (other.log_index > one.log_index ? other : one))
    return {
      key,
      incidents: members.length,
      open: members.filter(({ state }) => state === 'open' || state === 'active').length,
      occurrences: members.reduce((sum, { occurrences }) => sum + occurrences, 0),
      first_seen: members.map(({ first_seen }) => first_seen).sort()[0],
      reason: latest.violation_details.reason,
      latest_incident_id: latest.id,
      severity: latest.severity,
      policy_name: latest.policy_name,
    }
  })
}

function shown({ groups }: IncidentGroupList) {
  return groups.map((group) => {
    const { incidents, open, occurrences, first_seen, reason, latest_incident_id, severity, policy_name } = group
    const key = keyOf(group)
    return { key, incidents, open, occurrences, first_seen, reason, latest_incident_id, severity, policy_name }
  })
}

const byKey = (one: { key: string }, other: { key: string }) => (one.key < other.key ? -1 : 1)

describe('groups of incidents', () => {
  it('count the incidents of each policy, agent, code and effect, last seen first', async () => {
    const all = await incidents()
    const list = await groups()
    expect(shown(list).sort(byKey)).toEqual(expected(all).sort(byKey))
    expect(list.total).toBe(expected(all).length)
    expect(list.groups.length).toBeLessThan(all.length)
    expect(list.groups.some(({ incidents }) => incidents > 1)).toBe(true)
    const { agents } = (await platform.call<AgentList>('GET', '/api/v1/agents')).body
    const names = new Map(agents.map(({ agent_id, name }) => [agent_id, name]))
    const times = list.groups.map(({ last_seen }) => last_seen)
    expect(times).toEqual(times.toSorted().reverse())
    for (const group of list.groups) {
      const members = all.filter((one) => keyOfIncident(one) === keyOf(group))
      expect(group.last_seen).toBe(
        members
          .map(({ last_seen }) => last_seen)
          .sort()
          .at(-1),
      )
      expect(group.agent_name).toBe(names.get(group.agent_id))
    }
  })

  it('have exactly the incidents that the list selects by the members of the group', async () => {
    for (const { policy_id, agent_id, code, effect, incidents: count } of (await groups()).groups) {
      const query = `policy_id=${policy_id}&agent_id=${agent_id}&code=${code}&effect=${effect}`
      const members = await incidents(query)
      expect(members.length).toBe(count)
      for (const member of members) expect(keyOfIncident(member)).toBe([policy_id, agent_id, code, effect].join(' '))
    }
  })

  it('neither repeat nor skip a group between pages', async () => {
    const all = await groups()
    const found: string[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const page: IncidentGroupList = await groups(`limit=1${cursor && `&cursor=${cursor}`}`)
      expect([page.total, page.groups.length <= 1]).toEqual([all.total, true])
      found.push(...page.groups.map(keyOf))
      cursor = page.next_cursor
    }
    expect(found).toEqual(all.groups.map(keyOf))
  })

  it('follow incidents that change their state, and count those of a state alone with the filter', async () => {
    const [first, ...others] = await incidents()
    await platform.call('POST', `/api/v1/incidents/${first?.id}/resolve`)
    const all = await incidents()
    for (const [query, members] of [
      ['', all],
      ['state=open', all.filter(({ state }) => state === 'open')],
      ['state=resolved', all.filter(({ id }) => id === first?.id)],
      ['min_severity=high', all.filter(({ severity }) => severity === 'high' || severity === 'critical')],
      [`agent_id=${others[0]?.agent_id}`, all.filter(({ agent_id }) => agent_id === others[0]?.agent_id)],
      [`policy_id=${first?.policy_id}`, all.filter(({ policy_id }) => policy_id === first?.policy_id)],
      ['effect=blocked', all.filter(({ effect }) => effect === 'blocked')],
      ['code=absent', []],
      ['q=CODE', all.filter(({ policy_name }) => /code/i.test(policy_name))],
    ] as const)
      expect([query, shown(await groups(query)).sort(byKey)]).toEqual([query, expected(members).sort(byKey)])
  })

  it.each(['state=closed', 'effect=none', 'limit=201', 'cursor=x', 'cursor=MQ', 'task_id=one'])(
    'reject %s',
    async (query) => {
      const { status, body } = await platform.call<Problem>('GET', `/api/v1/incidents/groups?${query}`)
      expect([status, body.errors?.[0]?.path]).toEqual([422, query.split('=')[0]])
    },
  )
})
