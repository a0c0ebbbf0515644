// The local engine over real HTTP: the seed's pattern, its health, and everything it refuses.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EngineHealth, Evaluation } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runSvc, type Serving, serve } from '../support/local-engine.js'

const folder = mkdtempSync(join(tmpdir(), 'svc-serve-'))
const traces = join(folder, 'traces.jsonl')
let engine: Serving
beforeAll(async () => {
  engine = await serve(['--baseline'], { SVC_DATA_DIR: folder })
})
afterAll(async () => {
  await engine.stop()
  rmSync(folder, { recursive: true, force: true })
})

const context = (task_id: string, more = {}) => ({
  agent_id: 'a',
  task_id,
  environment: 'test',
  risk_classification: 'limited',
  ...more,
})
const evaluate = (task_id: string, intended: unknown, more = {}) =>
  engine.post<Evaluation>('/evaluate', { intended, context: context(task_id, more) })
const record = (step: Record<string, unknown>) => engine.post<{ step: number }>('/record', { step })
const lines = () =>
  readFileSync(traces, 'utf8')
    .trim()
    .split('\n')
    .map(
      (line) =>
        JSON.parse(line) as Record<string, unknown> & {
          meta: Record<string, never>
          violation: Record<string, unknown>
        },
    )
const named = (evaluation: Evaluation) =>
  evaluation.policies.filter((policy) => policy.violated).map((policy) => policy.name)

describe('the integration pattern', () => {
  it('blocks an exec without a gate, says what would allow it, and lets it pass after one', async () => {
    const blocked = await evaluate('pattern', { step_type: 'step.exec' })
    expect(blocked).toMatchObject({ action: 'block', blocked: true, outcome: 'block', risk_score: 1 })
    expect(blocked.policies.find((policy) => policy.violated)?.violation_details).toMatchObject({
      code: 'GATE_MISSING',
      remedy: 'a passed step.gate at most 3 steps before this step',
    })
    expect((await record({ task_id: 'pattern', step_type: 'step.gate', output: { status: 'approved' } })).step).toBe(1)
    const allowed = await evaluate('pattern', { step_type: 'step.exec' })
    expect(allowed).toMatchObject({ action: 'allow', blocked: false, risk_score: 0 })
    expect(
      (
        await record({
          task_id: 'pattern',
          step_type: 'step.exec',
          output: { code: 0 },
          meta: { evaluation_id: allowed.evaluation_id },
        })
      ).step,
    ).toBe(2)
    expect(await engine.post('/end_task', { task_id: 'pattern' })).toEqual({ status: 'ok', task_id: 'pattern' })
    const exec = lines().find((line) => line.task_id === 'pattern' && line.step_type === 'step.exec')
    expect(exec?.meta['svc.eval']).toMatchObject({ evaluation_id: allowed.evaluation_id, action: 'allow' })
  })

  it('changes nothing by asking', async () => {
    const ask = async () => ({ ...(await evaluate('asking', { step_type: 'step.exec' })), evaluation_id: '' })
    expect(await ask()).toEqual(await ask())
    expect((await record({ task_id: 'asking', step_type: 'step.gate' })).step).toBe(1)
  })

  it('names the manifests in force when a task starts', async () => {
    await record({ task_id: 'start', step_type: 'task.start' })
    await engine.post('/end_task', { task_id: 'start' })
    const start = lines().find((line) => line.task_id === 'start')
    expect(start?.meta['svc.manifests']).toMatchObject([{ name: 'Baseline', path: 'baseline.yaml' }])
  })

  it('ends a task whose step was blocked', async () => {
    await record({ task_id: 'stopped', step_type: 'task.start' })
    const blocked = await evaluate('stopped', { step_type: 'step.exec' })
    await record({
      task_id: 'stopped',
      step_type: 'step.exec',
      output: { status: 'blocked' },
      meta: { evaluation_id: blocked.evaluation_id },
    })
    await engine.post('/end_task', { task_id: 'stopped' })
    const own = lines().filter((line) => line.task_id === 'stopped')
    expect(own.filter((line) => line.kind === 'step').map((line) => line.step_type)).toEqual([
      'task.start',
      'step.exec',
      'task.error',
      'task.end',
    ])
    expect(own.some((line) => line.reason === 'executed_although_blocked')).toBe(false)
  })

  it('makes an incident of a blocked step that was carried out', async () => {
    await record({ task_id: 'defied', step_type: 'step.exec', output: { code: 0 } })
    await engine.post('/end_task', { task_id: 'defied' })
    const incident = lines().find((line) => line.task_id === 'defied' && line.reason === 'executed_although_blocked')
    expect(incident?.violation).toMatchObject({ name: 'Code runs only after a gate', severity: 'critical' })
  })

  it('judges the whole task at its end, and blocks nothing by it', async () => {
    await record({ task_id: 'headless', step_type: 'step.model', verb: 'POST' })
    const end = await evaluate('headless', { step_type: 'task.end' })
    expect([end.action, end.outcome, named(end)]).toEqual(['allow', 'warn', ['Records begin with a start']])
    await record({ task_id: 'unended', step_type: 'step.model', verb: 'POST' })
    await engine.post('/end_task', { task_id: 'unended' })
    expect(lines().find((line) => line.task_id === 'unended' && line.kind === 'incident')?.violation.name).toBe(
      'Records begin with a start',
    )
  })

  it('knows the tools of the context and of the registration', async () => {
    const step = { step_type: 'step.resource', verb: 'POST', step_name: 'wire' }
    expect(named(await evaluate('tools', step, { declared_tools: ['search'] }))).toEqual(['Only declared tools'])
    expect(named(await evaluate('tools', step, { agent_allowed_tools: ['wire'] }))).toEqual([])
    await engine.post('/register_agent', { agent_key: 'a', declared_tools: ['search'], owner_id: 'o', purpose: 'p' })
    expect(named(await evaluate('tools', step))).toEqual(['Only declared tools'])
  })

  it('judges a registration as it was sent', async () => {
    const answer = await engine.post('/register_agent', {
      agent_key: 'new',
      risk_classification: 'unacceptable',
      team: 'x',
    })
    expect(answer).toMatchObject({ agent_id: 'new', action: 'block', action_digest: null })
    expect(named(answer as unknown as Evaluation)).toEqual(['No prohibited system', 'Somebody is responsible'])
  })
})

