// Spans arrive in many requests, in the order in which they end, and some of them twice: every act is one step.
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { discard, startPlatform, type TestPlatform } from '../../../support/server/platform.js'
import { otlpRequest, otlpSpan, type ShortSpan } from '../../../support/spans/otlp.js'
import { isValid, stepsOf } from '../../../support/spans/span-steps.js'

interface Arrival {
  readonly name: string
  readonly requests: readonly (readonly ShortSpan[])[]
  /** The trace `a` by default. */
  readonly task?: string
  readonly steps: readonly string[]
}

const text = readFileSync(new URL('../../../cases/otlp.yaml', import.meta.url), 'utf8')
const cases = parse(text, { merge: true, maxAliasCount: 1000 }) as Arrival[]

let platform: TestPlatform
beforeAll(async () => {
  platform = await startPlatform()
})
afterAll(() => discard(platform))

const requestOf = (spans: readonly ShortSpan[], prefix: string) =>
  otlpRequest(
    spans.map(([id, parent, name, start, end, attributes = {}, { trace = 'a', ...others } = {}]) =>
      otlpSpan([id, parent, name, start, end, attributes, others], `${prefix}${trace}`),
    ),
  )
const send = (body: unknown) => platform.call('POST', '/v1/traces', { as: 'key', body })
const traceOf = (prefix: string) => String(otlpSpan(['x', null, '', 0, 0], `${prefix}a`).traceId)

describe('spans that arrive', () => {
  it.each(cases.map((one, index) => ({ ...one, index })))('$name', async (arrival) => {
    const { index, requests, task, steps } = arrival
    for (const spans of requests)
      expect(await send(requestOf(spans, `${index}-`))).toMatchObject({ status: 200, body: {} })
    const task_id = task ?? traceOf(`${index}-`)
    expect(await stepsOf(platform, task_id)).toEqual(steps)
    expect(await isValid(platform, task_id)).toBe(true)
  })

  it.each(cases.filter(({ name }) => name === 'each request twice'))('at once: $name', async ({ requests, steps }) => {
    const answers = await Promise.all(requests.map((spans) => send(requestOf(spans, 'once-'))))
    expect(answers.map(({ status }) => status)).toEqual(requests.map(() => 200))
    const task_id = traceOf('once-')
    expect((await stepsOf(platform, task_id)).toSorted()).toEqual(steps.toSorted())
    expect(await isValid(platform, task_id)).toBe(true)
  })
})
