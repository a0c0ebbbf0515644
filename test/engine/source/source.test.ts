// Policy sources: the table of load states, files that change, and a platform that is available or not.

import { readdirSync, readFileSync, rmSync, statSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { EngineHealth, Evaluation, JsonMap } from '@svc/schemas'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { type LoadState, nextState } from '../../../engine/source/state.js'
import { folderWith, runSvc, type Serve, startServe } from '../../support/engine/serve.js'
import { envFor, named, policy, startEndpoint, wrong } from '../../support/http/policy-endpoint.js'
import { soon } from '../../support/server/soon.js'

const states: readonly LoadState[] = ['enforcing', 'stale_cache', 'none_configured', 'unavailable', 'all_dropped']
const nothing = { cached: false, expired: false }

describe('load_state', () => {
  it.each(['start' as const, ...states])('from %s follows the table', (from) => {
    expect(nextState(from, 'compiled', nothing)).toBe('enforcing')
    expect(nextState(from, 'none_offered', nothing)).toBe('none_configured')
    const governed = from === 'enforcing' || from === 'stale_cache'
    expect(nextState(from, 'all_rejected', nothing)).toBe(governed ? from : 'all_dropped')
    expect(nextState(from, 'failed', nothing)).toBe(from === 'start' ? 'unavailable' : from)
    const expired = { cached: false, expired: true }
    const after = from === 'start' ? 'unavailable' : from === 'enforcing' ? 'stale_cache' : from
    expect(nextState(from, 'failed', expired)).toBe(after)
    const cached = { cached: true, expired: false }
    expect(nextState(from, 'failed', cached)).toBe(from === 'start' ? 'stale_cache' : from)
  })
})

let serve: Serve | null = null
let close: (() => Promise<void>) | null = null
afterEach(async () => {
  await serve?.discard()
  await close?.()
  serve = null
  close = null
})
/** One for each test. */
async function startPlatform() {
  const endpoint = await startEndpoint()
  close = endpoint.close
  return endpoint
}

const health = async () => (await serve?.call<EngineHealth>('GET', '/health'))?.body
const eventually = (expected: object) => vi.waitFor(async () => expect(await health()).toMatchObject(expected), soon)
const context = { agent_id: 'ag_1', task_id: 't', environment: 'test', risk_classification: 'minimal' as const }

describe('a platform', () => {
  it('is asked again in the background, and only for changes', async () => {
    const { state, url } = await startPlatform()
    serve = await startServe([], {}, envFor(url))
    expect(await health()).toMatchObject({ load_state: 'enforcing', policy_count: 1, source: 'api', stale: false })
    await vi.waitFor(() => expect(state.unchanged).toBeGreaterThan(1), soon)
    Object.assign(state, { policies: [named, { ...named, id: 2, name: 'again' }], etag: '"2"' })
    await eventually({ policy_count: 2 })
    Object.assign(state, { policies: [wrong], etag: '"3"' })
    await eventually({
      load_state: 'enforcing',
      policy_count: 2,
      dropped: [],
      outdated: [{ name: 'steps have names' }],
    })
    Object.assign(state, { policies: [], etag: '"4"' })
    await eventually({ load_state: 'none_configured', policy_count: 0, loaded: false })
    expect(serve.printed().err.match(/none_configured/g)).toHaveLength(1)
  })

  it('knows the agent: a context tightens its registration and never loosens it', async () => {
    const { state, url } = await startPlatform()
    const tools = policy('tools', 'step_name_in_allowlist', {})
    const level = policy('level', 'field_in_list', { field: 'context.risk_classification', values: ['limited'] })
    state.policies = [tools, { ...level, id: 2 }]
    serve = await startServe([], {}, envFor(url))
    let tasks = 0
    const ask = async (step_name: string, more: object) => {
      const intended = { step_type: 'step.exec', step_name }
      // Within one task, tools can only shrink.
      const own = { ...context, task_id: `task ${tasks++}`, ...more }
      const answer = await serve?.post<Evaluation>('/evaluate', { intended, context: own })
      return answer?.body.policies.filter(({ violated }) => violated).map(({ name }) => name)
    }
    expect(await ask('search', {})).toEqual([])
    expect(await ask('drop', { declared_tools: ['drop'] })).toEqual(['tools'])
    expect(await ask('search', { declared_tools: ['book'] })).toEqual(['tools'])
    expect(await ask('search', { risk_classification: 'high' })).toEqual(['level'])
  })

  it.each([
    { what: 'a redirect', status: 302, message: 'SVC_API_URL is wrong' },
    { what: 'a failure', status: 500, message: 'answered 500' },
  ])(
    'that answers with $what leaves the engine without policies, which is reported once',
    async ({ status, message }) => {
      const { state, url } = await startPlatform()
      state.status = status
      serve = await startServe([], {}, envFor(url))
      expect(await health()).toMatchObject({
        load_state: 'unavailable',
        last_fetch_succeeded: false,
        loaded: false,
        last_fetch_problem: expect.stringContaining(message),
      })
      await vi.waitFor(() => expect(state.asked).toBeGreaterThan(2), soon)
      const { err } = serve.printed()
      expect(err.split(message)).toHaveLength(2)
      expect(err.match(/unavailable/g)).toHaveLength(1)
      expect(err).not.toMatch(/SvcKey-|cannot be reached/)
    },
  )

  it('that governs one agent: steps of another one are rejected, and its id is reported once', async () => {
    const { url } = await startPlatform()
    serve = await startServe([], {}, envFor(url))
    const intended = { step_type: 'step.exec', step_name: 'x' }
    const statusFor = async (path: string, body: JsonMap) => {
      const answer = await serve?.call('POST', path, { body })
      return [answer?.status, answer?.body.errors?.[0]?.path]
    }
    const evaluated = (agent_id: string) => statusFor('/evaluate', { intended, context: { ...context, agent_id } })
    for (const agent_id of ['ag_1', 'desk']) expect(await evaluated(agent_id)).toEqual([200, undefined])
    for (const agent_id of ['other', 'other', 'Desk', 'desk '])
      expect(await evaluated(agent_id)).toEqual([409, 'context.agent_id'])
    const step = { ...intended, task_id: 'r' }
    expect(await statusFor('/record', { step: { ...step, agent_id: 'third' } })).toEqual([409, 'step.agent_id'])
    // Nothing of it is kept: the first step of the task is the one of the agent.
    expect((await serve.post<{ step: number }>('/record', { step })).body.step).toBe(1)
    const named = serve.printed().err.match(/another agent: steps with agent_id "[^"]*"/g)
    expect(named?.map((line) => line.split('"')[1])).toEqual(['other', 'Desk', 'desk ', 'third'])
  })

  it('that fails for a time is reported with the policies that stay in effect, and when it answers again', async () => {
    const { state, url } = await startPlatform()
    serve = await startServe([], {}, envFor(url, { SVC_POLICY_TTL_SECONDS: '600' }))
    const metrics = async () => (await fetch(`${serve?.url}/metrics`)).text()
    expect(await metrics()).toMatch(/^svc_policies_fetched 1$/m)
    state.status = 503
    for (let asked = 0; asked < 2; asked++) await serve.call('POST', '/reload')
    expect(serve.printed().err.match(/answered 503; 1 policy stays in effect, fresh until 2/g)).toHaveLength(1)
    expect(await metrics()).toMatch(/^svc_policies_fetched 0\n(.*\n){2}svc_policies_fresh_seconds [1-9]/m)
    state.status = 200
    for (let asked = 0; asked < 2; asked++) await serve.call('POST', '/reload')
    const again = () => serve?.printed().err.match(/policies are fetched again: 1 of 1 policies in effect\n/g)
    await vi.waitFor(() => expect(again()).toHaveLength(1), soon)
  })

  it('that supplies policies later is reported as enforcing, once', async () => {
    const { state, url } = await startPlatform()
    state.status = 503
    serve = await startServe([], {}, envFor(url))
    expect(await health()).toMatchObject({ load_state: 'unavailable' })
    state.status = 200
    await eventually({ load_state: 'enforcing' })
    const enforcing = () => serve?.printed().err.match(/svc serve: enforcing: 1 of 1 policies in effect\n/g)
    await vi.waitFor(() => expect(enforcing()).toHaveLength(1), soon)
  })

  it('may be unavailable at the start of another process: the cache is in effect, and contains no key', async () => {
    const { state, url } = await startPlatform()
    const first = await startServe([], {}, envFor(url))
    serve = first
    const folder = join(first.folder, 'data', 'cache')
    const [name = ''] = readdirSync(folder)
    const text = readFileSync(join(folder, name), 'utf8')
    expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600)
    expect(text).not.toContain('SvcKey-')
    state.status = 503
    await eventually({ load_state: 'stale_cache', stale: true, policy_count: 1 })
    const again = async (cache: string) => {
      writeFileSync(join(folder, name), cache)
      const other = await startServe([], {}, envFor(url, { SVC_CACHE_DIR: folder }))
      const answer = await other.call<EngineHealth>('GET', '/health')
      const { err } = other.printed()
      await other.discard()
      return { ...answer.body, err }
    }
    expect(await again(text)).toMatchObject({ load_state: 'stale_cache', stale: true, policy_count: 1 })
    expect(await again(text.replace('"agent_key":"desk"', '"agent_key":"other"'))).toMatchObject({
      load_state: 'unavailable',
      err: expect.stringContaining('it belongs to another platform or agent'),
    })
    expect(await again('{"format":')).toMatchObject({ load_state: 'unavailable' })
    state.status = 200
    await eventually({ load_state: 'enforcing', stale: false })
  })
})