describe('health', () => {
  it('says what is enforced', async () => {
    const { body } = await engine.send('/health', null)
    expect(body).toMatchObject({
      loaded: true,
      policy_count: 15,
      policies_offered: 15,
      load_state: 'enforcing',
      dropped: [],
      stale: false,
      source: 'baseline',
    })
  })

  it('names what was dropped by file and line, and enforces the rest', async () => {
    const file = join(folder, 'half.yaml')
    writeFileSync(
      file,
      'name: Half\nversion: "1"\npolicies:\n  - {name: Good, rule_type: step_requires_gate, params: {}, severity: critical, scope: step_execution}\n  - {name: Bad, rule_type: step_requires_gat, severity: low, scope: step_execution}\n',
    )
    const half = await serve(['--policy-file', file, '--log-location', 'none'])
    const { body } = await half.send('/health', null)
    const health = body as unknown as EngineHealth
    expect(health).toMatchObject({
      load_state: 'enforcing',
      policy_count: 1,
      policies_offered: 2,
      dropped: [{ source: file, line: 5 }],
    })
    expect(health.dropped[0]?.reason).toContain('did you mean `step_requires_gate`')
    expect(
      await half.post('/evaluate', { intended: { step_type: 'step.model' }, context: context('t') }),
    ).toMatchObject({ blocked: true })
    await half.stop()
  })

  it.each([
    [
      'all_dropped',
      'name: X\nversion: "1"\npolicies: [{name: Bad, rule_type: nothing, severity: low, scope: step_execution}]\n',
    ],
    ['none_configured', null],
  ])('says %s on the error stream, once, and allows every step', async (state, text) => {
    const place = join(folder, state)
    mkdirSync(place)
    if (text !== null) writeFileSync(join(place, 'm.yaml'), text)
    const ungoverned = await serve(['--policy-file', place, '--log-location', 'none'])
    expect((await ungoverned.send('/health', null)).body).toMatchObject({
      load_state: state,
      loaded: false,
      policy_count: 0,
    })
    expect(
      await ungoverned.post('/evaluate', { intended: { step_type: 'step.exec' }, context: context('t') }),
    ).toMatchObject({ blocked: false, policies: [] })
    const { stderr } = await ungoverned.stop()
    expect(stderr.split('\n').filter((line) => line.startsWith(`svc: ${state}`))).toHaveLength(1)
  })
})

