// The pages of policies: the list, one policy, the forms drawn from the schema of a rule, and trying a policy before it is saved.
import type { MadeApiKey, Policy, PolicyList, RegisteredAgent, RuleList } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type MailServer, startMailServer } from '../../support/people/mail.js'
import { actsIn, type PageReader, pageReader, readable } from '../../support/people/page-reader.js'
import { browserOf, join, type SignedIn, signedIn } from '../../support/people/people.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'

const hour = 3_600_000
const owner_email = 'owner@example.org'
const rule = {
  rule_type: 'field_in_range',
  params: { field: 'input.amount', max: 20, target_step_names: ['refund'] },
  scope: 'step_execution',
  severity: 'critical',
}
const attack = `</title><script>alert(1)</script><img src=x onerror="alert(2)">\u202b{{7*7}} javascript:alert(3)`

let mails: MailServer
let platform: TestPlatform
let now = Date.parse('2026-03-01T09:00:00Z')
let owner: SignedIn
let page: PageReader
let agent_id: string
beforeAll(async () => {
  mails = await startMailServer()
  const env = { SVC_SMTP_URL: mails.url, SVC_CHECKPOINT_SECONDS: '0', SVC_OWNER_EMAIL: owner_email }
  platform = await startPlatform({ env, clock: () => now })
  owner = await signedIn(platform, mails, owner_email)
  await owner.call('POST', `/auth/workspaces/${owner.org_id}/promote`, { name: 'Acme' })
  page = await reader(owner_email)
  const agent = { agent_key: 'desk', name: 'Help desk', risk_classification: 'minimal' }
  agent_id = (await platform.call<RegisteredAgent>('POST', '/api/v1/agents', { as: 'key', body: agent })).body.agent_id
  await refund('done', { amount: 50 })
  await refund('refused', { amount: 70 }, { output: { status: 'blocked' } })
  await refund('small', { amount: 5 })
})
afterAll(async () => {
  await discard(platform)
  await mails.close()
})

async function reader(email: string): Promise<PageReader> {
  now += hour
  return pageReader(platform.url, await browserOf(platform, mails, email))
}
async function refund(task_id: string, input: object, more: object = {}) {
  const step = { step_type: 'step.resource', verb: 'POST', step_name: 'refund', input, ...more }
  const body = { agent_id, task_id, step: 1, timestamp: '2026-03-01T09:00:00Z', ...step }
  expect((await platform.call('POST', '/api/v1/logs', { as: 'key', body })).status).toBe(201)
}
async function write(name: string, more: object = {}): Promise<Policy> {
  const { status, body } = await platform.call<Policy>('POST', '/api/v1/policies', { body: { ...rule, name, ...more } })
  expect([status, body]).toEqual([201, expect.anything()])
  return body
}
const policy = async (id: number) => (await platform.call<Policy>('GET', `/api/v1/policies/${id}`)).body
const ofManifest = async () =>
  (await platform.call<PolicyList>('GET', '/api/v1/policies?source=manifest')).body.policies[0] as Policy
const fields = {
  name: 'Small refunds',
  'params.field': 'input.amount',
  'params.max': '20',
  'params.target_step_names': 'refund\r\n',
  scope: 'step_execution',
  severity: 'critical',
  mode: 'enforce',
}
const form = '/policies/new?rule_type=field_in_range'

describe('the list of policies', () => {
  it('names the rule, the target and the source, and filters', async () => {
    const written = await write('For the desk', { agent_id })
    const { status, text } = await page.look('/policies?source=hand&q=for+the')
    expect([status, readable(text)]).toEqual([
      200,
      expect.stringMatching(/For the desk .*critical.*enforced.*Help desk/),
    ])
    expect(text).toContain(`href="/policies/${written.id}"`)
    const { manifest_name, manifest_path } = await ofManifest()
    const all = readable((await page.look('/policies?source=manifest')).text)
    expect(all).toContain(manifest_name)
    expect(all).toMatch(new RegExp(`${manifest_path} @ bundled library, blob`))
    expect((await page.look('/policies?mode=x')).status).toBe(422)
    const csv = await page.look('/policies.csv?source=hand')
    expect([csv.headers.get('content-type'), csv.text]).toEqual([
      'text/csv; charset=utf-8',
      expect.stringContaining('For the desk'),
    ])
  })
})

