// The doors for senders without step numbers: what they take survives to both verifiers, and no other key reaches it.
import type { JsonMap } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { downloadBundle, openAuditorFolder, verifyWithBoth } from '../../support/log/bundle.js'
import { fast } from '../../support/log/log.js'
import { signedLog } from '../../support/log/rejudge.js'
import { type LoggedIn, openLoggedIn } from '../../support/people/logged-in.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'
import { untilDone } from '../../support/server/soon.js'
import { otlpRequest, otlpSpan } from '../../support/spans/otlp.js'
import { detailsOf } from '../../support/spans/span-steps.js'

const numbers = '{"a": 1e-7, "b": -0, "c": 1.5e300, "d": 1e21, "e": 5e-324, "f": 9007199254740991, "g": 1.0}'
const long = { key: 'long', value: { intValue: '9223372036854775807' } }
const odd = ['NaN', 'Infinity', -0, 1e21, 1e-7].map((doubleValue, index) => ({
  key: `n${index}`,
  value: { doubleValue },
}))
const tool = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'read_order' }

/** A span of a call of a tool in the conversation. */
function span(trace: string, conversation: string | null): JsonMap {
  const named = conversation === null ? tool : { ...tool, 'gen_ai.conversation.id': conversation }
  const given = otlpSpan(['q', null, 'x', 1, 2, { ...named, 'gen_ai.tool.call.arguments': numbers }], trace)
  return { ...given, attributes: [...(given.attributes as JsonMap[]), long, ...odd] }
}

/** Bodies for the task, by path. */
function doors(task_id: string, trace: string): readonly (readonly [path: string, body: JsonMap])[] {
  const step = { task_id, step_type: 'step.exec', step_name: task_id }
  return [
    ['/api/v1/copilot/log', { bot_id: 'desk', conversation_id: task_id, text: 'x', input: numbers, meta: numbers }],
    ['/api/v1/copilot/log', { conversation_id: task_id, step_type: 'end', bot_id: 'desk' }],
    ['/api/v1/traces', { agent_key: 'desk', steps: [{ ...step, input: { text: numbers } }] }],
    ['/v1/traces', otlpRequest([span(trace, task_id)], { 'service.name': 'desk' })],
  ]
}

describe('steps of every door', () => {
  let platform: TestPlatform
  beforeAll(async () => {
    platform = await startPlatform({ env: fast })
  })
  afterAll(() => discard(platform))

  it('are valid for both verifiers, with numbers of every spelling', async () => {
    for (const [path, body] of doors('spelled', 'p')) {
      const { status } = await platform.call('POST', path, { as: 'key', body })
      expect([path, status]).toEqual([path, path.endsWith('log') ? 201 : 200])
    }
    expect(
      await platform.call('POST', '/v1/traces', { as: 'key', body: otlpRequest([span('o', null)]) }),
    ).toMatchObject({ body: {} })
    expect((await detailsOf(platform, 'spelled')).length).toBe(5)
    const trust = await signedLog(platform)
    const auditor = openAuditorFolder()
    try {
      const path = auditor.put('bundle.zip', await untilDone(() => downloadBundle(platform, '')))
      expect((await verifyWithBoth(path, trust, auditor)).findings).toEqual([])
    } finally {
      auditor.clear()
    }
  })
})

describe('a key of another organization', () => {
  let site: LoggedIn
  beforeAll(async () => {
    site = await openLoggedIn()
  })
  afterAll(() => site.close())

  it('neither reaches, ends nor blocks a task by its id', async () => {
    const { platform, key } = site
    const [[path, first] = ['', {}]] = doors('theirs', 'p')
    await platform.call('POST', '/api/v1/copilot/log', { as: key, body: { ...first, text: 'claimed in advance' } })
    expect((await platform.call('POST', path, { as: 'key', body: first })).status).toBe(201)
    for (const [each, body] of doors('theirs', 'p')) await platform.call('POST', each, { as: key, body })
    expect((await detailsOf(platform, 'theirs')).map(({ step_type }) => step_type)).toEqual([
      'task.start',
      'step.message',
    ])
    // The same span again is new to this organization.
    const [, body] = doors('theirs', 'p').at(-1) ?? ['', {}]
    expect(await platform.call('POST', '/v1/traces', { as: 'key', body })).toMatchObject({ status: 200, body: {} })
    expect((await detailsOf(platform, 'theirs')).length).toBe(3)
  })
})
