// The overview and the search: what they count and find, where their links lead, and for which people.
import type { ActionList, AgentList, IncidentList, LogCheckpoint, Overview, Stop } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { makeAction, registerAgent, violate } from '../../support/http/actions.js'
import { hostile, injectedIn, startTeam, type Team } from '../../support/people/pages.js'

let team: Team
let agent_id: string
let incident_id: string
beforeAll(async () => {
  team = await startTeam({ SVC_CHECKPOINT_SECONDS: '1' })
})
afterAll(() => team.close())

/** The text of each link of a page, by its address. */
function linksIn(page: string): Map<string, string> {
  const found = [...page.matchAll(/<a [^>]*?href="([^"]+)"[^>]*>(.*?)<\/a>/gs)]
  const plain = (html: string) => html.replaceAll(/<[^>]+>/g, '').trim()
  return new Map(
    found.map(([, href = '', label = '']) => [href.replaceAll('&#x3D;', '=').replaceAll('&amp;', '&'), plain(label)]),
  )
}

describe('the overview', () => {
  it('shows the first commands until a step was recorded', async () => {
    const { status, text } = await team.look('/')
    expect([status, text]).toEqual([200, expect.stringContaining('Bring the first step in')])
    expect(text).toContain('value="key"')
    expect((await team.look('/', 'auditor')).text).not.toContain('value="key"')
  })

  it('counts what needs doing, each number with the list that it counts', async () => {
    await registerAgent(team.platform)
    incident_id = await violate(team.platform, 'task-one')
    const { agents } = (await team.platform.call<AgentList>('GET', '/api/v1/agents')).body
    agent_id = agents[0]?.agent_id ?? ''
    const { status, text } = await team.look('/')
    expect(status).toBe(200)
    const links = linksIn(text)
    const { body } = await team.platform.call<IncidentList>('GET', '/api/v1/incidents?state=open,active')
    const [{ severity } = { severity: '' }] = body.incidents
    const inSeverity = body.incidents.filter((one) => one.severity === severity).length
    expect(links.get('/incidents?state=open,active&order=severity')).toBe(String(body.total))
    expect(links.get(`/incidents?state=open,active&order=severity&severity=${severity}`)).toBe(String(inSeverity))
    expect(links.get('/agents?governed=false')).toBe('1')
    expect(links.get('/agents?engine=false')).toBe('1')
    expect(links.has(`/incidents/${incident_id}`)).toBe(true)
    expect(text).toContain('1 step')
  })

  it('says so where nothing needs doing', async () => {
    const { text } = await team.look('/')
    const links = linksIn(text)
    expect([links.has('/manifests?held=true'), links.has('/tasks?unfinished=true')]).toEqual([false, false])
    for (const words of [
      'No version of a manifest waits for an approval.',
      'No task is past the time limit without a step that ends it.',
    ])
      expect(text).toContain(words)
  })

  it('counts the agents that are stopped, while a stop is on', async () => {
    expect(linksIn((await team.look('/')).text).has('/agents?stopped=true')).toBe(false)
    const body = { agent_id, reason: 'r' }
    const stop = await team.platform.call<Stop>('POST', '/api/v1/stops', { body })
    const { text } = await team.look('/')
    expect([linksIn(text).get('/agents?stopped=true'), text.includes('card urgent')]).toEqual(['1', true])
    await team.platform.call('POST', `/api/v1/stops/${stop.body.id}/resume`, { body: {} })
  })

  it('draws a chart without styles and scripts, with a table of the same days', async () => {
    const { text } = await team.look('/')
    expect(text).toContain('<img src="/chart.svg"')
    const chart = await team.look('/chart.svg')
    expect([chart.status, chart.headers.get('content-type')]).toEqual([200, 'image/svg+xml; charset=utf-8'])
    expect(chart.text).toContain('aria-label="Steps and violations per day"')
    expect(chart.text).not.toMatch(/ style=|<style|<script| on\w+=/)
    expect((await fetch(`${team.platform.url}/chart.svg`, { redirect: 'manual' })).status).toBe(303)
    const day = new Date().toISOString().slice(0, 10)
    expect(linksIn(text).get(`/tasks?from=${day}&to=${day}`)).toBe(day)
  })

  it('says what the signed log includes', async () => {
    const text = await vi.waitFor(async () => {
      const page = (await team.look('/')).text
      expect(page).toContain('The newest step is among them.')
      return page
    }, 10_000)
    expect(Number(linksIn(text).get('/settings/log'))).toBeGreaterThan(0)
    await vi.waitFor(async () => {
      const { size, published_at } = (await team.platform.call<LogCheckpoint>('GET', '/api/v1/log/checkpoint')).body
      const { checkpoint } = (await team.platform.call<Overview>('GET', '/api/v1/overview')).body
      expect(checkpoint).toEqual({ size, published_at })
    }, 10_000)
  })

  it('reads itself again while it is open', async () => {
    expect((await team.look('/')).text).toMatch(/id="live" hx-get="\/" hx-trigger="every 15s" hx-select="#live"/)
  })

  it('is the page of the first task for a person who waits for it', async () => {
    const { status, location } = await team.look('/?waiting=1')
    expect([status, location]).toEqual([303, '/tasks/task-one'])
  })

  it.each(['admin', 'member', 'auditor'] as const)('is shown to an %s', async (role) => {
    const { status, text } = await team.look('/', role)
    expect([status, text]).toEqual([200, expect.stringContaining('Newest incidents')])
  })

  it('shows a stranger nothing of the workspace', async () => {
    const { status, text } = await team.look('/', 'stranger')
    expect([status, text]).toEqual([200, expect.stringContaining('Bring the first step in')])
    expect(text).not.toContain(incident_id)
  })
})

