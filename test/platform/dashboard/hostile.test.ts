// Hostile texts in every field that the API accepts: each page shows them as texts, and each download as data.
import type { Incident, IncidentList, MadeAction, Policy } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { workspacePages } from '../../../platform/dashboard/pages.js'
import { fillWorkspace } from '../../support/dashboard/filled.js'
import { cellsOf, expectHarmless, expectNoFormula } from '../../support/dashboard/harmless.js'
import { buttonsOf, textOf } from '../../support/dashboard/html.js'
import {
  type Example,
  examplesOf,
  type Ids,
  listsAmong,
  openPageSite,
  owner_email,
  type PageSite,
} from '../../support/dashboard/site.js'
import { csrfOf } from '../../support/people/people.js'

/** By name. */
const texts: Readonly<Record<string, string>> = {
  'end tags and a script': '</title></textarea></script></pre><script>alert(1)</script>',
  'an image with a handler': '"><img src=x onerror="alert(2)">',
  'quotes and a handler': `' onmouseover='alert(3)' "onfocus="alert(3)" autofocus=" \``,
  'an address that is a script': 'javascript:alert(4)//',
  'an address that is a page': 'data:text/html,<script>alert(5)</script>',
  'the syntax of templates': '{{7*7}} {{{this}}} $(7*7) <%= 7*7 %>',
  'a formula': '=HYPERLINK("https://evil.example","x")',
  'a formula of another program': '@SUM(1+1)*cmd|calc!A0',
  'a formula after a plus': '+1+1',
  'a formula after a minus': '-1+1',
  'a long word': 'w'.repeat(200),
  'an override of the direction': 'invoice\u202efdp.exe',
  'a formula after a tab': '\t=1+1',
}

/** Makes ids of one text differ from those of another. */
const numberOf = (text: string) => Object.values(texts).indexOf(text)

