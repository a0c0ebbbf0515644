// The API of agents on both databases: register, log, evaluate, read, verify.
import type {
  BatchAnswer,
  IncidentList,
  LogDetail,
  LoggedStep,
  LogList,
  RegisteredAgent,
  TaskList,
  Verification,
} from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { askMessage, noticeMessage } from '../../../engine/policy/messages.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'
import { sharedPostgres } from '../../support/server/postgres.js'

const postgres = await sharedPostgres()

const at = (second: number) => new Date(Date.UTC(2026, 0, 5, 9, 0, second)).toISOString()

describe.each([
  { kind: 'pglite', url: () => null },
  ...(postgres === null ? [] : [{ kind: 'postgresql', url: () => postgres.freshDatabase() }]),
])('on $kind', ({ url }) => {
  let platform: TestPlatform
  let agent_id: string
  beforeAll(async () => {
    platform = await startPlatform({ database_url: url() })
    const body = { agent_key: 'booker', owner_id: 'ops', purpose: 'bookings', declared_tools: ['search', 'book'] }
    const { body: agent } = await platform.call<RegisteredAgent>('POST', '/api/v1/agents', { as: 'key', body })
    agent_id = agent.agent_id
  })
  afterAll(() => discard(platform))

  const log = (body: Record<string, unknown>, headers = {}) =>
    platform.call<LoggedStep>('POST', '/api/v1/logs', { as: 'key', body, headers })
  const verify = async (task_id: string) =>
    (await platform.call<Verification>('GET', `/api/v1/tasks/${task_id}/verify`)).body

  it('registers an agent once and updates it afterwards', async () => {
    const again = await platform.call<RegisteredAgent>('POST', '/api/v1/agents', {
      as: 'key',
      body: { agent_key: 'booker', team: 'travel' },
    })
    expect(again.status).toBe(200)
    expect(again.body).toMatchObject({ agent_id, registration_status: 'updated', violations: [] })
    const { body } = await platform.call('GET', `/api/v1/agents/${agent_id}`)
    expect(body).toMatchObject({ owner_id: 'ops', attributes: { team: 'travel' }, declared_tools: ['search', 'book'] })
  })

  it('assigns the baseline to a new agent', async () => {
    const { body } = await platform.call<{ total: number }>('GET', `/api/v1/policies?agent_id=${agent_id}`)
    expect(body.total).toBe(15)
    const effective = await platform.call('GET', '/api/v1/policies/effective?agent_key=booker', { as: 'key' })
    expect(effective.body).toMatchObject({
      policies_offered: 15,
      manifests: [{ path: 'security/agentic-baseline.yaml' }],
    })
    const etag = effective.headers.get('etag') ?? ''
    const same = await platform.call('GET', '/api/v1/policies/effective?agent_key=booker', {
      as: 'key',
      headers: { 'if-none-match': etag },
    })
    expect(same.status).toBe(304)
  })

  it('chains the steps of a task, and verifies the chain', async () => {
    const first = await log({ task_id: 'whole', step: 1, step_type: 'START_NODE', timestamp: at(1) })
    const second = await log({
      task_id: 'whole',
      step: 2,
      step_type: 'LLM_CALL',
      timestamp: at(2),
      prev_hash: first.body.hash,
    })
    const third = await log({ task_id: 'whole', step_number: 3, step_type: 'END_NODE', timestamp: at(3) })
    expect([first.status, second.status, third.status]).toEqual([201, 201, 201])
    expect([first.body.prev_hash, second.body.prev_hash, third.body.prev_hash]).toEqual([
      '',
      first.body.hash,
      second.body.hash,
    ])
    expect(await verify('whole')).toMatchObject({
      valid: true,
      entries: 3,
      anchoring: 'none',
      payloads: { present: 3, erased: 0 },
    })
    const { body } = await platform.call<TaskList>('GET', '/api/v1/logs/tasks?q=whole')
    expect(body).toMatchObject({
      total: 1,
      tasks: [{ status: 'completed', step_count: 3, agent_name: 'booker', unfinished: false }],
    })
  })

  it('reports a step number that was used again after an end as order, not as tampering', async () => {
    for (const minute of [1, 2, 3, 4]) {
      const [step, step_type] = minute % 2 === 1 ? [1, 'task.start'] : [2, 'task.end']
      await log({ task_id: 'daily', step, step_type, timestamp: at(minute) })
    }
    const verdict = await verify('daily')
    expect(verdict).toMatchObject({ valid: false, integrity: { ok: true }, sequence: { ok: false } })
    expect(verdict.sequence.summary).toBe(
      'steps out of sequence (2 duplicate step numbers) and steps after an end (the task id was used again); this is not tampering',
    )
  })

  it('reports late steps as warnings, not as tampering', async () => {
    for (const step of [1, 3, 2])
      await log({ task_id: 'late', step, step_type: step === 1 ? 'START_NODE' : 'LLM_CALL', timestamp: at(step) })
    const verdict = await verify('late')
    expect(verdict).toMatchObject({ valid: false, integrity: { ok: true }, sequence: { ok: false } })
    expect(verdict.sequence.issues.map((issue) => issue.code)).toEqual(['out_of_order'])
    expect(verdict.sequence.warnings.map((warning) => warning.code)).toEqual(['timestamp_regression', 'no_end'])
  })

  it('answers a replay with the first entry, and logs a step that differs', async () => {
    const body = { task_id: 'retry', step: 1, step_type: 'START_NODE', timestamp: at(1), input: { b: 1, a: [2] } }
    const first = await log(body)
    const again = await log({ ...body, input: { a: [2], b: 1 } })
    expect(again.status).toBe(200)
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect(again.body).toEqual(first.body)
    const alias = await log({ ...body, step_type: 'task.start' })
    expect(alias.body).toEqual(first.body)
    const other = await log({ ...body, input: { a: [3], b: 1 } })
    expect([other.status, other.body.seq]).toEqual([201, 2])
    expect((await verify('retry')).sequence.issues.map((issue) => issue.code)).toEqual(['duplicate_step'])
  })

  it('accepts an idempotency key for one body only', async () => {
    const body = { task_id: 'keyed', step: 1, step_type: 'START_NODE', timestamp: at(1) }
    const first = await log(body, { 'idempotency-key': 'k-1' })
    const again = await log(body, { 'idempotency-key': 'k-1' })
    expect([again.status, again.headers.get('idempotent-replayed'), again.body]).toEqual([200, 'true', first.body])
    const other = await log({ ...body, step: 2 }, { 'idempotency-key': 'k-1' })
    expect([other.status, (other.body as unknown as { code: string }).code]).toEqual([409, 'IDEMPOTENCY_KEY_REUSED'])
  })

  it('reports a violation on the entry and as one incident per policy, agent and task', async () => {
    const exec = (step: number) => ({
      task_id: 'exec',
      step,
      step_type: 'step.exec',
      timestamp: at(step),
      properties: { exec: { command: 'make' } },
    })
    await log({ task_id: 'exec', step: 1, step_type: 'START_NODE', timestamp: at(1) })
    const entry = await log(exec(2))
    expect(entry.body.violations).toMatchObject([
      {
        name: 'Code runs only after a gate',
        severity: 'critical',
        message: askMessage,
        violation_details: { code: 'GATE_MISSING' },
      },
    ])
    expect((await log(exec(2))).body.violations).toEqual(entry.body.violations)
    await log(exec(3))
    const { body } = await platform.call<IncidentList>('GET', '/api/v1/incidents?task_id=exec')
    expect(body).toMatchObject({
      total: 1,
      incidents: [{ state: 'open', occurrences: 2, step: 2, log_id: entry.body.log_id }],
    })
    const detail = await platform.call<LogDetail>('GET', `/api/v1/logs/${entry.body.log_id}`)
    expect(detail.body.violations).toEqual(entry.body.violations)
    expect(detail.body.properties).toEqual({ exec: { command: 'make' } })
    expect(JSON.stringify(detail.body.record)).not.toContain('make')
  })

  it('evaluates the whole task at its end', async () => {
    await log({ task_id: 'headless', step: 1, step_type: 'LLM_CALL', timestamp: at(1) })
    const end = await log({ task_id: 'headless', step: 2, step_type: 'END_NODE', timestamp: at(2) })
    expect(end.body.violations).toMatchObject([{ name: 'Records begin with a start', message: noticeMessage }])
  })

  it('logs batches in order, with a result per entry', async () => {
    const entry = (step: number) => ({
      task_id: 'batch',
      step,
      step_type: step === 1 ? 'START_NODE' : 'LLM_CALL',
      timestamp: at(step),
    })
    const entries = [
      entry(1),
      entry(2),
      entry(2),
      { ...entry(3), step: undefined, stepp: 3 },
      { ...entry(3), agent_key: 'unknown' },
      entry(3),
    ]
    const { body } = await platform.call<BatchAnswer>('POST', '/api/v1/logs/batch', { as: 'key', body: { entries } })
    expect(body.results.map((result) => result.status)).toEqual([201, 201, 200, 422, 409, 201])
    expect(body.results[3]?.problem?.errors[0]).toMatchObject({ path: 'step', message: '`step` is missing' })
    const lines = [entry(4), entry(5)].map((line) => JSON.stringify(line)).join('\n')
    const nd = await platform.call<BatchAnswer>('POST', '/api/v1/logs/batch', {
      as: 'key',
      raw: lines,
      headers: { 'content-type': 'application/x-ndjson' },
    })
    expect(nd.body.results.map((result) => result.entry?.seq)).toEqual([4, 5])
    expect(await verify('batch')).toMatchObject({ valid: true, entries: 5 })
  })

  it('has one order of entries under concurrent writers', async () => {
    await log({ task_id: 'busy', step: 1, step_type: 'START_NODE', timestamp: at(1) })
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        log({ task_id: 'busy', step: index + 2, step_type: 'LLM_CALL', timestamp: at(1) }),
      ),
    )
    expect(new Set(answers.map((answer) => answer.body.seq)).size).toBe(60)
    expect(new Set(answers.map((answer) => answer.body.log_index)).size).toBe(60)
    expect((await verify('busy')).integrity).toEqual({ ok: true, first_bad: null })
  })

  it('evaluates a step with the stored history, and changes nothing', async () => {
    await log({ task_id: 'hosted', step: 1, step_type: 'START_NODE', timestamp: at(1) })
    const ask = () =>
      platform.call('POST', '/api/v1/engine/evaluate', {
        as: 'key',
        body: { intended: { step_type: 'step.exec' }, context: { agent_id: 'booker', task_id: 'hosted' } },
      })
    expect((await ask()).body).toMatchObject({ action: 'block', blocked: true, risk_score: 1 })
    await log({ task_id: 'hosted', step: 2, step_type: 'step.gate', timestamp: at(2) })
    expect((await ask()).body).toMatchObject({ action: 'allow', blocked: false })
    expect(await verify('hosted')).toMatchObject({ entries: 2 })
  })

  it('evaluates a step after the end of a task as the first of a new one', async () => {
    const ask = async (step_type: string) => {
      const context = { agent_id: 'booker', task_id: 'ended' }
      const { body } = await platform.call<{ blocked: boolean }>('POST', '/api/v1/engine/evaluate', {
        as: 'key',
        body: { intended: { step_type }, context },
      })
      return body.blocked
    }
    await log({ task_id: 'ended', step: 1, step_type: 'step.gate', timestamp: at(1) })
    expect(await ask('step.exec')).toBe(false)
    await log({ task_id: 'ended', step: 2, step_type: 'END_NODE', timestamp: at(2) })
    expect(await ask('step.exec')).toBe(true)
    await log({ task_id: 'ended', step: 3, step_type: 'step.gate', timestamp: at(3) })
    expect(await ask('step.exec')).toBe(false)
  })

  const nothing = { verb: null, step_name: null, input: null, output: null, properties: null, meta: null }

  it('treats null in an optional member as absent, and a time without a zone as UTC', async () => {
    const entry = { task_id: 'nulls', agent_key: 'booker', agent_id: null, prev_hash: null, is_external_call: null }
    const first = await log({
      ...entry,
      ...nothing,
      step: 1,
      step_type: 'START_NODE',
      timestamp: '2026-01-05T09:00:00',
    })
    expect(first.status).toBe(201)
    const sent = { ...entry, ...nothing, step: null, step_number: 2, step_type: 'step.self', input: { a: null } }
    const batch = { entries: [{ ...sent, timestamp: '2026-01-05T09:00:00.250000' }] }
    const answer = await platform.call<{ results: { status: number }[] }>('POST', '/api/v1/logs/batch', {
      as: 'key',
      body: batch,
    })
    expect(answer.body.results.map(({ status }) => status)).toEqual([201])
    const { body } = await platform.call<LogList>('GET', '/api/v1/logs?task_id=nulls')
    expect(body.logs.map(({ timestamp }) => timestamp)).toEqual(['2026-01-05T09:00:00', '2026-01-05T09:00:00.250000'])
    expect(await verify('nulls')).toMatchObject({ entries: 2 })
    const asked = await platform.call('POST', '/api/v1/engine/evaluate', {
      as: 'key',
      body: {
        intended: { step_type: 'step.exec', agent_id: null, task_id: null, timestamp: null, step: null, ...nothing },
        context: { agent_id: 'booker', task_id: 'nulls', environment: null, declared_tools: null },
      },
    })
    expect(asked.status).toBe(200)
    const verbOnExec = { intended: { step_type: 'step.exec', verb: 'POST' }, context: { agent_id: 'booker' } }
    const { status } = await platform.call('POST', '/api/v1/engine/evaluate', { as: 'key', body: verbOnExec })
    expect(status).toBe(200)
    const agent = { agent_key: 'null-agent', name: null, purpose: null, environment: null, declared_tools: null }
    const registered = await platform.call('POST', '/api/v1/agents', { as: 'key', body: agent })
    expect(registered.status).toBe(201)
  })

  it('pages through the log without repeating or skipping entries', async () => {
    const seen: number[] = []
    let cursor: string | null = null
    do {
      const { body }: { body: LogList } = await platform.call<LogList>(
        'GET',
        `/api/v1/logs?limit=7${cursor === null ? '' : `&cursor=${cursor}`}`,
      )
      seen.push(...body.logs.map((entry) => entry.log_index))
      cursor = body.next_cursor
    } while (cursor !== null)
    expect(seen).toEqual([...seen].sort((a, b) => b - a))
    expect(new Set(seen).size).toBe(seen.length)
    const { body: whole } = await platform.call<LogList>('GET', '/api/v1/logs?limit=200')
    expect(seen.slice(0, 200)).toEqual(whole.logs.map((entry) => entry.log_index))
  })

  it('continues chains and incidents after a restart', async () => {
    platform = await platform.restart()
    const next = await log({ task_id: 'whole', step: 4, step_type: 'LLM_CALL', timestamp: at(4) })
    expect(next.body.seq).toBe(4)
    const verdict = await verify('whole')
    expect(verdict).toMatchObject({ valid: true, sequence: { ok: true, issues: [] } })
    expect(verdict.sequence.summary).toBe('steps after an end (the task id was used again); this is not tampering')
    expect(verdict.sequence.warnings.map(({ code, seq }) => `${code} ${seq}`)).toEqual(['after_end 4', 'no_end 4'])
    const exec = await log({ task_id: 'hosted', step: 3, step_type: 'step.exec', timestamp: at(3) })
    expect(exec.body.violations).toEqual([])
  })
})