describe('the page of a policy', () => {
  it('states what it checks, what follows and its incidents', async () => {
    const { id } = await write('Stated', { description: 'why', controls: ['ASI02'] })
    await refund('stated', { amount: 90 })
    const { text } = await page.look(`/policies/${id}`)
    const shown = readable(text)
    for (const one of [
      'finite number from min to max',
      'An engine blocks a step',
      'why',
      'ASI02',
      'here, or by the API',
    ])
      expect(shown).toContain(one)
    expect(text).toContain(`<a href="/incidents?policy_id&#x3D;${id}&amp;state&#x3D;open"><bdi>1</bdi></a>`)
    const whole = await write('Asked', { approval: {} })
    expect(readable((await page.look(`/policies/${whole.id}`)).text)).toContain(
      'a person may approve; binds the whole step; for 1 step',
    )
    const approval = { check_type: 'human_approval', binds: ['step_name', 'input'], max_age_seconds: 60 }
    const bound = await write('Asked before', { approval })
    expect(readable((await page.look(`/policies/${bound.id}`)).text)).toContain(
      'a gate human_approval may approve; binds step_name and input; valid for 60 s; for any number of steps',
    )
    for (const one of [whole, bound]) await platform.call('DELETE', `/api/v1/policies/${one.id}`)
    await platform.call('DELETE', `/api/v1/policies/${id}`)
    expect(actsIn((await page.look(`/policies/${id}`)).text)).toEqual([])
  })

  it('switches the policy, and a policy of a manifest, of which it says who changes it', async () => {
    for (const { id } of [await write('Switched'), await ofManifest()]) {
      const at = `/policies/${id}`
      for (const [act, expected] of [
        ['disable', { enabled: false }],
        ['enable', { enabled: true }],
        ['observe', { mode: 'observe' }],
        ['enforce', { mode: 'enforce' }],
      ] as const) {
        const { status, headers } = await page.press(at, act)
        expect([status, headers.get('location'), await policy(id)]).toMatchObject([303, at, expected])
      }
      expect(actsIn((await page.look(at)).text)).toEqual(['disable', 'observe'])
    }
    const { id, manifest_name } = await ofManifest()
    await page.press(`/policies/${id}`, 'observe')
    const { text } = await page.look(`/policies/${id}`)
    expect(readable(text)).toContain(`comes from the manifest ${manifest_name}`)
    expect(readable(text)).toContain('In the manifest: enforce.')
    expect(readable(text)).toMatch(
      /In the manifest - name: .*rule_type: .*Line \d+ Assignment Baseline on Help desk .* By API key “[^”]+”/,
    )
    expect(text).toMatch(/href="\/manifests\/assignments\/\d+\/source\?sha&#x3D;[0-9a-f]{40}#L\d+"/)
    expect(readable(text)).toMatch(/Repository Bundled library .* Commit none: part of release/)
    expect(text).not.toContain(`/policies/${id}/delete`)
    const tried = await page.press(`/policies/${id}/delete`, 'delete')
    expect([tried.status, readable(tried.text)]).toEqual([409, expect.stringContaining('is from the manifest')])
    await page.press(`/policies/${id}`, 'enforce')
  })

  it('deletes after a question', async () => {
    const { id } = await write('Deleted')
    const asked = await page.look(`/policies/${id}/delete`)
    expect([actsIn(asked.text), (await policy(id)).deleted_at ?? null]).toEqual([['delete'], null])
    expect((await page.press(`/policies/${id}/delete`, 'delete')).status).toBe(303)
    expect((await policy(id)).deleted_at).not.toBeNull()
  })
})

