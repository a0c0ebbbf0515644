// POST /api/v1/copilot/log: calls of low-code tools as data, with the steps and agents that they become.

import { readFileSync } from 'node:fs'
import type { Agent, AgentList, CopilotStep, TaskChain, TaskList, Verification } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'
import { sharedPostgres } from '../../support/server/postgres.js'

interface CopilotCase {
  readonly name: string
  readonly calls: readonly Readonly<Record<string, unknown>>[]
  readonly agent?: string
  readonly agent_name?: string
  readonly agent_risk?: string
  readonly status?: string
  readonly statuses?: readonly number[]
  readonly steps: readonly Readonly<Record<string, unknown>>[]
}

const cases = parse(readFileSync(new URL('../../cases/copilot.yaml', import.meta.url), 'utf8')) as CopilotCase[]
const postgres = await sharedPostgres()
const path = '/api/v1/copilot/log'

describe.each([
  { kind: 'pglite', url: () => null },
  ...(postgres === null ? [] : [{ kind: 'postgresql', url: () => postgres.freshDatabase() }]),
])('POST /api/v1/copilot/log on $kind', ({ url }) => {
  let platform: TestPlatform
  beforeAll(async () => {
    platform = await startPlatform({ database_url: url() })
  })
  afterAll(() => discard(platform))

  const send = (body: unknown, headers = {}) => platform.call<CopilotStep>('POST', path, { as: 'key', body, headers })

  it.each(cases.map((each, index) => ({ ...each, id: `c ${index}` })))('logs $name', async (each) => {
    const inConversation = (call: object) =>
      JSON.parse(
        JSON.stringify(call)
          .replaceAll('"conversation"}', `"${each.id}"}`)
          .replaceAll('"conversation",', `"${each.id}",`),
      )
    const answers: { status: number; body: CopilotStep }[] = []
    for (const call of each.calls) answers.push(await send(inConversation(call)))
    expect(answers.map(({ status }) => status)).toEqual(each.statuses ?? each.calls.map(() => 201))

    const { body: chain } = await platform.call<TaskChain>('GET', `/api/v1/tasks/${each.id}/chain`, { as: 'key' })
    const [start, ...steps] = chain.entries
    expect(start).toMatchObject({ step: 1, step_type: expect.stringMatching(/^(task\.start|START_NODE)$/) })
    expect(steps).toHaveLength(each.steps.length)
    for (const [index, { verb, ...expected }] of each.steps.entries()) {
      expect(steps[index]).toMatchObject(expected)
      if (verb !== undefined) expect(steps[index]?.verb ?? null).toBe(verb)
    }
    const { body: verified } = await platform.call<Verification>('GET', `/api/v1/tasks/${each.id}/verify`, {
      as: 'key',
    })
    expect(verified).toMatchObject({ valid: true })
    const [first] = answers
    const { body: agent } = await platform.call<Agent>('GET', `/api/v1/agents/${first?.body.agent_id}`)
    if (each.agent !== undefined) expect(agent.agent_key).toBe(each.agent)
    if (each.agent_name !== undefined) expect(agent.name).toBe(each.agent_name)
    if (each.agent_risk !== undefined) expect(agent.risk_classification).toBe(each.agent_risk)
    const { body: tasks } = await platform.call<TaskList>('GET', `/api/v1/logs/tasks?q=${encodeURIComponent(each.id)}`)
    expect(tasks.tasks[0]).toMatchObject({ status: each.status ?? 'running' })
  })

  it('registers one agent for concurrent first calls, and starts their conversation once', async () => {
    const calls = Array.from({ length: 8 }, (_, n) => ({ bot_id: 'at-once', conversation_id: 'at-once', text: `${n}` }))
    const answers = await Promise.all(calls.map((body) => send(body)))
    expect(answers.map(({ status }) => status)).toEqual(calls.map(() => 201))
    expect(answers.map(({ body }) => body.step).sort((a, b) => a - b)).toEqual([2, 3, 4, 5, 6, 7, 8, 9])
    const { body } = await platform.call<AgentList>('GET', '/api/v1/agents?q=at-once')
    expect(body.agents).toHaveLength(1)
    const { body: verified } = await platform.call<Verification>('GET', '/api/v1/tasks/at-once/verify', { as: 'key' })
    expect(verified.valid).toBe(true)
  })

  it('repeats the answer of a request with the same Idempotency-Key', async () => {
    const body = { bot_id: 'desk', conversation_id: 'repeated', text: 'Hi' }
    const first = await send(body, { 'idempotency-key': 'copilot-1' })
    const second = await send(body, { 'idempotency-key': 'copilot-1' })
    expect(second.status).toBe(200)
    expect(second.body).toEqual(first.body)
  })

  it.each([
    ['no conversation', { bot_id: 'desk', text: 'Hi' }, 'conversation_id'],
    ['a conversation that is a list', { bot_id: 'desk', conversation_id: ['c', 'd'], text: 'Hi' }, 'conversation_id'],
    ['a bot without an id', { bot_id: { title: 'Desk' }, conversation_id: 'c', text: 'Hi' }, 'bot_id'],
    ['an empty bot', { bot_id: '', conversation_id: 'c', text: 'Hi' }, 'bot_id'],
    ['a text that is a list', { bot_id: 'desk', conversation_id: 'c', text: ['Hi', 'Ho'] }, 'text'],
    ['nothing to log', { bot_id: 'desk', conversation_id: 'c' }, 'text'],
    ['a step number in words', { bot_id: 'desk', conversation_id: 'c', text: 'x', step: 'three' }, 'step'],
    ['a step type with other characters', { bot_id: 'desk', conversation_id: 'c', step_type: 'ä ö' }, 'step_type'],
    [
      'a risk level that does not exist',
      { bot_id: 'new-desk', conversation_id: 'c', text: 'x', risk_classification: 'low' },
      'risk_classification',
    ],
    ['a list', [{ bot_id: 'desk', conversation_id: 'c', text: 'x' }], ''],
  ])('rejects %s, and names the member', async (_name, body, member) => {
    const answer = await platform.call<{ code: string; errors: { path: string }[] }>('POST', path, { as: 'key', body })
    expect(answer.status).toBe(422)
    expect(answer.body.errors.map((error) => error.path)).toContain(member)
  })

  it('asks about a member that is a misspelt one, and keeps it as a property', async () => {
    const missing = await send({ bot_id: 'desk', conversaton_id: 'c', text: 'Hi' })
    const message = expect.stringContaining('found `conversaton_id`; did you mean `conversation_id`?')
    expect(missing).toMatchObject({ status: 422, body: { errors: [{ path: 'conversation_id', message }] } })
    const call = { bot_id: 'desk', conversation_id: 'slips', tool: 'get_x', total: 1 }
    const kept = await send({ ...call, inptu: { a: 1 } })
    expect(kept).toMatchObject({ status: 201, body: { warnings: ['found `inptu`; did you mean `input`?'] } })
    expect((await send(call)).body.warnings).toBeUndefined()
  })

  it('keeps the id of a conversation that cannot be the id of a task', async () => {
    const { body } = await send({ bot_id: 'desk', conversation_id: 'Gespräch 7', text: 'Hi' })
    const { body: chain } = await platform.call<TaskChain>('GET', `/api/v1/tasks/${body.task_id}/chain`, { as: 'key' })
    expect(chain.entries.at(-1)).toMatchObject({ meta: { conversation_id: 'Gespräch 7' } })
  })

  it.each([
    '{"a": 1e400}',
    '{"a": 1, "a": 2}',
    '{"a": "\\ud800"}',
    `{"a": ${'['.repeat(9000)}${']'.repeat(9000)}}`,
    '{"a"',
  ])('rejects properties as text that readers could understand differently: %.20s', async (properties) => {
    const body = { bot_id: 'desk', conversation_id: 'c', text: 'x', properties }
    const errors = [expect.objectContaining({ path: 'properties' })]
    expect(await send(body)).toMatchObject({ status: 422, body: { errors } })
  })

  it('recognises no step whose payload is erased, of which it keeps no hash', async () => {
    const body = { bot_id: 'desk', conversation_id: 'erased', text: 'my number is 7', message_id: 'm-1' }
    expect((await send(body)).status).toBe(201)
    expect((await send(body)).status).toBe(200)
    const erasure = { task_id: 'erased', legal_basis: 'request of the user' }
    expect((await platform.call('POST', '/api/v1/erasures', { body: erasure })).status).toBeLessThan(300)
    expect(await send(body)).toMatchObject({ status: 201, body: { step: 3 } })
  })

  it('gives no step a number that readers of the log reject', async () => {
    const body = { bot_id: 'desk', conversation_id: 'largest', text: 'x' }
    await send({ bot_id: 'desk', conversation_id: 'another', text: 'x' })
    const largest = {
      agent_key: 'desk',
      task_id: 'largest',
      step: Number.MAX_SAFE_INTEGER,
      timestamp: '2026-01-05T09:00:00Z',
    }
    const logged = { ...largest, step_type: 'task.start' }
    expect(await platform.call('POST', '/api/v1/logs', { as: 'key', body: logged })).toMatchObject({ status: 201 })
    expect(await send(body)).toMatchObject({ status: 422, body: { code: 'INVALID' } })
  })

  it('asks for the agent where the key has several', async () => {
    const answer = await platform.call<{ code: string; detail: string }>('POST', path, {
      as: 'key',
      body: { conversation_id: 'unnamed', text: 'Hi' },
    })
    expect(answer.body).toMatchObject({ code: 'INVALID' })
    expect(answer.body.detail).toContain('bot_id')
  })
})
