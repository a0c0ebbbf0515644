// The local engine: levels, waivers, reservations, reloading, tokens, recall of tasks.
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { EngineHealth, Evaluation, Readiness, ReleasedReservation } from '@svc/schemas'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { type Serve, startServe } from '../../support/engine/serve.js'
import { soon } from '../../support/server/soon.js'

const once = `
name: Once
version: "1"
policies:
  - name: one command a task
    rule_type: execution_max_steps
    params: {step_type: step.exec, max_steps: 1}
    severity: critical
    scope: step_execution
`
const exec = { step_type: 'step.exec' }
const contextOf = (task_id: string, more: object = {}) => ({
  agent_id: 'a',
  task_id,
  environment: 'development',
  risk_classification: 'limited',
  ...more,
})

let serve: Serve
afterEach(() => serve.discard())

const ask = async (task_id: string, more: { context?: object; reserve?: boolean; intended?: object } = {}) => {
  const { context, intended = exec, ...rest } = more
  const answer = await serve.post<Evaluation>('/evaluate', { intended, context: contextOf(task_id, context), ...rest })
  expect(answer.status).toBe(200)
  return answer.body
}
const record = (step: object) => serve.post('/record', { step })

describe('a reservation', () => {
  it('counts until it is released, recorded, or its task ends', async () => {
    serve = await startServe(['--policy-file', 'once.yaml'], { 'once.yaml': once })
    const first = await ask('t', { reserve: true })
    expect(first.blocked).toBe(false)
    expect((await ask('t', { reserve: true })).blocked).toBe(true)
    expect((await ask('other')).blocked).toBe(false)
    const release = async () => {
      const answer = await serve.post<ReleasedReservation>('/release', { evaluation_id: first.evaluation_id })
      return answer.body.released
    }
    expect([await release(), await release()]).toEqual([true, false])
    const second = await ask('t', { reserve: true })
    expect(second.blocked).toBe(false)
    await record({ ...exec, task_id: 't', meta: { evaluation_id: second.evaluation_id } })
    expect((await ask('t')).blocked).toBe(true)
    await ask('u', { reserve: true })
    await serve.post('/end_task', { task_id: 'u' })
    expect((await ask('u')).blocked).toBe(false)
  })

  it('is neither made without `reserve` nor for a blocked step', async () => {
    serve = await startServe(['--policy-file', 'once.yaml'], { 'once.yaml': once })
    expect([(await ask('t')).blocked, (await ask('t')).blocked]).toEqual([false, false])
    await record({ ...exec, task_id: 't' })
    const { evaluation_id } = await ask('t', { reserve: true })
    expect((await serve.post('/release', { evaluation_id })).body).toMatchObject({ status: 'ok', released: false })
  })
})

describe('the trace', () => {
  it('restores a running task after the engine was killed', async () => {
    serve = await startServe(['--policy-file', 'once.yaml'], { 'once.yaml': once })
    await record({ ...exec, task_id: 'odd "task" \\ x', input: { text: 'line\u2028separator' } })
    await record({ ...exec, task_id: 'ended' })
    await serve.post('/end_task', { task_id: 'ended' })
    const { folder } = serve
    serve.signal('SIGKILL')
    await serve.ended
    const trace = readFileSync(join(folder, 'data', 'traces.jsonl'), 'utf8')
    await serve.discard()
    serve = await startServe(['--policy-file', 'once.yaml', '--log-location', 'file:traces.jsonl'], {
      'once.yaml': once,
      'traces.jsonl': trace,
    })
    const back = await ask('odd "task" \\ x')
    expect([back.blocked, back.history_lost]).toEqual([true, undefined])
    expect((await ask('new')).blocked).toBe(false)
    expect((await record({ ...exec, task_id: 'odd "task" \\ x' })).body).toMatchObject({ step: 2 })
  })
})

describe('risk levels and modes', () => {
  const policies = `
name: Levels
version: "1"
policies:
  - {name: high only, rule_type: field_not_empty, params: {field: step_name}, severity: critical, scope: step_execution, risk_classification: high}
  - {name: watched, rule_type: field_not_empty, params: {field: step_name}, severity: critical, scope: step_execution, mode: observe}
  - {name: waived, rule_type: field_not_empty, params: {field: step_name}, severity: critical, scope: step_execution}
waivers:
  - {policy: waived, agent_key: clerk, reason: being renamed, approved_by: ops, expires: 2999-01-31}
`
  it('leave out policies above the level of the agent, and only report observed or waived ones', async () => {
    serve = await startServe(['--policy-file', 'l.yaml', '--agent-key', 'clerk'], { 'l.yaml': policies })
    const limited = await ask('t')
    expect(limited).toMatchObject({ action: 'allow', outcome: 'warn', risk_score: 0 })
    expect(limited.policies.map(({ name, mode, waived }) => [name, mode, waived])).toEqual([
      ['watched', 'observe', false],
      ['waived', 'enforce', true],
    ])
    const high = await ask('t', { context: { risk_classification: 'high' } })
    expect(high.policies.map(({ name }) => name)).toEqual(['high only', 'watched', 'waived'])
    expect(high.blocked).toBe(true)
    expect((await ask('t', { context: { risk_classification: 'unclassified' } })).blocked).toBe(true)
    await record({ ...exec, task_id: 't' })
    await serve.post('/end_task', { task_id: 't' })
    const incidents = serve.trace().filter(({ kind }) => kind === 'incident')
    expect(incidents.map(({ violation }) => (violation as { name: string }).name)).not.toContain('waived')
  })
})

