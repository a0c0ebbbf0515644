// A tool that ran is recorded whatever the shape of its answer, at every way into the log; an evaluation stays strict.
import type { BatchAnswer, JsonMap, LogDetail, LoggedStep, Problem, RecordedStep, TraceAnswer } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Serve, startServe } from '../../support/engine/serve.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'

const outputs = [
  { name: 'a list', output: ['a', 1, { b: null }], warned: 'a list' },
  { name: 'an empty list', output: [], warned: 'a list' },
  { name: 'text', output: 'done', warned: 'text' },
  { name: 'empty text', output: '', warned: 'text' },
  { name: 'a number', output: 0, warned: 'a number' },
  { name: 'a boolean', output: false, warned: 'a boolean' },
]
const warning = (kind: string) => [`\`output\` is ${kind}, not an object: it is kept as \`{"value": …}\``]

let platform: TestPlatform
let serve: Serve
beforeAll(async () => {
  platform = await startPlatform()
  await platform.call('POST', '/api/v1/agents', { as: 'key', body: { agent_key: 'desk' } })
  serve = await startServe(['--baseline'])
})
afterAll(async () => {
  await serve.discard()
  await discard(platform)
})

const step = (task_id: string, output: unknown): JsonMap => ({
  task_id,
  step: 1,
  step_type: 'step.resource',
  verb: 'GET',
  timestamp: '2026-01-05T09:00:00Z',
  output,
})

type Send = (body: JsonMap) => Promise<LoggedStep | undefined>
const post = <T>(path: string, body: object) => platform.call<T>('POST', path, { as: 'key', body })
const doors: Readonly<Record<string, Send>> = {
  logs: async (body) => (await post<LoggedStep>('/api/v1/logs', { agent_key: 'desk', ...body })).body,
  batch: async (body) => {
    const sent = { entries: [{ agent_key: 'desk', ...body }] }
    return (await post<BatchAnswer>('/api/v1/logs/batch', sent)).body.results[0]?.entry
  },
  traces: async (body) =>
    (await post<TraceAnswer>('/api/v1/traces', { agent_key: 'desk', steps: [body] })).body.results[0]?.entry,
}

describe.each(outputs)('an output that is $name', ({ name, output, warned }) => {
  it.each(Object.keys(doors))('is kept as a value, with a warning, through %s', async (door) => {
    const logged = await doors[door]?.(step(`${door} ${name}`, output))
    expect(logged?.warnings).toEqual(warning(warned))
    const { body } = await platform.call<LogDetail>('GET', `/api/v1/logs/${logged?.log_id}`)
    expect(body.output).toEqual({ value: output })
    // Sent again it is the same step.
    const again = await doors[door]?.(step(`${door} ${name}`, output))
    expect([again?.log_id, again?.warnings]).toEqual([logged?.log_id, warning(warned)])
  })

  it('is kept as a value by /record, and rejected by /evaluate', async () => {
    const { timestamp: _, ...sent } = step(name, output)
    const { status, body } = await serve.post<RecordedStep>('/record', { step: sent })
    expect([status, body]).toEqual([200, { step: 1, task_id: name, warnings: warning(warned) }])
    expect(serve.trace().find(({ task_id }) => task_id === name)?.output).toEqual({ value: output })
    const context = { agent_id: 'desk', task_id: `${name} evaluated`, environment: 'test' }
    const intended = { step_type: 'step.resource', verb: 'GET', output }
    const rejected = await serve.post<Problem>('/evaluate', { intended, context })
    expect([rejected.status, rejected.body.errors[0]?.path]).toEqual([422, 'intended.output'])
  })
})

it.each([{ output: { value: 1 } }, { output: {} }, {}, { output: null }])(
  '%j is kept as it is, without a warning',
  async (more) => {
    const task_id = JSON.stringify(more)
    const { output: _, ...bare } = step(task_id, null)
    const logged = await doors.logs?.({ ...bare, ...more })
    expect(logged).not.toHaveProperty('warnings')
    const { status, body } = await serve.post<RecordedStep>('/record', { step: { ...bare, ...more } })
    expect([status, body]).toEqual([200, { step: 1, task_id }])
  },
)

it.each([
  { answer: 'rejected', passes: false },
  { answer: false, passes: false },
  { answer: ['no'], passes: false },
  { answer: 'Approved', passes: true },
  { answer: true, passes: true },
])('a gate that answers $answer has passed: $passes', async ({ answer, passes }) => {
  const task_id = `gate ${JSON.stringify(answer)}`
  await serve.post('/record', { step: { task_id, step_type: 'step.gate', output: answer } })
  const context = { agent_id: 'a', task_id, environment: 'test', risk_classification: 'limited' }
  const intended = { step_type: 'step.exec', step_name: 'make' }
  const { body } = await serve.post<{ blocked: boolean }>('/evaluate', { intended, context })
  expect(body.blocked).toBe(!passes)
})