describe('files', () => {
  it('that become worse are counted as they are now, and keep what was in effect', async () => {
    const one = (name: string, rule_type: string) =>
      `  - {name: ${name}, rule_type: ${rule_type}, params: {field: step_name}, severity: low, scope: step_execution}\n`
    const text = (...rules: readonly string[]) =>
      `name: Some\nversion: "1"\npolicies:\n${rules.map((rule, index) => one('abc'[index] ?? '', rule)).join('')}`
    const [valid, wrong] = ['field_not_empty', 'field_not_emptied']
    serve = await startServe(['--policy-file', 'p.yaml'], { 'p.yaml': text(valid, valid, wrong) })
    const path = join(serve.folder, 'p.yaml')
    const after = async (next: string) => {
      writeFileSync(path, next)
      const { body } = (await serve?.call<EngineHealth>('POST', '/reload')) ?? {}
      const names = (rows: readonly { readonly name: string }[] = []) => rows.map(({ name }) => name)
      return [body?.policy_count, body?.policies_offered, names(body?.dropped), names(body?.outdated)]
    }
    expect(await health()).toMatchObject({ policy_count: 2, policies_offered: 3 })
    // The file was never valid as a whole.
    expect(await after(text(valid, wrong, wrong))).toEqual([2, 3, ['c'], ['b']])
    expect(await after(text(valid, wrong, wrong))).toEqual([2, 3, ['c'], ['b']])
    expect(await after(text(wrong, wrong, wrong))).toEqual([2, 3, ['c'], ['a', 'b']])
    expect(await after(text(valid, valid, valid))).toEqual([3, 3, [], []])
    expect(await after(text(valid, valid, wrong))).toEqual([3, 3, [], ['c']])
    expect(await after(text(valid, valid))).toEqual([2, 2, [], []])
  })

  const manifest = (name: string, rule_type = 'field_not_empty') =>
    `name: ${name}\nversion: "1"\npolicies:\n  - {name: ${name}, rule_type: ${rule_type}, params: {field: step_name}, severity: low, scope: step_execution}\n`

  it('are reloaded when they change, come or go; the last valid version of an invalid or removed file stays', async () => {
    serve = await startServe(['--policy-file', '.'], { 'a.yaml': manifest('a'), 'b.yaml': manifest('b') })
    const path = (name: string) => join(serve?.folder ?? '', name)
    writeFileSync(path('c.yaml'), manifest('c'))
    await eventually({ policy_count: 3, dropped: [] })
    writeFileSync(path('b.yaml'), manifest('b', 'field_not_emptied'))
    await eventually({ policy_count: 3, dropped: [], outdated: [{ name: 'b', line: 4, source: 'b.yaml' }] })
    unlinkSync(path('a.yaml'))
    await eventually({ policy_count: 3, load_state: 'enforcing', outdated: [{ name: 'b' }, { name: 'a' }] })
    await vi.waitFor(() => expect(serve?.printed().err).toContain('the file was removed'), soon)
    writeFileSync(path('a.yaml'), manifest('a2'))
    writeFileSync(path('b.yaml'), manifest('b'))
    await eventually({ policy_count: 3, dropped: [], outdated: [] })
  })

  const one = (name: string, rule_type = 'field_not_empty', more = '') =>
    `  - {name: ${name}, rule_type: ${rule_type}, params: {field: step_name}, severity: low, scope: step_execution${more}}\n`
  const file = (...policies: string[]) => `name: M\nversion: "1"\npolicies:\n${policies.join('')}`
  const wrongRule = 'field_not_emptied'
  it.each([
    { name: 'a policy became invalid', text: file(one('a', wrongRule), one('b')), dropped: [], outdated: ['a'] },
    {
      name: 'a new policy is invalid',
      text: file(one('a'), one('b'), one('c', wrongRule)),
      dropped: ['c'],
      outdated: [],
    },
    {
      name: 'a new policy and a changed one are beside an invalid one',
      text: file(one('a', wrongRule), one('b', 'field_not_empty', ', mode: observe'), one('c')),
      dropped: ['c'],
      outdated: ['a', 'b'],
    },
    {
      name: 'a policy is missing and another is invalid',
      text: file(one('a', wrongRule)),
      policy_count: 1,
      dropped: [],
      outdated: ['a'],
    },
    {
      name: 'a policy is missing, another is invalid and a new one is invalid',
      text: file(one('b', wrongRule), one('c', wrongRule)),
      policy_count: 1,
      dropped: ['c'],
      outdated: ['b'],
    },
    {
      name: 'a policy is missing and another has no name',
      text: file(one('a'), one('b').replace('name: b, ', '')),
      dropped: ['policies.1'],
      outdated: [],
    },
    { name: 'the file is not YAML', text: 'policies: [', dropped: [], outdated: ['a', 'b'] },
    {
      name: 'the file has no name',
      text: file(one('a'), one('c')).replace('name: M', ''),
      policy_count: 1,
      dropped: ['c'],
      outdated: ['a'],
    },
    {
      name: 'a waiver is invalid',
      text: `${file(one('a'), one('b'))}waivers:\n  - {policy: x}\n`,
      dropped: [],
      outdated: [],
      ignored: ['waivers.0'],
    },
  ])('count what is not in effect when $name', async ({ text, dropped, outdated, ...others }) => {
    const { ignored, policy_count } = { ignored: [] as string[], policy_count: 2, ...others }
    serve = await startServe(['--policy-file', 'p.yaml'], { 'p.yaml': file(one('a'), one('b')) })
    writeFileSync(join(serve.folder, 'p.yaml'), text)
    const { body } = await serve.call<EngineHealth>('POST', '/reload')
    const names = (rows: EngineHealth['dropped']) => rows.map(({ name }) => name).sort()
    expect([names(body.dropped), names(body.outdated), names(body.ignored)]).toEqual([dropped, outdated, ignored])
    expect(body).toMatchObject({
      policy_count,
      policies_offered: policy_count + dropped.length,
      load_state: 'enforcing',
    })
  })

  it('that are partly invalid have their valid policies in effect, and the others reported with a position', async () => {
    const half = `${manifest('a')}  - {name: bad, rule_type: field_not_emptied, severity: low, scope: step_execution}\n`
    serve = await startServe(['--policy-file', 'a.yaml'], { 'a.yaml': half })
    expect(await health()).toMatchObject({
      load_state: 'enforcing',
      policy_count: 1,
      policies_offered: 2,
      dropped: [{ name: 'bad', source: 'a.yaml', line: 5, reason: expect.stringContaining('field_not_empty') }],
    })
  })

  it('with unknown words are in effect, with a warning for each when they are loaded', async () => {
    const odd = manifest('a')
      .replace('severity: low', 'severity: low, x-note: odd')
      .replace('{field: step_name}', '{field: step_name, target_step_types: [step.mesage]}')
    serve = await startServe(['--policy-file', 'a.yaml'], { 'a.yaml': odd })
    expect(await health()).toMatchObject({ load_state: 'enforcing', policy_count: 1, dropped: [] })
    const warning =
      'svc serve: warning (a.yaml:4:90): `policies[0].params.target_step_types[0]` names the unknown step type `step.mesage`; did you mean `step.message`?\n'
    expect(serve.printed().err).toBe(warning)
    writeFileSync(join(serve.folder, 'a.yaml'), odd.replace('version: "1"', 'version: 2'))
    await vi.waitFor(() => expect(serve?.printed().err).toContain('warning (a.yaml:2:10): `version`'), soon)
    expect(serve.printed().err.split('step.mesage')).toHaveLength(2)
  })

  it('that lose all policies for one cause are reported in one line', async () => {
    const nameless = [manifest('a'), ...manifest('b').split('\n').slice(3)].join('').replace('name: a\n', '')
    serve = await startServe(['--policy-file', 'a.yaml'], { 'a.yaml': nameless })
    expect(await health()).toMatchObject({ load_state: 'all_dropped', dropped: [{ name: 'a' }, { name: 'b' }] })
    expect(serve.printed().err.split('\n').slice(0, 2)).toEqual([
      'svc serve: dropped 2 policies, `a` first (a.yaml:1:1): `name` is missing: write `name: …`',
      expect.stringContaining('all_dropped'),
    ])
  })

  it.each([
    {
      what: 'a file that is not YAML',
      files: { 'a.yaml': 'name: A\npolicies: [\n' },
      messages: ['a.yaml:2:11: line 2 opens a `[`'],
    },
    { what: 'an empty file', files: { 'a.yaml': '' }, messages: ['a.yaml:1:1: the file is empty'] },
    {
      what: 'a file without policies',
      files: { 'a.yaml': 'name: A\n' },
      messages: ['a.yaml:1:1: `version` is missing', 'a.yaml:1:1: `policies` is missing'],
    },
    {
      what: 'one of several files',
      files: { 'a.yaml': manifest('a'), 'b.yaml': '\tpolicies:\n' },
      messages: ['b.yaml:1:1: line 1 is indented with a tab'],
    },
  ])('end the start with 1 and their findings: $what', async ({ files, messages }) => {
    // Other YAML files of a folder are skipped unless they look like manifests.
    const looksLikeManifest = Object.values(files).some((text) => /^\s*policies:/m.test(text))
    for (const named of looksLikeManifest ? [true, false] : [true]) {
      const folder = folderWith(files)
      const paths = named ? Object.keys(files).map((name) => join(folder, name)) : [folder]
      const { code, out, err } = await runSvc(['serve', ...paths.flatMap((path) => ['--policy-file', path])])
      rmSync(folder, { recursive: true })
      expect([code, out]).toEqual([1, ''])
      const [first, ...findings] = err.trimEnd().split('\n')
      expect(first).toBe('svc serve: a policy file cannot be used, so the engine does not start')
      expect(findings.map((line) => line.slice(folder.length + 1))).toEqual(
        messages.map((text) => expect.stringContaining(text)),
      )
    }
  })
})