describe('reloading', () => {
  it('takes new policies, keeps the old ones when all new ones are invalid, and reports a lost history', async () => {
    serve = await startServe(['--policy-file', 'p.yaml', '--log-location', 'none'], { 'p.yaml': once })
    await record({ ...exec, task_id: 'running' })
    const path = join(serve.folder, 'p.yaml')
    const reload = async (text: string) => {
      writeFileSync(`${path}.new`, text)
      renameSync(`${path}.new`, path)
      return (await serve.call<EngineHealth>('POST', '/reload')).body
    }
    const wrong = await reload(once.replace('execution_max_steps', 'execution_max_stepz'))
    expect(wrong).toMatchObject({ load_state: 'enforcing', policy_count: 1, policies_offered: 1, dropped: [] })
    expect(wrong.outdated).toMatchObject([{ name: 'one command a task', source: 'p.yaml', line: 6 }])
    expect((await ask('running')).blocked).toBe(true)
    const other = await reload(once.replace('step.exec, max_steps: 1', 'step.model, max_steps: 1'))
    expect(other).toMatchObject({ load_state: 'enforcing', policy_count: 1, dropped: [], outdated: [] })
    expect(await ask('running')).toMatchObject({ blocked: false, history_lost: true })
    expect(await ask('fresh')).not.toHaveProperty('history_lost')
    await vi.waitFor(() => expect(serve.printed().err).toContain('the last valid version stays in effect'), soon)
  })

  it('reads the history of a running task back from the trace', async () => {
    serve = await startServe(['--policy-file', 'p.yaml'], { 'p.yaml': once })
    await record({ step_type: 'step.model', verb: 'POST', task_id: 'running' })
    writeFileSync(join(serve.folder, 'p.yaml'), once.replace('step.exec, max_steps', 'step.model, max_steps'))
    await serve.call('POST', '/reload')
    const again = await ask('running', { intended: { step_type: 'step.model', verb: 'POST' } })
    expect([again.blocked, again.history_lost]).toEqual([true, undefined])
  })
})

describe('while no policy is in effect', () => {
  const wrong = once.replace('execution_max_steps', 'execution_max_stepz')

  it('every step is allowed; readiness and one line report it', async () => {
    serve = await startServe(['--policy-file', 'p.yaml'], { 'p.yaml': wrong })
    expect((await ask('t')).blocked).toBe(false)
    expect((await serve.call<Readiness>('GET', '/readyz')).body).toEqual({
      ready: true,
      load_state: 'all_dropped',
      enforcing: false,
    })
    expect(serve.printed().err.match(/all_dropped/g)).toHaveLength(1)
  })

  it('every step is blocked with --fail-closed, until there are policies', async () => {
    serve = await startServe(['--policy-file', 'p.yaml', '--fail-closed'], { 'p.yaml': wrong })
    const blocked = await ask('t')
    expect(blocked).toMatchObject({ action: 'block', blocked: true, outcome: 'block', risk_score: 1 })
    expect(blocked.policies).toMatchObject([{ name: 'ungoverned', violation_details: { code: 'UNGOVERNED' } }])
    const ready = () => serve.call<unknown>('GET', '/readyz')
    expect((await ready()).status).toBe(503)
    writeFileSync(join(serve.folder, 'p.yaml'), once)
    await serve.call('POST', '/reload')
    expect((await ask('t')).blocked).toBe(false)
    expect((await ready()).status).toBe(200)
  })
})

describe('a token', () => {
  const token = 'a-secret-of-many-characters'

  it('is required for all endpoints except readiness, also beyond loopback', async () => {
    serve = await startServe(['--baseline', '--host', '0.0.0.0'], {}, { SVC_LOCAL_TOKEN: token })
    const headers = (authorization: string | null) => ({ host: 'engine.internal:80', authorization })
    const health = (authorization: string | null) => serve.call('GET', '/health', { headers: headers(authorization) })
    expect((await health(null)).status).toBe(401)
    expect((await health('Bearer wrong')).status).toBe(401)
    expect((await health(`Bearer ${token}`)).status).toBe(200)
    expect((await serve.call('GET', '/readyz', { headers: headers(null) })).status).toBe(200)
  })
})
