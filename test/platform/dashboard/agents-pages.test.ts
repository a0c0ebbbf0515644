// The pages of agents and stops: who is governed, tools without a declaration, and the acts of members with what they do.
import type { Agent, RegisteredAgent, Stop, StopList } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { actsIn, readable } from '../../support/people/page-reader.js'
import { addressOf, hostile, injectedIn, startTeam, type Team } from '../../support/people/pages.js'

let team: Team
let count = 0
beforeAll(async () => {
  team = await startTeam()
})
afterAll(() => team.close())

async function register(more: object = {}): Promise<Agent> {
  count += 1
  const body = { agent_key: `agent-${count}`, name: `Agent ${count}`, owner_id: 'mia', purpose: 'p', ...more }
  const made = await team.platform.call<RegisteredAgent>('POST', '/api/v1/agents', { as: 'key', body })
  expect([made.status, made.body]).toEqual([
    expect.any(Number),
    expect.objectContaining({ agent_id: expect.any(String) }),
  ])
  return agent(made.body.agent_id)
}
const agent = async (id: string) => (await team.platform.call<Agent>('GET', `/api/v1/agents/${id}`)).body
const heartbeat = (agent_key: string, load_state = 'enforcing') =>
  team.platform.call('POST', '/api/v1/engines/heartbeat', {
    as: 'key',
    body: {
      agent_key,
      instance_id: `engine-of-${agent_key}`,
      version: '9.8.7',
      load_state,
      policy_count: 15,
      since: new Date().toISOString(),
    },
  })
const shown = async (path: string, as?: Parameters<Team['look']>[1]) => readable((await team.look(path, as)).text)
const stopsOf = async (id: string) =>
  (await team.platform.call<StopList>('GET', `/api/v1/stops?agent_id=${id}`)).body.stops
const stop = async (body: object) =>
  (await team.platform.call<Stop>('POST', '/api/v1/stops', { body: { reason: 'it leaks', ...body } })).body

describe('the list of agents', () => {
  it('says which agents run without an engine, since when, and that steps came', async () => {
    const [silent, heard] = [await register(), await register()]
    await heartbeat(heard.agent_key)
    const step = { step: 1, step_type: 'step.model', timestamp: new Date().toISOString() }
    for (const { agent_key } of [silent, heard]) {
      const body = { ...step, agent_key, task_id: `of ${agent_key}` }
      expect((await team.platform.call('POST', '/api/v1/logs', { as: 'key', body })).status).toBe(201)
    }
    const without = await shown('/agents?engine=false')
    const row = new RegExp(
      `${silent.agent_key} no known engine checks it none has reported since its registration, \\S+ \\S+ UTC development unclassified .*? UTC`,
    )
    expect(without).toMatch(row)
    expect(without).not.toContain(heard.agent_key)
    expect(await shown('/agents?engine=true')).toContain(heard.agent_key)
    await team.platform.call('DELETE', `/api/v1/agents/${silent.agent_id}`)
    expect(await shown('/agents?engine=false')).not.toContain(silent.agent_key)
  })

  it('says which agents are governed, and why others are not', async () => {
    const governed = await register()
    const silent = await register({ environment: 'production' })
    expect((await heartbeat(governed.agent_key)).status).toBe(204)
    const all = await shown('/agents')
    expect(all).toContain(`${governed.name} ${governed.agent_key} governed 9.8.7 seen`)
    expect(all).toContain(
      `${silent.name} ${silent.agent_key} no known engine checks it none has reported since its registration`,
    )
    const ungoverned = await shown('/agents?governed=false')
    expect([ungoverned.includes(silent.agent_key), ungoverned.includes(governed.agent_key)]).toEqual([true, false])
    expect(await shown('/agents?q=nothing-like-it')).toContain('Nothing matches this filter.')
    expect(ungoverned).not.toContain('governed: false')
    const both = await shown(`/agents?governed=false&stopped=false`)
    expect(both).toMatch(/Not governed or not known × stopped: false ×/)
    const policies = await shown(`/policies?agent_id=${silent.agent_id}&manifest_id=man_unknown`)
    expect(policies).toContain(`agent: ${silent.name} × manifest id: man_unknown ×`)
    const own = await shown(`/policies?agent_id=${silent.agent_id}`)
    expect(own).toContain(`Policies of ${silent.name} · svc`)
    expect(own).toMatch(/Baseline \S+baseline\.yaml @ bundled library, blob/)
    expect([own.includes('Applies to'), (await shown('/policies')).includes('Applies to')]).toEqual([false, true])
    expect(await shown('/policies?agent_id=ag_0')).toContain('Policies · svc')
    const csv = await team.look('/agents.csv?governed=true')
    expect([csv.status, csv.text.includes(governed.agent_id), csv.text.includes(silent.agent_id)]).toEqual([
      200,
      true,
      false,
    ])
  })

  it('offers the button that stops all agents to those who may press it', async () => {
    expect((await team.look('/agents', 'member')).text).toContain('href="/stops/new"')
    expect((await team.look('/agents', 'auditor')).text).not.toContain('href="/stops/new"')
  })
})

