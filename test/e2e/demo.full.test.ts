// `npm run demo`: what a person finds in the workspace, and the text that is printed.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { AgentList, EffectivePolicies, EngineIntervals, IncidentList, TaskList, Verification } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Company, openCompany, until } from '../demo/company.js'
import { type Filled, fillWorkspace, worstTask } from '../demo/filled.js'

/** Later than every recorded task. */
const now = Date.now()
const dayMs = 86_400_000

describe('the workspace of the demonstration', () => {
  let company: Company
  let filled: Filled
  beforeAll(async () => {
    company = await openCompany({ has_airline: false })
    filled = await fillWorkspace(company, now)
  })
  afterAll(() => company?.close())

  const get = <T>(path: string) => company.call<T>('GET', `/api/v1/${path}`)
  const incidentsOf = async (task_id: string) => (await get<IncidentList>(`incidents?task_id=${task_id}`)).incidents

  it('has the agents of the examples, with policies of their manifests and of the baseline', async () => {
    const { agents } = await get<AgentList>('agents')
    expect(agents.map(({ agent_key }) => agent_key).sort()).toEqual(['market-reporter', 'shop-coder', 'support-desk'])
    const path = '/api/v1/policies/effective?agent_key=support-desk'
    const { policies } = await company.call<EffectivePolicies>('GET', path, undefined, company.platform.api_key)
    const { bare } = company.repository
    const in_force = bare.git('rev-parse', 'main:policies/support.yaml')
    expect(policies.filter(({ manifest_sha }) => manifest_sha === in_force).length).toBeGreaterThan(3)
    expect(policies.length).toBeGreaterThan(15)
  })

  it('has tasks of the last days, those of its engine first, and the worst one verifies', async () => {
    const { tasks, total } = await until('the live tasks are stored', async () => {
      const list = await get<TaskList>('logs/tasks?limit=100')
      return list.total === filled.tasks ? list : undefined
    })
    expect(total).toBe(33)
    const ids = tasks.map(({ task_id }) => task_id)
    expect(ids.slice(0, 3)).toEqual(['support-today-3', 'support-today-2', 'support-today-1'])
    const recorded = tasks.slice(3).map(({ first_ts }) => Date.parse(first_ts ?? ''))
    expect(Math.min(...recorded)).toBeGreaterThan(now - 7 * dayMs)
    expect(Math.max(...recorded)).toBeLessThan(now)
    expect((await get<Verification>(`tasks/${worstTask}/verify`)).valid).toBe(true)
  })

  it('has incidents of three severities and in every state, and acts that the engine stopped', async () => {
    const blocked = (task_id: string) =>
      until(`${task_id} has its incident`, async () => {
        const [incident] = await incidentsOf(task_id)
        return incident?.effect
      })
    expect([await blocked('support-today-2'), await blocked('support-today-3')]).toEqual(['blocked', 'blocked'])
    const { incidents } = await get<IncidentList>('incidents?limit=200')
    const kinds = (member: 'severity' | 'state') => [...new Set(incidents.map((one) => one[member]))].sort()
    expect(kinds('severity')).toEqual(['critical', 'high', 'medium'])
    expect(kinds('state')).toEqual(['active', 'ignored', 'open', 'resolved'])
    const worst = await incidentsOf(worstTask)
    expect(worst).toContainEqual(
      expect.objectContaining({ policy_name: 'Customer data stays inside', severity: 'critical', state: 'open' }),
    )
  })

  it('has one agent with an engine, and others without', async () => {
    const engines = (agent_key: string) => get<EngineIntervals>(`agents/${filled.agents.get(agent_key)}/engines`)
    expect((await engines('support-desk')).intervals).toMatchObject([{ load_state: 'enforcing', until: null }])
    expect((await engines('shop-coder')).intervals).toEqual([])
  })

  it('signs its owner in by the link, which names the page of the worst task', async () => {
    const link = new URL(filled.link)
    expect(link.searchParams.get('return_to')).toBe(`/tasks/${worstTask}`)
    expect(await (await fetch(link)).text()).toContain('owner@localhost')
    const body = new URLSearchParams(link.search)
    const answer = await fetch(link.origin + link.pathname, { method: 'POST', body, redirect: 'manual' })
    const cookie = answer.headers.getSetCookie().map((text) => text.split(';')[0])
    const seen = await fetch(`${link.origin}/api/v1/incidents`, { headers: { cookie: cookie.join('; ') } })
    expect(((await seen.json()) as IncidentList).incidents.length).toBeGreaterThan(20)
  })
})

describe('`npm run demo`', () => {
  it('prints the link and the API key, and ends with `--once`', async () => {
    const program = fileURLToPath(new URL('../dist/demo/demo.js', import.meta.url))
    const child = spawn(process.execPath, [program, '--once'], { stdio: ['ignore', 'pipe', 'pipe'] })
    let printed = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => {
        printed += chunk.toString()
      })
    const [code] = await once(child, 'close')
    expect({ code, printed }).toMatchObject({ code: 0, printed: expect.stringContaining(`%2Ftasks%2F${worstTask}\n`) })
    expect(printed).toMatch(/API key {3}SvcKey-\S+\n/)
  })

  it('rejects a port that is not a number', async () => {
    const program = fileURLToPath(new URL('../dist/demo/demo.js', import.meta.url))
    const child = spawn(process.execPath, [program, '--port', 'x'], { stdio: ['ignore', 'ignore', 'pipe'] })
    let printed = ''
    child.stderr.on('data', (chunk: Buffer) => {
      printed += chunk.toString()
    })
    const [code] = await once(child, 'close')
    expect([code, printed]).toEqual([
      2,
      expect.stringContaining('`--port` must be a number from 0 to 65535, found `x`\nusage: npm run demo --'),
    ])
  })
})