describe('the form of a policy', () => {
  it('offers each rule with its sentence, and draws its parameters', async () => {
    const { rules } = (await platform.call<RuleList>('GET', '/api/v1/policies/rules')).body
    const { text } = await page.look('/policies/new')
    const forms = [...text.matchAll(/href="(\/policies\/new\?rule_type&#x3D;\w+)"/g)].map(([, href = '']) => href)
    expect(forms).toHaveLength(rules.length - 1)
    for (const { name, params } of rules.filter(({ name }) => name !== 'stopped')) {
      const drawn = await page.look(`/policies/new?rule_type=${name}`)
      const names = Object.keys(params.properties as object)
      expect([drawn.status, names.filter((one) => !drawn.text.includes(`name="params.${one}"`))]).toEqual([200, []])
    }
    for (const name of ['stopped', 'x', '__proto__'])
      expect((await page.look(`/policies/new?rule_type=${name}`)).status).toBe(404)
  })

  it('saves a policy, and its changes', async () => {
    const { status, headers } = await page.press(form, 'save', { ...fields, controls: 'ASI01\r\nASI02' })
    const at = headers.get('location') ?? ''
    expect([status, at]).toEqual([303, expect.stringMatching(/^\/policies\/\d+$/)])
    const id = Number(at.split('/').at(-1))
    expect(await policy(id)).toMatchObject({
      ...rule,
      name: 'Small refunds',
      controls: ['ASI01', 'ASI02'],
      agent_id: null,
    })
    const { text } = await page.look(`${at}/edit`)
    for (const one of ['value="input.amount"', '>\nrefund</textarea>', '>\nASI01\nASI02</textarea>'])
      expect(text).toContain(one)
    const changed = { ...fields, 'params.max': '30', agent_id, approval: '{"uses": 2}', version: '1' }
    expect((await page.press(`${at}/edit`, 'save', changed)).status).toBe(303)
    const expected = { params: { ...rule.params, max: 30 }, agent_id, approval: { uses: 2 }, controls: [], version: 2 }
    expect(await policy(id)).toMatchObject(expected)
    const late = await page.press(`${at}/edit`, 'save', { ...changed, 'params.max': '40' })
    expect([late.status, readable(late.text)]).toEqual([
      412,
      expect.stringContaining('was changed after this form was opened'),
    ])
    expect([(await policy(id)).version, late.text]).toEqual([2, expect.stringContaining('value="40"')])
  })

  it.each([
    [
      'field_in_list',
      { 'params.field': 'input.a', 'params.target_step_names': 'pay', 'params.values': '1\n"1"\ntrue\nplain text' },
      { values: [1, '1', true, 'plain text'] },
    ],
    [
      'pii_in_request',
      { 'params.patterns': '[0-9]{3}\n[0]', 'params.fields': '["input.a","input.b"]' },
      { patterns: ['[0-9]{3}', '[0]'], fields: ['input.a', 'input.b'] },
    ],
    [
      'argument_matches',
      { 'params.field': 'input.a', 'params.pattern': 'x', 'params.found': 'false' },
      { found: false },
    ],
    [
      'step_requires_predecessor',
      { 'params.required_step_type': '{"step_types":["step.gate"]}' },
      { required_step_type: { step_types: ['step.gate'] } },
    ],
    [
      'working_hours_only',
      { 'params.start_hour': '8', 'params.end_hour': '18', 'params.timezone': 'UTC', 'params.days': ['mon', 'tue'] },
      { days: ['mon', 'tue'] },
    ],
    [
      'not',
      { 'params.condition': '{"rule_type":"history_contains","params":{"step_type":"step.message"}}' },
      { condition: { rule_type: 'history_contains' } },
    ],
  ] as const)('reads each kind of field, and shows it again: %s', async (rule_type, given, params) => {
    const own = { name: rule_type, scope: 'step_execution', severity: 'low', mode: 'enforce' }
    const { status, headers, text } = await page.press(`/policies/new?rule_type=${rule_type}`, 'save', {
      ...own,
      ...given,
    })
    expect([status, readable(text)]).toEqual([303, expect.anything()])
    const id = Number(headers.get('location')?.split('/').at(-1))
    const before = await policy(id)
    expect(before.params).toMatchObject(params)
    // What the form shows means the same policy.
    const { text: shown } = await page.look(`/policies/${id}/edit`)
    const again = await page.press(`/policies/${id}/edit`, 'save', { ...valuesIn(shown), version: '1' })
    expect([again.status, (await policy(id)).params]).toEqual([303, before.params])
  })

  it.each([
    [{ 'params.max': 'many' }, 'params.max', 'must be a number'],
    [{ 'params.field': '' }, 'params.field', 'is missing'],
    [{ 'params.target_property_filter': '{"a": ' }, 'params.target_property_filter', 'at line 1'],
    [{ approval: '{"uses": 0}' }, 'approval', 'uses'],
    [{ agent_id: 'ag_none' }, 'agent_id', 'no agent has the id'],
  ] as const)('keeps what was typed, with the error at its field: %j', async (wrong, name, message) => {
    for (const act of name === 'agent_id' ? ['save'] : ['save', 'try']) {
      const { status, text } = await page.press(form, act, { ...fields, ...wrong, description: 'typed before' })
      const field = text.slice(text.indexOf(`name="${name}"`))
      expect([status, text]).toEqual([422, expect.stringContaining('typed before')])
      expect(field.slice(0, 40 + field.indexOf('invalid-feedback')).split('class="form-label').length).toBe(1)
      expect(readable(text)).toContain(message)
    }
  })

  it('shows the warnings of the API after saving', async () => {
    const { status, text } = await page.press(form, 'save', { ...fields, 'params.target_step_types': 'step.resorce' })
    expect([status, readable(text)]).toEqual([200, expect.stringMatching(/is saved, with warnings .*step\.resorce/)])
  })
})

