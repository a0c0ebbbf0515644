// `svc import --to` a real platform: a trace of a local engine and spans are accepted whole, with intact chains.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JsonMap, LogList, Verification } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runSvc } from '../support/cli/svc.js'
import { startServe } from '../support/engine/serve.js'
import { discard, startPlatform, type TestPlatform } from '../support/server/platform.js'
import { otlpRequest, otlpSpan } from '../support/spans/otlp.js'

const folder = mkdtempSync(join(tmpdir(), 'svc-import-test-'))
let platform: TestPlatform
beforeAll(async () => {
  platform = await startPlatform()
})
afterAll(async () => {
  await discard(platform)
  rmSync(folder, { recursive: true })
})

async function importTo(format: string, path: string): Promise<JsonMap> {
  const args = ['import', format, path, '--to', platform.url, '--json']
  const { code, stdout, stderr } = await runSvc(args, { SVC_API_KEY: platform.api_key })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return JSON.parse(stdout) as JsonMap
}

async function verified(task_id: string): Promise<number> {
  const id = encodeURIComponent(task_id)
  const { body } = await platform.call<Verification>('GET', `/api/v1/tasks/${id}/verify`)
  expect([body.integrity, body.sequence.issues]).toEqual([{ ok: true, first_bad: null }, []])
  const { body: logs } = await platform.call<LogList>('GET', `/api/v1/logs?task_id=${id}&limit=100`)
  return logs.logs.length
}

describe('a platform', () => {
  it('accepts a trace whole and evaluates it; a second import adds nothing', async () => {
    const serve = await startServe(['--baseline'])
    const record = (task_id: string, step: JsonMap) =>
      serve.post('/record', { step: { agent_id: 'desk', task_id, ...step } })
    for (const task_id of ['t1', 't2', 't1']) {
      await record(task_id, {
        step_type: 'task.start',
        meta: { agent: { agent_key: 'desk', declared_tools: ['get_order'] } },
      })
      await record(task_id, { step_type: 'step.resource', verb: 'GET', step_name: 'get_order', output: { order: 7 } })
      await record(task_id, {
        step_type: 'step.resource',
        verb: 'POST',
        step_name: 'wire_money',
        output: { status: 'blocked' },
      })
    }
    const path = join(serve.folder, 'data', 'traces.jsonl')
    try {
      await serve.post('/end_task', { task_id: 't2' })
      const first = await importTo('trace', path)
      expect(first).toMatchObject({ runs: 2, steps: 15, created: 15, replayed: 0, failures: [] })
      expect(Object.keys(first.violations as JsonMap)).not.toEqual([])
      expect(await Promise.all(['t1', 't2'].map(verified))).toEqual([10, 5])
      expect(await importTo('trace', path)).toMatchObject({ steps: 15, created: 0, replayed: 15, failures: [] })
    } finally {
      await serve.discard()
    }
  })

  it('keeps the registration of an agent that it knows', async () => {
    const agent = { agent_key: 'known', name: 'The known agent', declared_tools: ['a', 'b'] }
    expect((await platform.call('POST', '/api/v1/agents', { as: 'key', body: agent })).status).toBeLessThan(300)
    const path = join(folder, 'known.jsonl')
    const at = '2026-01-05T09:00:00Z'
    const step = { task_id: 'of-known', agent_id: 'known', timestamp: at, step: 1, step_type: 'task.start' }
    writeFileSync(path, `${JSON.stringify(step)}\n`)
    expect(await importTo('trace', path)).toMatchObject({ created: 1, failures: [] })
    const { body } = await platform.call('GET', '/api/v1/agents?limit=100')
    expect(JSON.stringify(body)).toContain('"name":"The known agent"')
  })

  it('accepts spans whole; a second import adds nothing', async () => {
    const path = join(folder, 'spans.json')
    const tool = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.call.arguments': { id: 7 } }
    const spans = [
      otlpSpan([
        'a',
        null,
        'invoke_agent desk',
        0,
        9,
        { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'otel-desk' },
      ]),
      otlpSpan(['b', 'a', 'chat m', 1, 2, { 'gen_ai.operation.name': 'chat', 'gen_ai.usage.input_tokens': 5 }]),
      otlpSpan(['c', 'a', 'execute_tool get_order', 3, 4, tool], '1'),
    ]
    writeFileSync(path, JSON.stringify(otlpRequest(spans), null, 2))
    expect(await importTo('otel', path)).toMatchObject({ runs: 1, steps: 4, created: 4, failures: [] })
    expect(await verified(String(spans[0]?.traceId))).toBe(4)
    expect(await importTo('otel', path)).toMatchObject({ created: 0, replayed: 4, failures: [] })
  })
})
