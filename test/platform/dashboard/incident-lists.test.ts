// The lists of incidents: groups and their answers, neighbours, steps of the evidence, and named views.
import type { Agent, Incident, IncidentGroupList, IncidentList, ViewList } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { registerAgent, violate } from '../../support/http/actions.js'
import { hostile, hrefsIn, injectedIn, startTeam, type Team } from '../../support/people/pages.js'

let team: Team
/** Incidents of one group, oldest first. */
let ids: string[]
let agent: Agent
beforeAll(async () => {
  team = await startTeam()
  await registerAgent(team.platform)
  ids = []
  for (const task_id of ['one', 'two', 'three']) ids.push(await violate(team.platform, task_id))
  const { agents } = (await call<{ agents: Agent[] }>('GET', '/api/v1/agents')).body
  agent = agents[0] as Agent
})
afterAll(() => team.close())

const call = <T>(method: string, path: string, body?: unknown) =>
  team.platform.call<T>(method, path, body === undefined ? {} : { body })
const incident = async (id: string) => (await call<Incident>('GET', `/api/v1/incidents/${id}`)).body

describe('the list of groups', () => {
  /** The addresses of the page that begin so, without those of the navigation. */
  const linksTo = async (page: string, begin: string) =>
    hrefsIn((await team.look(page)).text).filter((href) => href.startsWith(begin) && href.includes('policy_id='))

  it('leads from each number to the incidents that it counts', async () => {
    const { groups } = (await call<IncidentGroupList>('GET', '/api/v1/incidents/groups')).body
    const group = groups.find(({ latest_incident_id }) => latest_incident_id === ids[2])
    expect(group).toMatchObject({ incidents: 3, open: 3 })
    const links = await linksTo('/incidents/groups', '/incidents?')
    const counts = new Set<number>()
    for (const href of links.filter((one) => one.includes(`code=${group?.code}`))) {
      const { body } = await call<IncidentList>('GET', `/api/v1${href}&limit=200`)
      counts.add(body.total)
    }
    expect(counts).toEqual(new Set([3]))
  })

  it('keeps its filter in the links, and the filters that both lists know in the tabs', async () => {
    const { text } = await team.look('/incidents/groups?severity=critical&state=open')
    expect(hrefsIn(text)).toContain('/incidents?severity=critical&state=open')
    const one_by_one = hrefsIn((await team.look('/incidents?severity=critical&mode=enforce')).text)
    expect(one_by_one).toContain('/incidents/groups?severity=critical')
    for (const href of await linksTo('/incidents/groups?state=open', '/incidents?'))
      expect(href).toContain('state=open')
  })

  it('names the agent, and is downloaded', async () => {
    expect((await team.look('/incidents/groups')).text).toContain(agent.name || agent.agent_id)
    const { status, text } = await team.look('/incidents/groups.csv')
    expect([status, text.split(',')[0]]).toEqual([200, 'policy_id'])
  })

  it('answers a group after a question that names its incidents', async () => {
    const [href = ''] = (await linksTo('/incidents/groups', '/incidents/resolve?')).filter((one) =>
      one.includes(`agent_id=${agent.agent_id}`),
    )
    const { text } = await team.look(href)
    for (const id of ids) expect(text).toContain(`name="selected" value="${id}"`)
    expect(text).toContain('Resolve 3 incidents?')
    const note = 'a known test'
    const done = await team.press(href, { act: 'move', move: 'resolve', selected: ids.slice(0, 2), note })
    expect([done.status, done.location?.startsWith('/incidents?')]).toEqual([303, true])
    for (const id of ids.slice(0, 2)) expect(await incident(id)).toMatchObject({ state: 'resolved', note })
    const again = await team.press(href, { act: 'move', move: 'resolve', selected: ids.slice(0, 2) })
    expect([again.status, again.text]).toEqual([200, expect.stringContaining('These were not:')])
    const rest = await team.look(href)
    expect(rest.text).toContain('Resolve 1 incident?')
    expect((await team.look(`${href}&q=absent`)).text).toContain('No incident that this filter selects')
  })

  it('offers no answer to an auditor, whose form is rejected', async () => {
    const { text } = await team.look('/incidents/groups', 'auditor')
    expect(text).not.toContain('/incidents/resolve')
    const question = await team.look('/incidents/resolve?state=open', 'auditor')
    expect([question.status, question.text.includes('name="act"')]).toEqual([403, false])
    const form = { act: 'move', move: 'resolve', selected: ids.slice(2) }
    const tried = await team.press('/incidents/resolve?state=open', form, 'auditor')
    expect([tried.status, (await incident(ids[2] ?? '')).state]).toEqual([403, 'open'])
  })

  it('is empty for a stranger, and their move finds no incident', async () => {
    expect((await team.look('/incidents/groups', 'stranger')).text).toContain('No policy was violated yet.')
    const form = { act: 'move', move: 'resolve', selected: ids.slice(2) }
    const tried = await team.press('/incidents/resolve?state=open', form, 'stranger')
    expect([tried.text, (await incident(ids[2] ?? '')).state]).toEqual([
      expect.stringContaining('0 incidents were moved'),
      'open',
    ])
  })

  it('rejects an unknown filter', async () => {
    expect((await team.look('/incidents/groups?mode=observe')).status).toBe(422)
  })
})