describe('a trial on recorded tasks', () => {
  const count = async () => (await platform.call<PolicyList>('GET', '/api/v1/policies')).body.total
  const trial = async (path: string, given: Record<string, string>) => {
    const before = await count()
    const { status, text } = await page.press(path, 'try', { ...fields, 'params.field': 'input.amount', ...given })
    expect([status, await count()]).toEqual([200, before])
    const result = text.slice(text.indexOf('id="trial"'), text.indexOf('<form method="post">'))
    return { result, shown: readable(result), text }
  }

  it('names each step once, and never shows a refused one as done', async () => {
    const { result, shown, text } = await trial(form, { 'params.max': '60', agent_id })
    expect(shown).toMatch(/refused, step 1 .*blocked, did not happen .*blocked .*is out of range/)
    expect(result.split('href="/tasks/refused?around').length - 1).toBe(1)
    expect(result).not.toContain('/tasks/small')
    expect(shown).toContain('1 of these steps was blocked when recorded, and did not happen.')
    expect(text).toContain('value="60"')
  })

  it('says that an observed policy is observed', async () => {
    const { shown } = await trial(form, { 'params.field': 'input.other', mode: 'observe', agent_id })
    expect(shown).toContain('Observed only: the policy blocks nothing.')
    expect(shown).toMatch(/Violated by \d+ steps in \d+ tasks: \d+ observed, not blocked/)
    expect(shown).toMatch(/0 tasks would now be blocked/)
  })

  it('takes the place of the policy that is edited, also under another name', async () => {
    const { id } = await write('Tried', { agent_id, params: { ...rule.params, field: 'input.else' } })
    const same = await trial(`/policies/${id}/edit`, { name: 'Other', 'params.field': 'input.else', agent_id })
    expect(same.shown).toContain('0 tasks would now be blocked')
    const gone = await trial(`/policies/${id}/edit`, { 'params.max': '1000', agent_id })
    expect(gone.shown).toMatch(/No longer violated .*small, step 1 .*Tried/)
    await platform.call('DELETE', `/api/v1/policies/${id}`)
  })
})

