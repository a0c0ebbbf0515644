// Two platforms on one server: spans of one task reach both, also at once and twice.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { discard, startPlatform, type TestPlatform } from '../../../support/server/platform.js'
import { sharedPostgres } from '../../../support/server/postgres.js'
import { otlpRequest, otlpSpan, type ShortSpan } from '../../../support/spans/otlp.js'
import { isValid, stepsOf } from '../../../support/spans/span-steps.js'

const postgres = await sharedPostgres()

describe.skipIf(postgres === null)('spans of one task that reach two platforms', () => {
  if (postgres === null) return
  const url = postgres.freshDatabase()
  let one: TestPlatform
  let other: TestPlatform
  beforeAll(async () => {
    const env = { SVC_CHECKPOINT_SECONDS: '0', SVC_OPERATOR_TOKEN: 'operator-token-of-both-processes-1' }
    one = await startPlatform({ database_url: url, env })
    other = await startPlatform({ database_url: url, env })
  })
  afterAll(async () => {
    for (const platform of [one, other]) await discard(platform)
  })

  const chat = (text: string) => ({
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': 'm',
    'gen_ai.input.messages': [{ role: 'user', content: 'Hello' }],
    'gen_ai.output.messages': [{ role: 'assistant', content: text }],
  })
  const spans: readonly ShortSpan[] = [
    ['c1', 'r', 'chat m', 1, 2, chat('Hm.')],
    ['c2', 'r', 'chat m', 3, 4, chat('Well.')],
    ['c3', 'r', 'chat m', 5, 6, { ...chat('Done.'), 'gen_ai.agent.id': 'another' }],
    ['r', null, 'invoke_agent desk', 0, 7, { 'gen_ai.operation.name': 'invoke_agent' }],
  ]

  it('become steps once', async () => {
    const { api_key } = one
    const traceId = String(otlpSpan(['x', null, '', 0, 0]).traceId)
    const sent = [...spans, ...spans].flatMap((span) => {
      const body = otlpRequest([otlpSpan(span)])
      return [one, other].map((platform) => platform.call('POST', '/v1/traces', { as: api_key, body }))
    })
    const answers = await Promise.all(sent)
    expect(answers.map(({ status, body }) => [status, body])).toEqual(sent.map(() => [200, {}]))
    const steps = await stepsOf(other, traceId)
    expect(steps.toSorted()).toEqual(
      [
        'task.start',
        'step.message GET user: Hello',
        'step.model POST m',
        'step.message POST user: Hm.',
        'step.model POST m',
        'step.message POST user: Well.',
        'step.model POST m',
        'step.message POST user: Done.',
        'task.end',
      ].toSorted(),
    )
    expect([steps.at(-1), await isValid(one, traceId)]).toEqual(['task.end', true])
  })
})