describe('the page of an agent', () => {
  it('shows its engines, its manifests and its policies', async () => {
    const { agent_id, agent_key } = await register()
    await heartbeat(agent_key)
    const { status, text } = await team.look(`/agents/${agent_id}`)
    const page = readable(text)
    expect(status).toBe(200)
    expect(page).toContain('Governed without a gap since')
    expect(page).toContain('Engine 9.8.7, 15 policies in effect')
    expect(page).toMatch(/Baseline \S+baseline\.yaml @ release \S+ text since .* in force 15/)
    expect(text).toContain(`href="/policies?agent_id&#x3D;${agent_id}&amp;enabled&#x3D;true"`)
    await heartbeat(agent_key, 'all_dropped')
    const after = await shown(`/agents/${agent_id}`)
    expect(after).toMatch(
      /periods? without enforcement .* UTC now its engine rejected every policy .* UTC no engine had reported yet/,
    )
    expect(after).toContain('not governed its engine rejected every policy')
    expect(after).toContain('What to do: Update the engine')
  })

  it('names tools that were used without a declaration, and declared ones without a use', async () => {
    const { agent_id } = await register({ declared_tools: ['read_mail', 'send_mail'] })
    for (const [index, step_name] of ['read_mail', 'delete_all'].entries()) {
      const step = { task_id: `tools-${agent_id}`, step: index + 1, step_type: 'step.resource', verb: 'GET', step_name }
      const body = { agent_id, timestamp: '2026-01-05T09:00:00Z', ...step }
      await team.platform.call('POST', '/api/v1/logs', { as: 'key', body })
    }
    const page = await shown(`/agents/${agent_id}`)
    expect(page).toContain('1 tool is used but not declared.')
    expect(page).toMatch(
      /delete_all used, not declared 1.*read_mail declared and used 1.*send_mail declared, not used 0/,
    )
    expect(page).toContain('the last 2 steps')
    expect(await shown(`/agents/${(await register()).agent_id}`)).toContain('The agent never declared its tools.')
  })

  it('shows hostile texts as texts', async () => {
    const { agent_id } = await register({
      agent_key: hostile,
      name: hostile,
      owner_id: hostile,
      declared_tools: [hostile],
    })
    await stop({ agent_id, reason: hostile })
    const [made] = await stopsOf(agent_id)
    const paths = [
      `/agents/${agent_id}`,
      `/agents/${agent_id}?do=change`,
      `/agents/${agent_id}?do=deactivate`,
      '/agents',
    ]
    const stops = ['/stops', `/stops/${made?.id}`, `/stops/${made?.id}?do=resume`, `/stops/new?agent_id=${agent_id}`]
    for (const path of [...paths, ...stops]) {
      const { status, text } = await team.look(path)
      expect([path, status, injectedIn(text), text.includes('&lt;script&gt;')]).toEqual([path, 200, [], true])
    }
  })

  it('is not found in another workspace, nor without a sign-in of it', async () => {
    const { agent_id } = await register()
    const { id } = await stop({ agent_id })
    for (const path of [`/agents/${agent_id}`, `/stops/${id}`, `/stops/new?agent_id=${agent_id}`])
      expect([path, (await team.look(path, 'stranger')).status]).toEqual([path, 404])
    const tried = await team.press(`/agents/${agent_id}`, { act: 'deactivate' }, 'stranger')
    expect([tried.status, (await agent(agent_id)).active]).toEqual([404, true])
  })
})

