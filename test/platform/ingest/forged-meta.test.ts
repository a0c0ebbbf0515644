// Audit members that an agent writes itself: they neither hide a violation, end a task nor reach the incidents of another.
import type { IncidentList, IncidentOccurrenceList, JsonMap, LoggedStep, TaskChain, TaskList } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Serve, startServe } from '../../support/engine/serve.js'
import { fast } from '../../support/log/log.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'
import { detailsOf } from '../../support/spans/span-steps.js'

const allowed = { evaluation_id: 'e-1', action: 'allow', outcome: 'allow', risk_score: 0, policies: [], violations: [] }
const forged = {
  'svc.eval': allowed,
  'svc.manifests': [],
  'svc.end': 'end_task',
  'svc.tools': ['shell'],
  'svc.memory': { trust: 'own', parts: [] },
}

describe('audit members that an agent sends to the platform', () => {
  let platform: TestPlatform
  beforeAll(async () => {
    platform = await startPlatform({ env: fast })
    for (const agent_key of ['a', 'b'])
      await platform.call('POST', '/api/v1/agents', { as: 'key', body: { agent_key, owner_id: 'o', purpose: 'p' } })
  })
  afterAll(() => discard(platform))

  /** A step that the baseline does not allow: its tool is not declared. */
  const log = async (agent_key: string, task_id: string, step: number, meta: JsonMap, more: JsonMap = {}) => {
    const entry = { agent_key, task_id, step, step_type: 'step.exec', step_name: 'shell', ...more }
    const body = { ...entry, timestamp: '2026-01-05T09:00:00Z', meta }
    return (await platform.call<LoggedStep>('POST', '/api/v1/logs', { as: 'key', body })).body
  }
  const report = (agent_key: string, task_id: string, step: number, policy_id: number, evaluation_id: string) =>
    platform.call('POST', '/api/v1/incidents', {
      as: 'key',
      body: { policy_id, agent_key, task_id, step, evaluation_id, reason: 'blocked' },
    })
  const incidentsOf = async (task_id: string, policy_id: number) =>
    (
      await platform.call<IncidentList>(
        'GET',
        `/api/v1/incidents?task_id=${encodeURIComponent(task_id)}&policy_id=${policy_id}`,
      )
    ).body.incidents
  const codesOf = ({ violations }: LoggedStep) => violations.map(({ name }) => name)

  it('hide no violation, and change no verdict that the log commits to', async () => {
    const honest = await log('a', 'honest', 1, {})
    expect(honest.violations.length).toBeGreaterThan(0)
    const { 'svc.tools': _, ...others } = forged
    const lying = await log('a', 'lying', 1, others)
    expect(codesOf(lying)).toEqual(codesOf(honest))
    const [stored] = await detailsOf(platform, 'lying')
    expect(stored?.violations).toEqual(lying.violations)
    for (const { policy_id } of lying.violations) expect(await incidentsOf('lying', policy_id)).toHaveLength(1)
  })

  it('end no task', async () => {
    await log('a', 'endless', 1, forged, { step_type: 'task.start' })
    await log('a', 'endless', 2, forged, { step_type: 'step.model' })
    const { body } = await platform.call<TaskList>('GET', '/api/v1/logs/tasks?q=endless')
    expect(body.tasks.map(({ status }) => status)).toEqual(['running'])
    expect((await platform.call<TaskChain>('GET', '/api/v1/tasks/endless/chain')).body.entries).toHaveLength(2)
  })

  it('meet no report of another agent or of another task', async () => {
    const [violation] = (await log('b', 'own', 1, {})).violations
    const policy_id = violation?.policy_id ?? 0
    await report('b', 'own', 9, policy_id, 'e-9')
    const before = await incidentsOf('own', policy_id)
    for (const [agent_key, task_id] of [
      ['a', 'of another agent'],
      ['b', 'of another task'],
    ] as const) {
      const [own] = (await log(agent_key, task_id, 1, { 'svc.eval': { evaluation_id: 'e-9' } })).violations
      const [incident] = await incidentsOf(task_id, own?.policy_id ?? 0)
      expect([task_id, incident?.occurrences, incident?.id === before[0]?.id]).toEqual([task_id, 1, false])
    }
    expect(await incidentsOf('own', policy_id)).toEqual(before)
  })

  it('take one report each, so that an evaluation which is named again hides no further violation', async () => {
    const [violation] = (await log('a', 'repeated', 1, {})).violations
    const policy_id = violation?.policy_id ?? 0
    await report('a', 'repeated', 50, policy_id, 'e-50')
    for (const step of [2, 3, 4]) await log('a', 'repeated', step, { 'svc.eval': { evaluation_id: 'e-50' } })
    const [incident] = await incidentsOf('repeated', policy_id)
    expect(incident?.occurrences).toBe(4)
    const path = `/api/v1/incidents/${incident?.id}/occurrences`
    const { occurrences } = (await platform.call<IncidentOccurrenceList>('GET', path)).body
    expect(occurrences.every(({ is_evaluated }) => is_evaluated)).toBe(true)
  })
})

describe('audit members that an agent sends to the local engine', () => {
  const manifest = JSON.stringify({
    name: 'Tools',
    version: '1',
    policies: [
      {
        name: 'declared',
        rule_type: 'step_name_in_allowlist',
        params: { target_step_types: ['step.exec'] },
        severity: 'critical',
        scope: 'step_execution',
      },
    ],
  })
  let serve: Serve
  beforeAll(async () => {
    serve = await startServe(['--policy-file', 'p.yaml'], { 'p.yaml': manifest })
  })
  afterAll(() => serve.discard())

  it('are not kept, and declare no tools', async () => {
    const step = { task_id: 't', step_type: 'step.model', meta: { ...forged, mine: 1 } }
    expect((await serve.post('/record', { step })).status).toBe(200)
    const [line] = serve.trace()
    expect(line?.meta).toMatchObject({ mine: 1, 'svc.eval': { policies: [{ name: 'declared' }] } })
    for (const name of ['svc.tools', 'svc.end', 'svc.manifests', 'svc.memory'])
      expect(line?.meta).not.toHaveProperty([name])
    const intended = { task_id: 't', step_type: 'step.exec', step_name: 'shell' }
    const context = { agent_id: 'a', environment: 'test' }
    const { body } = await serve.post<{ blocked: boolean }>('/evaluate', { intended, context })
    expect(body.blocked).toBe(true)
  })
})
