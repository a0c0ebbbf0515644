// Nearly valid items of POST /api/v1/traces: each has a result, no answer is 5xx, and a request sent again adds nothing.
import { documents, type SchemaName, type TraceAnswer } from '@svc/schemas'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { nearly, type Schema, validFor } from '../../support/http/from-schema.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'

let platform: TestPlatform
beforeAll(async () => {
  platform = await startPlatform()
  await platform.call('POST', '/api/v1/agents', { as: 'key', body: { agent_key: 'a' } })
})
afterAll(() => discard(platform))

const resolve = (ref: string) => documents[ref.replace('.json', '') as SchemaName] as Schema
const itemsOf = (name: SchemaName) => {
  const valid = validFor(resolve(name), resolve)
  return fc.array(fc.oneof(valid, nearly(valid)), { maxLength: 4 })
}
const lists = fc.record({
  steps: itemsOf('trace-step'),
  incidents: itemsOf('incident-report'),
  unrecorded: itemsOf('unrecorded-step'),
  gaps: itemsOf('trace-gap'),
})

describe('a request with nearly valid items', () => {
  it('has a result for each, and adds nothing when it is sent again', async () => {
    let taken = 0
    await fc.assert(
      fc.asyncProperty(lists, async (given) => {
        const raw = JSON.stringify({ agent_key: 'a', ...given })
        const send = () => platform.call<TraceAnswer>('POST', '/api/v1/traces', { as: 'key', raw })
        const { status, body } = await send()
        expect(status).toBeLessThan(500)
        if (status !== 200) return
        const statusesOf = ({ results, incidents, unrecorded, gaps }: TraceAnswer) =>
          [results, incidents, unrecorded, gaps].map((list) => list.map((one) => one.status))
        const first = statusesOf(body)
        expect(first.map((list) => list.length)).toEqual(Object.values(given).map((list) => list.length))
        expect(first.flat().filter((one) => ![200, 201, 404, 422].includes(one))).toEqual([])
        const second = statusesOf((await send()).body)
        const again = (list: number) => first[list]?.map((one) => (one === 201 ? 200 : one))
        expect([second[2], second[3]]).toEqual([again(2), again(3)])
        const repeatable = given.steps.map((step) => Object(step).step != null || Object(step).timestamp != null)
        expect(second[0]?.filter((one, index) => repeatable[index] && one === 201)).toEqual([])
        taken += first.flat().filter((one) => one === 201).length
      }),
      { numRuns: 300 },
    )
    expect(taken).toBeGreaterThan(100)
  })
})