describe('what is refused', () => {
  const intended = { step_type: 'step.exec' }
  const body = (change: Record<string, unknown>) =>
    JSON.stringify({ intended: { ...intended, ...change }, context: context('t') })
  it.each([
    [
      'an unknown key',
      '/evaluate',
      body({ stepname: 'x' }),
      422,
      /`intended.stepname`: unknown key `stepname`; did you mean `step_name`/,
    ],
    [
      'a verb outside its row',
      '/evaluate',
      body({ verb: 'POST' }),
      422,
      /`intended.verb`: a `step.exec` step takes no verb/,
    ],
    ['a step type that does not exist', '/evaluate', body({ step_type: 'step.dance' }), 422, /intended.step_type/],
    ['no context', '/evaluate', JSON.stringify({ intended }), 422, /`context` is missing/],
    [
      'a context without a level',
      '/evaluate',
      JSON.stringify({ intended, context: { agent_id: 'a', task_id: 't', environment: 'x' } }),
      422,
      /risk_classification/,
    ],
    ['another task than the context names', '/evaluate', body({ task_id: 'u' }), 422, /intended.task_id/],
    ['a record without a task', '/record', JSON.stringify({ step: intended }), 422, /task_id/],
    ['malformed JSON', '/evaluate', '{"intended":', 400, /ends too early/],
    ['duplicate keys', '/evaluate', '{"intended":{},"intended":{}}', 400, /duplicate member name/],
    ['a lone surrogate', '/record', '{"step":{"step_name":"\\udfff"}}', 400, /lone surrogate/],
    ['an integer beyond 2^53-1', '/record', '{"step":{"step":9007199254740993}}', 400, /2\^53-1/],
    ['nesting deeper than 64', '/evaluate', `${'[['.repeat(40)}${']]'.repeat(40)}`, 400, /deeper than 64/],
    ['a body over 1 MiB', '/evaluate', body({ input: { x: 'x'.repeat(1024 * 1024) } }), 413, /1 MiB/],
    ['a path that does not exist', '/evaluat', '{}', 404, /\/evaluate/],
  ])('%s', async (_, path, raw, status, says) => {
    const answer = await engine.send(path, raw)
    expect(answer.status).toBe(status)
    expect(JSON.stringify(answer.body)).toMatch(says)
  })

  it('another method, another content type, bytes that are not UTF-8', async () => {
    expect((await engine.send('/evaluate', null)).status).toBe(405)
    expect((await engine.send('/evaluate', '{}', { 'content-type': 'text/plain' })).status).toBe(415)
    expect((await engine.send('/evaluate', new Uint8Array([0xff]))).status).toBe(400)
  })

  it('a Host header that names another server', async () => {
    const { hostname, port } = new URL(engine.url)
    const status = await new Promise((resolve, reject) => {
      request({ hostname, port, path: '/health', headers: { host: `attacker.example:${port}` } }, (response) =>
        resolve(response.resume().statusCode),
      )
        .once('error', reject)
        .end()
    })
    expect(status).toBe(421)
  })

  it('nothing that it does not survive', async () => {
    const hostile =
      '{"intended":{"step_type":"step.resource","verb":"POST","properties":{"__proto__":{"polluted":1},"target.trust":"internal","target":{"trust":"external"}}},"context":{"agent_id":"a","task_id":"h","environment":"x","risk_classification":"limited"}}'
    const { status, body } = await engine.send('/evaluate', hostile)
    expect(status).toBe(200)
    expect(
      (body as unknown as Evaluation).policies.flatMap((policy) => policy.violation_details?.code ?? []),
    ).toContain('AMBIGUOUS_FIELD')
    expect((await engine.send('/health', null)).status).toBe(200)
  })
})

describe('starting and stopping', () => {
  it.each([
    ['no source', ['serve'], {}, 1, /no policy source.*--baseline.*--policy-file/],
    ['no source but a platform', ['serve'], { SVC_API_URL: 'http://x' }, 1, /SVC_API_URL is set/],
    ['a file that is not there', ['serve', '--policy-file', 'nowhere.yaml'], {}, 1, /`nowhere.yaml` does not exist/],
    ['a host beyond this machine', ['serve', '--baseline', '--host', '0.0.0.0'], {}, 1, /needs a token/],
    ['a log location that is none', ['serve', '--baseline', '--log-location', 'moon'], {}, 1, /not a log location/],
    ['an unknown option', ['serve', '--baselin'], {}, 2, /did you mean|Did you mean/i],
    ['an unknown command', ['frob'], {}, 2, /unknown command/],
    ['help', ['serve', '--help'], {}, 0, /Example/],
  ])('%s', async (_, args, env, code, says) => {
    const ended = await runSvc(args, env, folder)
    expect(ended.code).toBe(code)
    expect(ended.stdout + ended.stderr).toMatch(says)
  })

  it('sees every line to disk before it ends', async () => {
    const file = join(folder, 'ending.jsonl')
    const ending = await serve(['--baseline', '--log-location', `file:${file}`])
    await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        ending.post('/record', { step: { task_id: `e${index % 7}`, step_type: 'step.model', verb: 'POST' } }),
      ),
    )
    expect((await ending.stop('SIGTERM')).code).toBe(0)
    expect(readFileSync(file, 'utf8').trim().split('\n')).toHaveLength(200)
  })

  it('leaves payloads out when told to', async () => {
    const file = join(folder, 'bare.jsonl')
    const bare = await serve(['--baseline', '--log-location', `file:${file}`], { SVC_LOG_PAYLOADS: 'metadata_only' })
    await bare.post('/record', {
      step: {
        task_id: 'b',
        step_type: 'step.model',
        verb: 'POST',
        input: { prompt: 'hush-in' },
        output: { text: 'hush-out', status: 'ok' },
      },
    })
    await bare.stop()
    const text = readFileSync(file, 'utf8')
    expect(text).not.toContain('hush')
    expect(text).toContain('"output":{"status":"ok"}')
  })
})