describe('other roles and workspaces', () => {
  it('an auditor reads and tries, and cannot change', async () => {
    const { id } = await write('Audited')
    now += hour
    const again = await signedIn(platform, mails, owner_email)
    await join(again, await signedIn(platform, mails, 'auditor@example.org'), owner.org_id, 'auditor')
    const auditor = await reader('auditor@example.org')
    const shown = await auditor.look(`/policies/${id}`)
    expect([shown.status, actsIn(shown.text), shown.text.includes('/edit')]).toEqual([200, [], false])
    expect((await auditor.look('/policies')).text).not.toContain('href="/policies/new"')
    expect(actsIn((await auditor.look(form)).text)).toEqual(['try'])
    expect((await auditor.press(form, 'try', fields)).status).toBe(200)
    for (const [path, act] of [
      [form, 'save'],
      [`/policies/${id}`, 'disable'],
      [`/policies/${id}/delete`, 'delete'],
    ] as const)
      expect((await auditor.press(path, act, fields)).status).toBe(403)
    expect(await policy(id)).toMatchObject({ enabled: true, version: 1 })
  })

  it('a stranger finds no policy', async () => {
    const { id } = await write('Foreign')
    const stranger = await reader('stranger@example.org')
    for (const path of ['', '/edit', '/delete']) {
      const { status, text } = await stranger.look(`/policies/${id}${path}`)
      expect([status, text.includes('Foreign')]).toEqual([404, false])
    }
    expect((await stranger.press(`/policies/${id}`, 'disable')).status).toBe(404)
    for (const id of ['x', '-1', '999999']) expect((await page.look(`/policies/${id}`)).status).toBe(404)
  })

  it('hostile texts are texts', async () => {
    const made_key = { name: 'hostile', scopes: ['ingest', 'read'] }
    const as = (await platform.call<MadeApiKey>('POST', '/auth/api-keys', { body: made_key })).body.key
    const body = { agent_key: 'h', name: attack.replace('\u202b', ''), owner_id: 'o', purpose: 'p' }
    const { agent_id } = (await platform.call<RegisteredAgent>('POST', '/api/v1/agents', { as, body })).body
    const clean = attack.replace('\u202b', '')
    const { id } = await write(clean, {
      description: clean,
      agent_id,
      params: { field: clean, max: 1 },
      controls: [clean],
    })
    const typed = await page.press(form, 'save', {
      ...fields,
      name: attack,
      'params.max': attack,
      'params.target_after': attack,
    })
    expect(typed.status).toBe(422)
    const paths = ['/policies', `/policies/${id}`, `/policies/${id}/edit`, `/policies/${id}/delete`, form]
    const texts = await Promise.all(paths.map(async (path) => (await page.look(path)).text))
    const tried = await page.press(`/policies/${id}/edit`, 'try', { ...fields, 'params.field': clean })
    for (const text of [...texts, typed.text, tried.text]) {
      expect(text.match(/<(script(?! src="\/assets\/)|img)\b/gi)).toBeNull()
      expect(text).not.toMatch(/href="javascript:/)
    }
    expect(texts[1]).toContain('{{7*7}}')
  })
})

/** The values of the fields of a form. */
function valuesIn(html: string): Record<string, string | string[]> {
  const form = html.slice(html.indexOf('<form method="post">'))
  const plain = (text: string) =>
    text
      .replaceAll(/&#x([0-9a-f]+);/gi, (_, code: string) => String.fromCodePoint(Number.parseInt(code, 16)))
      .replaceAll('&quot;', '"')
  const texts = [...form.matchAll(/<textarea [^>]*name="([^"]+)"[^>]*>\n([\s\S]*?)<\/textarea>/g)]
  const inputs = [...form.matchAll(/<input class="form-control"[^>]*name="([^"]+)"[^>]* value="([^"]*)"/g)]
  const chosen = [...form.matchAll(/<select [^>]*name="([^"]+)"[^>]*>[\s\S]*?<\/select>/g)].map(([whole, name]) => [
    whole,
    name,
    /value="([^"]*)" selected/.exec(whole)?.[1] ?? '',
  ])
  const checked = [...form.matchAll(/type="checkbox" name="([^"]+)" value="([^"]+)" checked/g)]
  const lists: Record<string, string[]> = {}
  for (const [, name = '', value = ''] of checked) lists[name] = [...(lists[name] ?? []), plain(value)]
  const single = [...texts, ...inputs, ...chosen].map(([, name = '', value = '']) => [name, plain(value)])
  return { ...Object.fromEntries(single), ...lists }
}
