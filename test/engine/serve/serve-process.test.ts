// `svc serve` as a program: its sources, what it prints, how it starts, stops and fails.
import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { EngineHealth, Evaluation } from '@svc/schemas'
import { afterEach, describe, expect, it } from 'vitest'
import { folderWith, runSvc, type Serve, startServe } from '../../support/engine/serve.js'

const policy = (name: string, more = '') =>
  `  - {name: ${name}, rule_type: field_not_empty, params: {field: step_name}, severity: critical, scope: step_execution${more}}\n`
const manifest = (...policies: string[]) => `name: M\nversion: "1"\npolicies:\n${policies.join('')}`

const running: Serve[] = []
afterEach(async () => {
  for (const serve of running.splice(0)) await serve.discard()
})
async function started(...args: Parameters<typeof startServe>): Promise<Serve> {
  const serve = await startServe(...args)
  running.push(serve)
  return serve
}
const healthOf = async (serve: Serve) => (await serve.call<EngineHealth>('GET', '/health')).body
const ask = (serve: Serve, intended: object, more: object = {}) =>
  serve.post<Evaluation>('/evaluate', {
    intended,
    context: { agent_id: 'a', task_id: 't', environment: 'development', risk_classification: 'limited', ...more },
  })

describe('the policies in effect', () => {
  it('are the baseline with --baseline', async () => {
    const serve = await started(['--baseline'])
    expect(await healthOf(serve)).toMatchObject({ load_state: 'enforcing', policy_count: 15, source: 'baseline' })
    const { body } = await ask(serve, { step_type: 'step.exec' })
    expect(body.blocked).toBe(true)
    expect(body.policies.find(({ violated }) => violated)?.violation_details?.remedy).toContain('gate')
  })

  it('are numbered over all files, in order', async () => {
    const files = { 'a.yaml': manifest(policy('one'), policy('two')), 'b.yaml': manifest(policy('three')) }
    const serve = await started(['--policy-file', 'b.yaml', '--policy-file', 'a.yaml'], files)
    const { body } = await ask(serve, { step_type: 'step.gate' })
    expect(body.policies.map(({ policy_id, name }) => [policy_id, name])).toEqual([
      [1, 'three'],
      [2, 'one'],
      [3, 'two'],
    ])
    expect(new Set(body.policies.map(({ manifest_id }) => manifest_id)).size).toBe(2)
  })

  it('come from every manifest of a folder, and from no other file in it', async () => {
    const folder = folderWith({
      'b.yml': manifest(policy('plain')),
      'c.test.yaml': 'tests: []\npolicies: []\n',
      'd.yaml': 'name: something else\n',
      'e.yaml': `{"name": "J", "version": "1", "policies": [{"name": "flow", "rule_type": "field_not_empty",
        "params": {"field": "step_name"}, "severity": "low", "scope": "step_execution"}]}`,
      'f.txt': manifest(policy('text')),
    })
    for (const name of ['sub', '.hidden', 'h.yaml']) mkdirSync(join(folder, name))
    writeFileSync(join(folder, 'sub', 'deep.yaml'), manifest(policy('deep')))
    writeFileSync(join(folder, '.hidden', 'no.yaml'), manifest(policy('hidden')))
    const serve = await started(['--policy-file', folder])
    const { body } = await ask(serve, { step_type: 'step.gate' })
    expect(body.policies.map(({ name }) => name)).toEqual(['plain', 'flow', 'deep'])
    expect((await healthOf(serve)).dropped).toEqual([])
  })

  it('are the valid ones of a partly invalid file; the others are reported', async () => {
    const text = manifest(policy('good'), policy('misspelt', ', severty: low'), '  - {rule_type: nothing}\n')
    const serve = await started(['--policy-file', 'm.yaml'], { 'm.yaml': text })
    const health = await healthOf(serve)
    expect(health).toMatchObject({ load_state: 'enforcing', policy_count: 1, policies_offered: 3 })
    expect(health.dropped).toMatchObject([
      { name: 'misspelt', source: 'm.yaml', line: 5, reason: expect.stringContaining('severty') },
      { name: 'policies.2', source: 'm.yaml', line: 6 },
    ])
    expect(health.dropped[0]?.column).toBeGreaterThan(1)
    expect(serve.printed().err).toMatch(/dropped `misspelt` \(m\.yaml:5:\d+\): .*severty/)
    expect((await ask(serve, { step_type: 'step.gate' })).body.blocked).toBe(true)
  })

  it('are counted in the first line, with the critical ones that were dropped', async () => {
    const text = manifest(policy('good'), policy('misspelt', ', severty: low'), '  - {rule_type: nothing}\n')
    const serve = await started(['--policy-file', 'm.yaml'], { 'm.yaml': text })
    expect(serve.printed().out.split('\n')[0]).toContain(
      'enforcing, 1 of 3 policies in effect (dropped: 1 critical, 1 of unknown severity), at http://',
    )
    expect((await healthOf(serve)).dropped.map(({ severity }) => severity)).toEqual(['critical', null])
  })

  it('end the start with exit code 1 when one is dropped and --strict is given', async () => {
    const folder = folderWith({ 'm.yaml': manifest(policy('good'), policy('misspelt', ', severty: low')) })
    const { code, err } = await runSvc(['serve', '--strict', '--policy-file', join(folder, 'm.yaml'), '--port', '0'])
    expect(code).toBe(1)
    expect(err).toMatch(/dropped `misspelt` \(.*m\.yaml:5:\d+\): .*severty/)
    expect(err).toContain('a policy was dropped, so the engine does not start with --strict')
    const good = await started(['--strict', '--policy-file', 'm.yaml'], { 'm.yaml': manifest(policy('good')) })
    expect(await healthOf(good)).toMatchObject({ load_state: 'enforcing', policy_count: 1 })
  })

  it('stay when only a waiver is invalid', async () => {
    const text = `${manifest(policy('good'))}waivers:\n  - {policy: goood}\n`
    const health = await healthOf(await started(['--policy-file', 'm.yaml'], { 'm.yaml': text }))
    expect(health).toMatchObject({ load_state: 'enforcing', policy_count: 1, policies_offered: 1 })
    expect(health.dropped).toEqual([])
    expect(health.ignored).toMatchObject([{ name: 'waivers.0', source: 'm.yaml', line: 6 }])
  })

  it.each([
    { name: 'all its policies are wrong', text: manifest(policy('a', ', x: 1'), policy('b', ', x: 1')), offered: 2 },
    { name: 'it has no name', text: manifest(policy('a'), policy('b')).replace('name: M', ''), offered: 2 },
  ])('are none when $name, which is reported', async ({ text, offered }) => {
    const serve = await started(['--policy-file', 'm.yaml'], { 'm.yaml': text })
    const health = await healthOf(serve)
    expect(health).toMatchObject({
      load_state: 'all_dropped',
      loaded: false,
      policy_count: 0,
      policies_offered: offered,
    })
    expect(health.dropped.map(({ source }) => source)).toEqual(Array(offered).fill('m.yaml'))
    expect(serve.printed().err.match(/all_dropped: /g)).toHaveLength(1)
    const { body } = await ask(serve, { step_type: 'step.exec' })
    expect(body).toMatchObject({ action: 'allow', policies: [] })
  })

  it('are none when none are offered, which is reported', async () => {
    const serve = await started(['--policy-file', folderWith({})])
    expect(await healthOf(serve)).toMatchObject({ load_state: 'none_configured', policies_offered: 0, dropped: [] })
    expect(serve.printed().err.match(/none_configured: /g)).toHaveLength(1)
  })

  it('have the waivers of the agent', async () => {
    const waiver = 'waivers:\n  - {policy: one, agent_key: night, reason: r, approved_by: b, expires: 2999-01-01}\n'
    const files = { 'm.yaml': manifest(policy('one')) + waiver }
    const night = await started(['--policy-file', 'm.yaml', '--agent-key', 'night'], files)
    const { body } = await ask(night, { step_type: 'step.gate' })
    expect(body).toMatchObject({ blocked: false, outcome: 'warn', policies: [{ violated: true, waived: true }] })
    const day = await started(['--policy-file', 'm.yaml', '--agent-key', 'day'], files)
    expect((await ask(day, { step_type: 'step.gate' })).body.blocked).toBe(true)
  })
})