describe('the acts of the page of an agent', () => {
  it('change its fields, keep what was typed after an error, and restore what it declares', async () => {
    const { agent_id } = await register()
    const at = `/agents/${agent_id}?do=change`
    const now = { name: 'Desk', owner_id: 'mia', purpose: 'pays\r\nrefunds', environment: 'production' }
    const wrong = await team.press(at, { act: 'change', ...now, name: 'a\u202eb' })
    expect([wrong.status, wrong.text.includes('value="a\u202eb"')]).toEqual([422, true])
    const { status, location } = await team.press(at, { act: 'change', ...now })
    expect([status, location]).toEqual([303, `/agents/${agent_id}`])
    expect(await agent(agent_id)).toMatchObject({ ...now, purpose: 'pays\nrefunds' })
    await team.press(at, { act: 'change', ...now, name: '', environment: '' })
    expect(await agent(agent_id)).toMatchObject({ name: `Agent ${count}`, environment: 'development', owner_id: 'mia' })
  })

  it('confirm the lower risk level that was shown, and no other one', async () => {
    const { agent_id, agent_key } = await register({ risk_classification: 'high' })
    const again = { agent_key, owner_id: 'mia', purpose: 'p', risk_classification: 'minimal' }
    await team.platform.call('POST', '/api/v1/agents', { as: 'key', body: again })
    const { text } = await team.look(`/agents/${agent_id}`)
    expect(readable(text)).toContain('Policies use high until a member confirms the lower level')
    expect(actsIn(text)).toEqual(['confirm'])
    expect(actsIn((await team.look(`/agents/${agent_id}`, 'auditor')).text)).toEqual([])
    expect((await team.press(`/agents/${agent_id}`, { act: 'confirm', level: 'limited' })).status).not.toBe(303)
    expect((await team.press(`/agents/${agent_id}`, { act: 'confirm', level: 'minimal' })).status).toBe(303)
    expect(await agent(agent_id)).toMatchObject({ effective_risk_classification: 'minimal' })
  })

  it('deactivate and reactivate it after a page that says what happens', async () => {
    const { agent_id } = await register()
    const at = `/agents/${agent_id}`
    const asked = await shown(`${at}?do=deactivate`)
    expect(asked).toContain('Nothing is known to block its next step: no engine has ever reported.')
    expect(asked).toContain('If it asks the platform before each step, every answer is to block.')
    expect(asked).toContain('rejects the steps that it sends itself (403)')
    expect(asked).not.toContain('Its engine')
    const governed = await register()
    await heartbeat(governed.agent_key)
    const other = await shown(`/agents/${governed.agent_id}?do=deactivate`)
    expect(other).toContain('Its engine blocks every next step.')
    expect(other).toContain('Its engine still delivers the trace of its attempts.')
    expect((await team.press(`${at}?do=deactivate`, { act: 'deactivate' }, 'member')).location).toBe(at)
    expect((await agent(agent_id)).active).toBe(false)
    const page = await team.look(at)
    expect([page.text.includes('do&#x3D;deactivate'), page.text.includes('do&#x3D;reactivate')]).toEqual([false, true])
    expect(await shown('/agents?active=false')).toContain('deactivated')
    expect((await team.press(`${at}?do=reactivate`, { act: 'reactivate' })).location).toBe(at)
    expect((await agent(agent_id)).active).toBe(true)
  })

  it('are absent for an auditor, whose requests are rejected', async () => {
    const { agent_id } = await register()
    const { text } = await team.look(`/agents/${agent_id}`, 'auditor')
    expect([actsIn(text), text.includes('do&#x3D;'), text.includes('/stops/new')]).toEqual([[], false, false])
    for (const form of ['change', 'deactivate'])
      expect(actsIn((await team.look(`/agents/${agent_id}?do=${form}`, 'auditor')).text)).toEqual([])
    for (const act of ['change', 'deactivate'])
      expect((await team.press(`/agents/${agent_id}`, { act, name: 'x' }, 'auditor')).status).toBe(403)
    const stopping = { act: 'stop', target: 'agent', reason: 'r' }
    expect(actsIn((await team.look(`/stops/new?agent_id=${agent_id}`, 'auditor')).text)).toEqual([])
    expect((await team.press(`/stops/new?agent_id=${agent_id}`, stopping, 'auditor')).status).toBe(403)
    expect([(await agent(agent_id)).active, await stopsOf(agent_id)]).toEqual([true, []])
  })
})