/** Those of addresses and forms, which a person can be led to send. */
const typed = Object.entries(texts).filter(([, text]) => /[<'{\u202e]/.test(text))

let site: PageSite
let cookie: string
let base: Ids
const seen = new Map<string, string>()
beforeAll(async () => {
  site = await openPageSite({ workspace: texts['an image with a handler'] ?? '' })
  base = await fillWorkspace(site)
  cookie = await site.browser(owner_email)
})
afterAll(() => site.close())

/** A request that the API may reject for its text; null then. */
async function offered<T>(method: string, path: string, body: unknown, as = 'operator'): Promise<T | null> {
  const answer = await site.git.platform.call<T>(method, path, { as, body })
  expect([200, 201, 204, 404, 409, 422], `${method} ${path} ${JSON.stringify(answer.body)}`).toContain(answer.status)
  return answer.status < 300 ? answer.body : null
}
const post = <T>(path: string, body: unknown, as?: string) => offered<T>('POST', path, body, as)

/** Offers the text to every field of the API; returns the ids of what has it. */
async function spread(text: string): Promise<Ids> {
  const about = { name: text, owner_id: text, purpose: text, declared_tools: [text, { name: text, description: text }] }
  const keys = [text, `plain ${numberOf(text)}`]
  let agent: { agent_id: string } | null = null
  let agent_key = ''
  for (const key of keys)
    for (const facts of [about, { declared_tools: about.declared_tools }])
      if (agent === null) {
        agent = await post<{ agent_id: string }>('/api/v1/agents', { agent_key: key, ...facts }, 'key')
        agent_key = key
      }
  const agent_id = agent?.agent_id ?? ''
  const rule = { rule_type: 'field_not_empty', scope: 'step_execution', severity: 'low', agent_id }
  const params = { field: 'input.absent', target_step_names: [text] }
  const shapes = [{ name: text, description: text, controls: [text] }, { name: `Plain ${numberOf(text)}` }]
  const made = await Promise.all(shapes.map((shape) => post<Policy>('/api/v1/policies', { ...rule, ...shape, params })))
  const policy = made.find((one) => one !== null)
  const task_id = await record(text, agent_key)
  const report = { policy_id: policy?.id, agent_key, task_id, step: 2, reason: text, evaluation_id: 'e' }
  const details = { code: text, reason: text, rule_type: text, params: { text }, evidence: [], remedy: text }
  await post('/api/v1/incidents', { ...report, violation_details: details }, 'key')
  const found = await site.git.platform.call<IncidentList>('GET', `/api/v1/incidents?agent_id=${agent_id}`)
  const incidents: readonly Incident[] = found.body.incidents
  for (const { id } of incidents) {
    await post(`/api/v1/incidents/${id}/notes`, { note: text })
    await post(`/api/v1/incidents/${id}/review`, { note: text })
  }
  const hook = { on: 'incident.created', kind: 'webhook', config: { url: 'https://receiver.example.org/x' } }
  const action = await post<MadeAction>('/api/v1/actions', { name: text, ...hook })
  await post('/api/v1/actions', { ...hook, name: `Plain ${numberOf(text)}`, config: { url: text } })
  await post('/auth/api-keys', { name: text })
  await post('/api/v1/holds', { task_id, reason: text })
  await post('/api/v1/stops', { agent_id, reason: text })
  await post('/api/v1/erasures', { subject_id: text, legal_basis: text })
  await post('/api/v1/views', { list: 'incidents', name: text, query: `q=${encodeURIComponent(text)}` })
  const workspace = `/auth/workspaces/${site.owner.org_id}`
  await site.owner.call('POST', `${workspace}/offers`, { kind: 'invitation', email: `${text}@example.org` })
  const assignment = await assigned(text, agent_id)
  return {
    ...base,
    '/tasks/': task_id,
    '/agents/': agent_id,
    ...(policy !== null && policy !== undefined && { '/policies/': String(policy.id) }),
    ...(incidents[0] !== undefined && { '/incidents/': incidents[0].id }),
    ...(action !== null && { '/actions/': action.action.id }),
    ...(assignment !== null && { '/manifests/assignments/': String(assignment) }),
  }
}

/** A task whose steps have the text in every member; returns its id. */
async function record(text: string, agent_key: string): Promise<string> {
  const step = { step_type: 'step.resource', step_name: text, verb: 'POST', timestamp: new Date().toISOString() }
  const payload = { [text]: text, list: [text], nested: { text } }
  const guard = { check_type: text, result: text }
  const more = { input: payload, output: payload, meta: payload, properties: { guard, data: { subject_id: text } } }
  for (const task_id of [text, `plain ${numberOf(text)}`])
    for (const body of [
      { ...step, ...more },
      { ...step, input: payload },
    ])
      if ((await post('/api/v1/logs', { agent_key, task_id, step: 1, ...body }, 'key')) !== null) {
        const next = { agent_key, task_id, step: 2, ...step }
        if ((await post('/api/v1/logs', { ...next, step_type: text, verb: text }, 'key')) === null)
          expect(await post('/api/v1/logs', { ...next, output: text }, 'key')).not.toBeNull()
        return task_id
      }
  throw new Error(`no task could be recorded with ${text}`)
}

/** A manifest with the text in its path, its name and its policies, on the agent. */
async function assigned(text: string, agent_id: string): Promise<number | null> {
  const rule = { rule_type: 'field_not_empty', scope: 'step_execution', severity: 'low', params: { field: 'input.x' } }
  const policies = [{ ...rule, name: text, description: text }]
  const path = `${text.replaceAll(/[/\t\\"]/g, '')}.yaml`
  const { id } = await site.git.connect({ [path]: JSON.stringify({ name: text, version: '1', policies }) })
  const made = await site.git.assign(agent_id, id, { manifest_path: path })
  return made.status < 300 ? made.body.id : null
}

async function open({ address }: Example): Promise<void> {
  const { status, text } = await site.look(address, cookie)
  expect([200, 303], address).toContain(status)
  if (status === 303) return
  expectHarmless(text, address)
  seen.set(address, textOf(text))
}

describe('the pages', () => {
  it.each(Object.entries(texts))('show %s as text', async (_, text) => {
    const ids = await spread(text)
    for (const example of examplesOf(ids).filter(({ isDetail }) => isDetail)) await open(example)
    const shown = [...seen].filter(([, page]) => page.includes(text.trim())).map(([address]) => address)
    expect(shown.length).toBeGreaterThan(0)
  })

  it('of lists show all of them as text', async () => {
    for (const example of examplesOf(base).filter(({ isDetail }) => !isDetail)) await open(example)
    expect(seen.size).toBeGreaterThan(Object.keys(texts).length)
  })

  it.each(typed)('show %s of an address as text', async (_, text) => {
    for (const { path } of workspacePages.filter(({ path: one }) => !one.includes(':'))) {
      for (const name of ['q', 'unknown', 'cursor', text]) {
        const { status, text: page } = await site.look(`${path}?${new URLSearchParams({ [name]: text })}`, cookie)
        expect([200, 303, 404, 422], `${path} ${name}`).toContain(status)
        if (status !== 303) expectHarmless(page, path)
      }
    }
  })

  it.each(typed)('show %s of a rejected form as text', async (_, text) => {
    for (const { address } of examplesOf(base).filter((one) => !one.address.includes('?'))) {
      const { text: page } = await site.look(address, cookie)
      const forms = new Map(buttonsOf(page).map((button) => [new Set(button.fields.map(([name]) => name)), button]))
      for (const { fields } of [...forms.values()].slice(0, 3)) {
        const values = fields.map(
          ([name, value]) => [name, name === 'csrf' ? csrfOf(cookie) : name === 'act' ? value : text] as const,
        )
        const sent = await site.press(address, cookie, [...values.filter(([name]) => name !== 'act'), ['act', text]])
        expect([address, sent.status]).toEqual([address, 422])
        expectHarmless(sent.text, address)
      }
    }
  })

  it('show a payload of a megabyte as text', async () => {
    const input = { text: '<b>'.repeat(330_000) }
    const step = { agent_key: 'large', step_type: 'step.resource', timestamp: new Date().toISOString() }
    await post('/api/v1/agents', { agent_key: step.agent_key }, 'key')
    expect(await post('/api/v1/logs', { ...step, task_id: 'large', step: 1, input }, 'key')).not.toBeNull()
    for (const query of ['', '?view=full', '?view=json']) {
      const { status, text } = await site.look(`/tasks/large${query}`, cookie)
      expect(status).toBe(200)
      expectHarmless(text, query)
    }
  })
})

describe('the downloads', () => {
  it('run no formula as CSV, and have the same rows as JSON', async () => {
    for (const { address } of listsAmong(examplesOf(base))) {
      const csv = await site.look(`${address}.csv`, cookie)
      const json = await site.look(`${address}.json`, cookie)
      expect([address, csv.status, json.status]).toEqual([address, 200, 200])
      expectNoFormula(csv.text, address)
      expect(cellsOf(csv.text)).toHaveLength(1 + (JSON.parse(json.text) as unknown[]).length)
    }
  })
})