describe('starting', () => {
  it('prints the state, the address and a request that works as printed', async () => {
    const serve = await started(['--baseline'])
    const { out } = serve.printed()
    expect(out).toMatch(/^svc serve: enforcing, 15 of 15 policies in effect, at http:\/\/127\.0\.0\.1:\d+\n/)
    const command = /^try: (curl .*)$/m.exec(out)?.[1] ?? ''
    const { stdout } = await promisify(execFile)('sh', ['-c', command])
    expect(JSON.parse(stdout)).toMatchObject({ blocked: true })
  })

  it.each([
    {
      name: 'no source',
      args: [],
      env: {},
      messages: ['no policy source', '--baseline', '--policy-file', 'SVC_API_URL'],
    },
    {
      name: 'half a platform as source',
      args: [],
      env: { SVC_API_URL: 'http://x', SVC_API_KEY: 'k' },
      messages: ['no policy source', 'SVC_AGENT_KEY is missing'],
    },
    {
      name: 'a missing file',
      args: ['--policy-file', 'gone.yaml'],
      env: {},
      messages: ['`gone.yaml` does not exist'],
    },
    {
      name: 'a host beyond loopback',
      args: ['--baseline', '--host', '0.0.0.0'],
      env: {},
      messages: ['can be reached from other machines', '--token'],
    },
    {
      name: 'a short token',
      args: ['--baseline', '--token', 'short'],
      env: {},
      messages: ['the token must have at least 16 characters'],
    },
    {
      name: 'a switch that is neither 1 nor 0',
      args: ['--baseline'],
      env: { SVC_FAIL_CLOSED: 'closed' },
      messages: ['SVC_FAIL_CLOSED must be 1 or 0, found `closed`'],
    },
    {
      name: 'an invalid log location',
      args: ['--baseline', '--log-location', 'moon'],
      env: {},
      messages: ['`moon`', 'file:PATH'],
    },
  ])('with $name ends with 1 and a message', async ({ args, env, messages }) => {
    const { code, out, err } = await runSvc(['serve', ...args], env)
    expect([code, out]).toEqual([1, ''])
    for (const text of messages) expect(err).toContain(text)
    expect(err.trim().split('\n')).toHaveLength(1)
  })

  it('on a port in use ends with 1 and names it', async () => {
    const other = createServer()
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', () => resolve()))
    const { port } = other.address() as AddressInfo
    const { code, err } = await runSvc(['serve', '--baseline', '--port', String(port)])
    await new Promise((resolve) => other.close(resolve))
    expect([code, err]).toEqual([1, `svc serve: port ${port} is in use: choose another with --port\n`])
  })

  it('with invalid arguments ends with 2', async () => {
    for (const args of [
      ['serve', '--port', '70000'],
      ['serve', '--wat'],
      ['serve', 'extra'],
      ['nothing'],
      ['rules', '--name', 'x'],
    ])
      expect([args, (await runSvc(args)).code]).toEqual([args, 2])
  })

  it('explains each command with an example and its exit codes', async () => {
    for (const command of ['serve', 'rules', 'import']) {
      const { code, out } = await runSvc([command, '--help'])
      expect(code).toBe(0)
      expect(out).toMatch(/Examples?:\n {2}.*svc/)
      expect(out).toContain('Exit codes: 0')
    }
  })
})