describe('incidents that a person has taken', () => {
  const mine = 'state=active&severity=critical&reviewed_by=me'
  let taken: string
  beforeAll(async () => {
    taken = await violate(team.platform, 'taken')
    const act = { act: 'review' }
    expect((await team.press(`/incidents/${taken}`, act, 'member')).status).toBe(303)
  })
  const shownTo = async (person: 'owner' | 'member', query: string, list = '/incidents') => {
    const { text } = await team.look(`${list}?${query}`, person)
    return { text, has: text.includes(`href="/incidents/${taken}`) }
  }

  it('are the open, critical ones of that person alone, which the list explains and names', async () => {
    const { text, has } = await shownTo('member', mine)
    expect([has, (await shownTo('owner', mine)).has]).toEqual([true, false])
    const ofMember = await shownTo('owner', `reviewed_by=${(await incident(taken)).reviewed_by}`)
    expect([ofMember.has, ofMember.text.includes('by <bdi>member@')]).toEqual([true, true])
    expect(ofMember.text).toMatch(/<option value="person:[^"]+" selected>member@/)
    const preset = await shownTo('member', `${mine}&order=severity`)
    expect(preset.text).toMatch(/aria-current="true">My open, critical/)
    expect(preset.text).toContain('in review by you')
    expect(text).not.toMatch(/>usr_/)
  })

  it('are found in groups, whose answer keeps the filter', async () => {
    expect((await shownTo('member', mine, '/incidents/groups')).has).toBe(true)
    const { text } = await shownTo('owner', mine, '/incidents/groups')
    expect(text).toContain('Nothing matches this filter.')
    const asked = await team.look(`/incidents/resolve?${mine}`, 'member')
    expect([...asked.text.matchAll(/name="selected" value="([^"]+)"/g)].map(([, id]) => id)).toEqual([taken])
    expect((await team.look(`/incidents/resolve?${mine}`)).text).toContain('No incident that this filter selects')
  })

  it('leave the list of those that no one has taken', async () => {
    const open = 'state=open&severity=critical'
    expect((await shownTo('owner', open)).has).toBe(false)
    expect((await incident(taken)).state).toBe('active')
  })

  it('are counted and grouped as they are listed', async () => {
    const { reviewed_by } = await incident(taken)
    const { body } = await call<IncidentList>('GET', `/api/v1/incidents?reviewed_by=${reviewed_by}`)
    const { groups } = (await call<IncidentGroupList>('GET', `/api/v1/incidents/groups?reviewed_by=${reviewed_by}`))
      .body
    expect([body.total, body.incidents.map(({ id }) => id)]).toEqual([1, [taken]])
    expect(groups.map(({ incidents, latest_incident_id }) => [incidents, latest_incident_id])).toEqual([[1, taken]])
  })
})

describe('the list by severity', () => {
  const filter = 'state=open,active&order=severity'
  beforeAll(async () => {
    // A registration without an owner and a purpose: incidents that are newer and less severe.
    await team.platform.call('POST', '/api/v1/agents', { as: 'key', body: { agent_key: 'bare' } })
  })
  const listed = async (query: string) => (await call<IncidentList>('GET', `/api/v1/incidents?${query}`)).body.incidents

  it('is where the navigation leads, as a marked preset, with the most severe first', async () => {
    const { text } = await team.look(`/incidents?${filter}`)
    expect(hrefsIn(text)).toContain(`/incidents?${filter}`)
    expect(text).toMatch(/aria-current="true">Open or in review/)
    const found = await listed(filter)
    expect(new Set(found.map(({ severity }) => severity)).size).toBeGreaterThan(1)
    expect([...text.matchAll(/name="selected" value="([^"]+)"/g)].map(([, id]) => id)).toEqual(
      found.map(({ id }) => id),
    )
  })

  it('is downloaded in its order, and leads on in it', async () => {
    const [first, second] = await listed(filter)
    const rows = JSON.parse((await team.look(`/incidents.json?${filter}`)).text) as Incident[]
    expect(rows.map(({ id }) => id)).toEqual((await listed(filter)).map(({ id }) => id))
    const { text } = await team.look(`/incidents/${first?.id}?${filter}`)
    const next = hrefsIn(text).find((href) => href.startsWith(`/incidents/${second?.id}?`)) ?? ''
    expect(next).toContain('order=severity')
  })

  it('counts no filter for its order, and is empty without an incident at all', async () => {
    expect((await team.look('/incidents?order=severity', 'stranger')).text).toContain('No policy was violated yet.')
    expect((await team.look('/incidents?order=severity')).text).not.toContain('Filter (')
  })
})

describe('the page of an incident of a list', () => {
  it('leads to its neighbours in the filtered list, and back', async () => {
    const filter = `agent_id=${agent.agent_id}`
    const [first, second, third] = ids
    const { text } = await team.look(`/incidents/${second}?${filter}`)
    const links = hrefsIn(text)
    expect(links).toContain(`/incidents?${filter}`)
    expect(text).toMatch(new RegExp(`rel="prev" href="/incidents/${third}\\?agent_id&#x3D;`))
    expect(text).toMatch(new RegExp(`rel="next" href="/incidents/${first}\\?agent_id&#x3D;`))
    const narrow = await team.look(`/incidents/${second}?state=open`)
    expect(narrow.text).not.toContain('Next incident')
  })

  it('shows the steps that caused it, with their links', async () => {
    const { text } = await team.look(`/incidents/${ids[0]}`)
    expect(text).toContain('Steps that caused it')
    expect(hrefsIn(text)).toContain('/tasks/one?around=1#step-1')
  })

  it('says of a step that was never recorded that it is not in the log', async () => {
    const { policy_id, violation_details } = await incident(ids[0] ?? '')
    const evidence = [{ step: 41, step_type: 'step.exec', step_name: 'shell' }]
    const details = { ...violation_details, evidence }
    const report = { policy_id, agent_key: agent.agent_key, task_id: 'unrecorded', step: 42, evaluation_id: 'e' }
    const body = { ...report, reason: violation_details.reason, violation_details: details }
    const sent = await team.platform.call<{ incident_id: string }>('POST', '/api/v1/incidents', { as: 'key', body })
    const { status, text } = await team.look(`/incidents/${sent.body.incident_id}`)
    expect([status, text]).toEqual([200, expect.stringContaining('Not in the log.')])
    expect(text).toContain('the log has no record of its step')
    expect(text).not.toContain('Verify its record')
  })

  it('says who may answer it', async () => {
    expect((await team.look(`/incidents/${ids[2]}`)).text).toContain('Owners, admins and members')
    expect((await team.look(`/incidents/${ids[2]}`, 'auditor')).text).toContain('Your role reads incidents.')
  })
})

describe('the named views of a list', () => {
  const views = async (list: string) => (await call<ViewList>('GET', `/api/v1/views?list=${list}`)).body.views
  const save = { act: 'save_view', name: 'Severe' }

  it('save the filter of the address, and are shown to every member as the current one', async () => {
    const path = '/incidents?state=open&severity=high,critical&from=2026-01-02'
    expect((await team.look(path)).text).toContain('Save this filter as…')
    const saved = await team.press(path, save, 'member')
    expect([saved.status, saved.location]).toEqual([303, path])
    const [view] = await views('incidents')
    expect(Object.fromEntries(new URLSearchParams(view?.query))).toEqual({
      from: '2026-01-02T00:00:00.000Z',
      severity: 'high,critical',
      state: 'open',
    })
    const { text } = await team.look(path, 'auditor')
    expect(text).toMatch(/aria-current="true"><bdi>Severe<\/bdi>/)
    const href = hrefsIn(text).find((one) => one.includes('from=2026-01-02T00:00:00.000Z')) ?? ''
    expect((await team.look(href)).text).toMatch(/value="2026-01-02"[\s\S]*aria-label="Rows"/)
  })

  it('keep the name that was rejected in the form', async () => {
    const path = '/incidents?state=resolved'
    const taken = await team.press(path, save)
    expect([taken.status, taken.text]).toEqual([409, expect.stringContaining('This list has a view of this name')])
    expect(taken.text).toMatch(/<details open>[\s\S]*name="name" value="Severe"/)
    expect((await team.press(path, { ...save, name: ' ' })).status).toBe(422)
    expect((await team.press(path, { ...save, name: 'a\u202eb' })).status).toBe(422)
    expect((await team.press('/incidents', { ...save, name: 'everything' })).status).toBe(422)
    expect(await views('incidents')).toHaveLength(1)
  })

  it('show hostile names as texts, and are removed', async () => {
    expect((await team.press('/tasks?status=error', { ...save, name: hostile })).status).toBe(303)
    const { text } = await team.look('/tasks')
    expect([injectedIn(text), text]).toEqual([[], expect.stringContaining('{{7*7}}')])
    const [view] = await views('tasks')
    const removed = await team.press('/tasks', { act: 'remove_view', id: view?.id ?? '' })
    expect([removed.status, await views('tasks')]).toEqual([303, []])
    expect((await team.press('/tasks', { act: 'remove_view', id: view?.id ?? '' })).status).toBe(404)
  })

  it('have no form for an auditor, whose request is rejected', async () => {
    expect((await team.look('/incidents?state=open', 'auditor')).text).not.toContain('save_view')
    expect((await team.press('/incidents?state=open', save, 'auditor')).status).toBe(403)
    const [view] = await views('incidents')
    expect((await team.press('/incidents', { act: 'remove_view', id: view?.id ?? '' }, 'auditor')).status).toBe(403)
    expect((await team.press('/incidents', { act: 'remove_view', id: view?.id ?? '' }, 'stranger')).status).toBe(404)
    expect(await views('incidents')).toHaveLength(1)
  })

  it('are not shown in another workspace', async () => {
    expect((await team.look('/incidents', 'stranger')).text).not.toContain('Severe')
  })
})