describe('the pages of stops', () => {
  it('stop one agent with a reason, and resume it', async () => {
    const { agent_id, name } = await register()
    const at = `/stops/new?agent_id=${agent_id}`
    expect(await shown(at)).toMatch(
      new RegExp(
        `No engine reports for ${name}: nothing will block its steps, unless it asks .* before each step\\. .*Only ${name}.*Every agent of the API key.*An engine that enforces blocks every next step`,
      ),
    )
    const blank = await team.press(at, { act: 'stop', target: 'key', reason: ' ' })
    expect([blank.status, readable(blank.text), /value="key" checked/.test(blank.text)]).toEqual([
      422,
      expect.stringContaining('The reason is missing'),
      true,
    ])
    expect((await team.press(at, { act: 'stop', target: 'moon', reason: 'r' })).status).toBe(422)
    const { location } = await team.press(at, { act: 'stop', target: 'agent', reason: 'pays twice' }, 'member')
    const [made] = await stopsOf(agent_id)
    expect([location, made]).toMatchObject([`/stops/${made?.id}`, { target: { kind: 'agent' }, reason: 'pays twice' }])
    const page = await shown(`/agents/${agent_id}`)
    expect(page).toContain('Stopped, but no engine is known to block its steps')
    expect(page).toContain(`By ${addressOf('member')}`)
    expect((await team.look(`/stops/${made?.id}`, 'auditor')).text).not.toContain('do&#x3D;resume')
    const resume = `/stops/${made?.id}?do=resume`
    expect((await team.press(resume, { act: 'resume', choice: 'all' }, 'auditor')).status).toBe(403)
    const pressed = await team.press(resume, { act: 'resume', choice: 'all', note: 'repaired' })
    expect(pressed.location).toBe(`/stops/${made?.id}`)
    expect(await stopsOf(agent_id)).toEqual([])
    expect(await shown(`/stops/${made?.id}`)).toMatch(/ended Stopped .*repaired/)
    expect((await team.press(resume, { act: 'resume', choice: 'all' })).status).toBe(409)
  })

  it('say that every next step is blocked only where an engine enforces', async () => {
    const blocked = await register()
    const free = await register()
    await heartbeat(blocked.agent_key)
    await heartbeat(free.agent_key, 'unavailable')
    for (const { agent_id } of [blocked, free]) await stop({ agent_id })
    const warning = /The stop is on, but/
    expect(await shown(`/agents/${blocked.agent_id}`)).toContain('Stopped: its engine blocks every next step')
    expect(await shown(`/agents/${free.agent_id}`)).toContain(
      `${free.name} may continue, unless it asks the platform before each step: its engine could not load the policies. Stop its process, revoke its API key or start`,
    )
    const [page, other] = await Promise.all(
      [blocked, free].map(async ({ agent_id }) => shown(`/stops/${(await stopsOf(agent_id))[0]?.id}`)),
    )
    expect([page, other]).toEqual([expect.stringContaining(`Stop of ${blocked.name}`), expect.stringMatching(warning)])
    expect([page?.includes('every next step is blocked'), other?.includes('every next step is blocked')]).toEqual([
      true,
      false,
    ])
    expect(page).not.toMatch(warning)
    expect(page).toContain('on Stops')
    expect(page).toContain('Stop set for 1 agent; 1 confirmed by an engine: every next step is blocked.')
    expect(other).toContain('on, without effect known Stops')
    expect(other).toContain('Stop set for 1 agent; 0 confirmed by an engine.')
    await heartbeat(blocked.agent_key, 'stale_cache')
    expect(await shown(`/agents/${blocked.agent_id}`)).toContain(
      `${blocked.name} may continue, unless it asks the platform before each step: its engine could not load the policies again`,
    )
    const form = await team.look(`/stops/${(await stopsOf(free.agent_id))[0]?.id}?do=resume`)
    expect([readable(form.text).includes(`Resume ${free.name}`), form.text.includes('type="radio"')]).toEqual([
      true,
      false,
    ])
    const all = await stop({ workspace: true })
    const counts = await team.look(`/stops/${all.id}`)
    expect(readable(counts.text)).toMatch(
      /The stop is on\. \d+ agents have an engine that reports .* \d+ agents have none/,
    )
    expect(counts.text).toContain(`href="/agents?stop_id&#x3D;${all.id}&amp;governed&#x3D;false"`)
    await team.platform.call('POST', `/api/v1/stops/${all.id}/resume`, { body: {} })
  })

  it('stop the workspace, and resume it by stages', async () => {
    const { agent_id, name } = await register()
    const { location } = await team.press('/stops/new', { act: 'stop', target: 'workspace', reason: 'the key leaked' })
    expect(await shown('/stops?state=stopped')).toContain('the key leaked on every agent of the workspace')
    const resume = `${location}?do=resume&agent_id=${agent_id}`
    expect(await shown(resume)).toContain(`Only ${name}`)
    for (const percent of ['', '0', '101', 'x'])
      expect((await team.press(resume, { act: 'resume', choice: 'percent', percent })).status).toBe(422)
    expect((await team.press(resume, { act: 'resume' })).status).toBe(422)
    expect((await team.press(resume, { act: 'resume', choice: 'agent' })).status).toBe(303)
    expect(await stopsOf(agent_id)).toEqual([])
    expect((await team.press(resume, { act: 'resume', choice: 'percent', percent: '60' })).status).toBe(303)
    const page = await shown(location ?? '')
    expect(page).toMatch(/resumed in part.*Stop set for \d+ agents; \d+ confirmed by an engine.*1 agent .*up to 60 %/)
    expect((await team.press(resume, { act: 'resume', choice: 'all' })).status).toBe(303)
    expect(await shown(location ?? '')).toContain('The stop has ended.')
  })
})