describe('stopping', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('at %s writes the trace and ends with 0', async (signal) => {
    const serve = await started(['--baseline'])
    for (let count = 0; count < 50; count++)
      await serve.post('/record', { step: { task_id: 't', step_type: 'step.model', verb: 'POST' } })
    serve.signal(signal)
    expect(await serve.ended).toBe(0)
    expect(serve.trace().map(({ step }) => step)).toEqual(Array.from({ length: 50 }, (_, index) => index + 1))
  })

  it('answers the running request, and accepts no other', async () => {
    const serve = await started(['--baseline'])
    const body = JSON.stringify({ step: { task_id: 't', step_type: 'step.gate' } })
    const head = `POST /record HTTP/1.1\r\nHost: 127.0.0.1:${serve.port}\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`
    const socket = connect(serve.port, '127.0.0.1')
    let answer = ''
    const received = (text: string) =>
      new Promise<void>((resolve) => {
        const look = () => answer.includes(text) && resolve()
        socket.on('data', look)
        look()
      })
    socket.on('data', (chunk) => {
      answer += chunk.toString()
    })
    const closed = new Promise((resolve) => socket.once('close', resolve))
    socket.write(head)
    await received('100 Continue')
    serve.signal('SIGTERM')
    await refused(serve.port)
    socket.write(body)
    await closed
    expect(answer).toMatch(/HTTP\/1\.1 200 OK/)
    expect(await serve.ended).toBe(0)
    expect(serve.trace()).toHaveLength(1)
  })

  it('does not wait forever for a request that never ends', async () => {
    const serve = await started(['--baseline'])
    const socket = connect(serve.port, '127.0.0.1')
    socket.on('error', () => undefined)
    const head = `POST /record HTTP/1.1\r\nHost: 127.0.0.1:${serve.port}\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n`
    await new Promise((resolve) => {
      socket.once('data', resolve)
      socket.write(head)
    })
    serve.signal('SIGTERM')
    expect(await serve.ended).toBe(0)
    socket.destroy()
  })
})