describe('the search', () => {
  it.each([
    ['without a text', '/search', 'tasks by the beginning of their id'],
    ['without a result', '/search?q=zzz', 'Nothing in this workspace matches'],
  ])('says %s what it finds', async (_, path, words) => {
    const { status, text } = await team.look(path)
    expect([status, text]).toEqual([200, expect.stringContaining(words)])
    expect(text).toContain('An exact id opens its page at once.')
  })

  it('opens the page of an exact id', async () => {
    const leads = async (q: string) => (await team.look(`/search?${new URLSearchParams({ q })}`)).location
    expect(await leads('task-one')).toBe('/tasks/task-one')
    expect(await leads(incident_id)).toBe(`/incidents/${incident_id}`)
    expect(await leads(agent_id)).toBe(`/agents/${agent_id}`)
    expect(await leads(` ${agent_id} `)).toBe(`/agents/${agent_id}`)
  })

  it('lists what matches by kind, each with its page', async () => {
    const tasks = linksIn((await team.look('/search?q=task-')).text)
    expect(tasks.get('/tasks/task-one')).toBe('task-one')
    const { text } = await team.look('/search?q=gate')
    expect(text).toContain('<h2 class="card-title">Policies</h2>')
    expect(linksIn(text).has(`/incidents/${incident_id}`)).toBe(true)
  })

  it('shows hostile texts as texts', async () => {
    const { status, text } = await team.look(`/search?${new URLSearchParams({ q: hostile })}`)
    expect([status, injectedIn(text)]).toEqual([200, []])
    expect(text).toContain('{{7*7}}')
  })

  it('rejects a text that no name can contain', async () => {
    expect((await team.look(`/search?q=${'x'.repeat(2000)}`)).status).toBe(422)
  })

  it('finds nothing of another workspace', async () => {
    for (const q of ['task-one', incident_id, agent_id, 'gate']) {
      const { status, text } = await team.look(`/search?q=${q}`, 'stranger')
      expect([status, text]).toEqual([200, expect.stringContaining('The search finds:')])
    }
  })

  it('asks anonymous callers to sign in, and returns them', async () => {
    const answer = await fetch(`${team.platform.url}/search?q=task-one`, { redirect: 'manual' })
    expect([answer.status, answer.headers.get('location')]).toEqual([
      303,
      '/sign-in?return_to=%2Fsearch%3Fq%3Dtask-one',
    ])
  })
})

describe('the overview of a workspace with actions', () => {
  it('names the actions whose deliveries wait, and no others', async () => {
    expect((await team.look('/')).text).not.toContain('Alerts without a receiver')
    const { action } = await makeAction(team.platform, { name: hostile, config: { url: 'http://127.0.0.1:9/' } })
    await violate(team.platform, 'task-two')
    const text = await vi.waitFor(async () => {
      const page = (await team.look('/')).text
      expect(page).toContain('Alerts without a receiver')
      return page
    }, 10_000)
    expect([linksIn(text).has(`/actions/${action.id}`), injectedIn(text)]).toEqual([true, []])
    const failing = async (query: string) =>
      (await team.platform.call<ActionList>('GET', `/api/v1/actions?${query}`)).body.actions.map(({ id }) => id)
    expect([await failing('failing=true'), await failing('failing=false')]).toEqual([[action.id], []])
  })
})
