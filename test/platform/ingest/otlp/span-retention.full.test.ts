// What the platform keeps of spans beside the log ends with the retention of the log, and with the erasure of their task.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fast } from '../../../support/log/log.js'
import { withoutJobs } from '../../../support/server/database.js'
import { discard, startPlatform, type TestPlatform } from '../../../support/server/platform.js'
import { sharedPostgres } from '../../../support/server/postgres.js'
import { otlpRequest, otlpSpan } from '../../../support/spans/otlp.js'

const postgres = await sharedPostgres()
const day = 86_400_000

describe.skipIf(postgres === null)('counts of spans', () => {
  if (postgres === null) return
  const url = postgres.freshDatabase()
  const sql = (text: string) => postgres.psql(url, text)
  let now = Date.parse('2026-01-10T09:00:00Z')
  let platform: TestPlatform
  beforeAll(async () => {
    withoutJobs(sql)
    platform = await startPlatform({ database_url: url, env: fast, clock: () => now++ })
  })
  afterAll(() => discard(platform))

  const tool = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'get_order' }
  const send = (trace: string, name: string, attributes = {}) =>
    platform.call('POST', '/v1/traces', {
      as: 'key',
      body: otlpRequest([
        otlpSpan([`t${trace}`, 'r', 'execute_tool', 1, 2, { ...tool, ...attributes }], trace),
        otlpSpan([`u${trace}`, 'r', name, 1, 2], trace),
      ]),
    })
  const names = () => sql("select coalesce(string_agg(name, ',' order by name), '') from unmapped_spans")
  const erase = (task_id: string) =>
    platform.call('POST', '/api/v1/erasures', { body: { task_id, legal_basis: 'request of the data subject' } })

  it('are deleted with the content of their task', async () => {
    await send('x', 'letter to Mia')
    await send('y', 'letter to Ben', { 'gen_ai.conversation.id': 'talk' })
    await send('z', 'letter to Eve')
    expect(names()).toBe('letter to Ben,letter to Eve,letter to Mia')
    const { traceId } = otlpSpan(['x', null, '', 0, 0], 'x')
    const erased = [await erase(String(traceId)), await erase('talk')]
    expect(erased.map(({ status }) => status)).toEqual([201, 201])
    expect(names()).toBe('letter to Eve')
  })

  it('are deleted when they were last seen before the log is kept, unless all of it is held', async () => {
    now += 400 * day
    await send('v', 'recent')
    const { body } = await platform.call<{ id: string }>('POST', '/api/v1/holds', { body: { reason: 'case 7' } })
    await platform.call('POST', '/api/v1/retention/prune')
    expect(names()).toBe('letter to Eve,recent')
    await platform.call('POST', `/api/v1/holds/${body.id}/release`)
    await platform.call('POST', '/api/v1/retention/prune')
    expect(names()).toBe('recent')
    expect(sql('select count(*) from trace_tasks')).toBe('1')
  })
})
