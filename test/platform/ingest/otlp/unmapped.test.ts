// Spans that are not acts of an agent: counted by name, listed for members, and bounded.
import type { UnmappedSpanList } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { discard, startPlatform, type TestPlatform } from '../../../support/server/platform.js'
import { otlpRequest, otlpSpan } from '../../../support/spans/otlp.js'

let platform: TestPlatform
beforeAll(async () => {
  platform = await startPlatform()
})
afterAll(() => discard(platform))

let spans = 0
const spanOf = (name: string, others = {}) => otlpSpan([`u${spans++}`, 'r', name, 1, 2, {}, others])
const requestOf = (names: readonly string[], service = 'shop') => ({
  resourceSpans: otlpRequest(
    names.map((name) => spanOf(name, { kind: 3 })),
    { 'service.name': service },
  ).resourceSpans,
})
const send = (body: unknown) => platform.call('POST', '/v1/traces', { as: 'key', body })
const list = async (query = '') =>
  (await platform.call<UnmappedSpanList>('GET', `/api/v1/traces/unmapped?limit=200${query}`)).body

describe('unmapped spans', () => {
  it('are none at first', async () => expect(await list()).toEqual({ spans: [], total: 0, next_cursor: null }))

  it('are counted by service, library, kind, and name without ids and numbers', async () => {
    const names = [
      'GET /orders/17',
      'GET /orders/4711',
      'GET /orders/8f14e45f-ceea-467f-a0e6-1b2c3d4e5f60',
      'SELECT orders',
    ]
    const [group] = otlpRequest(names.map((name) => spanOf(name, { kind: 3 }))).resourceSpans as object[]
    const [{ scopeSpans }] = [group as { scopeSpans: object[] }]
    const scoped = scopeSpans.map((scope) => ({ ...scope, scope: { name: 'http-lib' } }))
    const first = spans - names.length
    expect(await send({ resourceSpans: [{ ...group, scopeSpans: scoped }] })).toMatchObject({ status: 200, body: {} })
    await send(requestOf(['GET /orders/18']))
    const { spans: rows, total } = await list()
    expect(total).toBe(3)
    expect(new Set(rows.map(({ service, scope, kind, name, count }) => [service, scope, kind, name, count]))).toEqual(
      new Set([
        ['shop', 'http-lib', 'client', 'GET /orders/*', 3],
        ['shop', 'http-lib', 'client', 'SELECT orders', 1],
        ['shop', null, 'client', 'GET /orders/*', 1],
      ]),
    )
    const example = rows.find(({ count }) => count === 3)
    expect(example).toMatchObject({ trace_id: otlpSpan([`u${first}`, null, '', 0, 0]).traceId })
  })

  it('have pages', async () => {
    const { body } = await platform.call<UnmappedSpanList>('GET', '/api/v1/traces/unmapped?limit=2')
    const next = await list(`&cursor=${body.next_cursor}`)
    expect([body.spans.length, next.spans.length, next.next_cursor]).toEqual([2, 1, null])
  })

  it('show an agent whose instrumentation is not understood, and register none', async () => {
    await send(requestOf(['my agent answers'], 'homemade'))
    expect((await list()).spans.find(({ service }) => service === 'homemade')?.name).toBe('my agent answers')
    expect((await platform.call('GET', '/api/v1/agents')).body).toMatchObject({ total: 0 })
  })

  it('beyond 1,000 names are one row', async () => {
    const letters = (index: number) => String(index).replaceAll(/\d/g, (digit) => 'ghijklmnop'[Number(digit)] ?? '')
    const names = Array.from({ length: 1_200 }, (_, index) => `call ${letters(index)}`)
    await Promise.all([send(requestOf(names)), send(requestOf(names))])
    const { total } = await list()
    expect(total).toBeLessThanOrEqual(1_000)
    const rows: UnmappedSpanList['spans'] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: UnmappedSpanList = await list(cursor === '' ? '' : `&cursor=${cursor}`)
      rows.push(...page.spans)
      cursor = page.next_cursor
    }
    const other = rows.find(({ name }) => name === 'other')
    expect(other).toMatchObject({ api_key_id: null, service: null, kind: null, trace_id: null })
    const counted = rows.reduce((sum, { count }) => sum + count, 0)
    expect(counted).toBe(5 + 1 + 2 * names.length)
  })
})