describe('the trace', () => {
  const step = { task_id: 't', step_type: 'step.exec', input: { secret: 1 }, output: { status: 'blocked', text: 'x' } }

  it('is written to SVC_LOG_LOCATION, readable by its owner alone', async () => {
    const serve = await started(['--baseline'], {}, { SVC_LOG_LOCATION: 'file:deep/er/t.jsonl' })
    await serve.post('/record', { step })
    await serve.post('/end_task', { task_id: 't' })
    const path = join(serve.folder, 'deep', 'er', 't.jsonl')
    expect(JSON.parse(readFileSync(path, 'utf8').split('\n')[0] ?? '')).toMatchObject({ kind: 'step', step: 1 })
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  it('is alone on standard output', async () => {
    const serve = await started(['--baseline'], {}, { SVC_LOG_LOCATION: 'stdout' })
    await serve.post('/record', { step })
    await serve.post('/end_task', { task_id: 't' })
    serve.signal('SIGTERM')
    await serve.ended
    const lines = serve.printed().out.trim().split('\n')
    const kinds = new Set(lines.map((line) => (JSON.parse(line) as { kind: string }).kind))
    expect(kinds).toEqual(new Set(['step', 'incident', 'end']))
  })

  it('leaves out payloads, and nothing else, with SVC_LOG_PAYLOADS=metadata_only', async () => {
    const serve = await started(['--baseline'], {}, { SVC_LOG_PAYLOADS: 'metadata_only' })
    await serve.post('/record', { step: { ...step, properties: { kept: 1 }, meta: { mine: 2 } } })
    await serve.post('/end_task', { task_id: 't' })
    const [line] = serve.trace()
    expect(line).toMatchObject({ step_type: 'step.exec', properties: { kept: 1 }, meta: { mine: 2 } })
    expect(line?.input).toBeUndefined()
    expect(line?.output).toEqual({ status: 'blocked' })
  })

  it.skipIf(process.platform !== 'linux')('that cannot be written fails no step, and is reported once', async () => {
    const serve = await started(['--baseline', '--log-location', 'file:/dev/full'])
    for (const task_id of ['t', 'u', 'v'])
      expect((await serve.post('/record', { step: { ...step, task_id } })).status).toBe(200)
    expect((await ask(serve, { step_type: 'step.exec' })).body.blocked).toBe(true)
    expect((await serve.post('/end_task', { task_id: 't' })).status).toBe(503)
    expect(serve.printed().err.match(/the trace cannot be written: ENOSPC/g)).toHaveLength(1)
  })
})

it('lists the rules for people and for programs', async () => {
  const listed = JSON.parse((await runSvc(['rules', '--json'])).out) as { rules: { name: string }[] }
  const { out } = await runSvc(['rules'])
  expect(listed.rules.length).toBeGreaterThan(15)
  for (const { name } of listed.rules) expect(out).toContain(`${name}  (`)
  const one = await runSvc(['rules', '--name', 'step_requires_gate'])
  expect(one.out).toMatch(/^step_requires_gate {2}\(path; step_execution/)
  expect(one.out).toContain('max_age_steps')
  expect((await runSvc(['rules', '--name', 'step_require_gate'])).err).toContain('`step_requires_gate`')
})

/** Resolves once the port accepts no more connections. */
async function refused(port: number): Promise<void> {
  const open = await new Promise<boolean>((resolve) => {
    const probe = connect(port, '127.0.0.1', () => {
      probe.destroy()
      resolve(true)
    })
    probe.once('error', () => resolve(false))
  })
  if (open) await refused(port)
}
