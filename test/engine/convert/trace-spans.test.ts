// Steps as spans: what others read in them, that they are the same steps when they come back, and where they are sent.
import { readFileSync } from 'node:fs'
import { agentKeyOf, claimOf, createStepCheck, readOtlp, stepsOfSpans, strongerClaim } from '@svc/engine/parts'
import type { Behavior, JsonMap } from '@svc/schemas'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { attributesOf } from '../../../engine/convert/otel/any-value.js'
import { endpointAt, endpointProblem } from '../../../engine/trace/sinks/otlp-endpoint.js'
import type { TraceLine } from '../../../engine/trace/sinks/sink.js'
import { spanOf } from '../../../engine/trace/sinks/spans.js'
import { otlpRequest } from '../../support/spans/otlp.js'

interface SpanCase {
  readonly step: Behavior
  readonly span: JsonMap & { readonly name: string }
  readonly failed?: boolean
}

const cases = parse(readFileSync(new URL('../../cases/otlp-steps.yaml', import.meta.url), 'utf8')) as SpanCase[]
// All in one millisecond: their order is that of their numbers.
const recorded_at = '2026-01-05T09:00:00.250Z'
const lines: TraceLine[] = cases.map(({ step }, index) => ({
  kind: 'step',
  recorded_at,
  task_id: 'refund-1',
  ...step,
  step: index + 1,
  timestamp: recorded_at,
  meta: { note: 'kept', 'svc.eval': { evaluation_id: `e${index}`, action: 'allow', risk_score: 0, policies: [] } },
}))

function stepsBack(spans: readonly unknown[]): Behavior[] {
  const read = (readOtlp(JSON.parse(JSON.stringify(otlpRequest(spans)))) ?? []).flatMap((reading) =>
    reading.problem === null ? [reading.span] : [],
  )
  expect(read).toHaveLength(spans.length)
  const claim = read.map(claimOf).reduce(strongerClaim)
  const agent_key = agentKeyOf(claim) ?? ''
  return stepsOfSpans(read, { task_id: 'refund-1', agent_key, agent: claim.name, tools: {}, declared_tools: [] })
}

describe('a step as a span', () => {
  it.each(cases.map((each, index) => ({ ...each, line: lines[index] as TraceLine })))(
    '$span.name',
    ({ span: { name, ...expected }, failed = false, line }) => {
      const span = spanOf(line) as JsonMap
      const attributes = Object.fromEntries(attributesOf(span.attributes))
      expect([span.name, span.status]).toEqual([name, failed ? { code: 2 } : undefined])
      expect(attributes).toMatchObject({
        ...expected,
        'gen_ai.conversation.id': 'refund-1',
        'svc.evaluation.action': 'allow',
      })
      // Sent twice, it is the same span.
      expect(spanOf(line)).toEqual(span)
    },
  )

  it('comes back as the same step, in any order of the spans', () => {
    const spans = lines.map(spanOf)
    const steps = stepsBack(spans.toReversed())
    const check = createStepCheck()
    expect(steps.map(check)).toEqual(steps.map(() => null))
    const bodies = steps.map(({ agent_id: _a, task_id: _t, step: _s, timestamp: _ts, meta: _m, ...body }) => body)
    expect(bodies).toEqual(cases.map(({ step: { agent_id: _, ...body } }) => body))
    expect(new Set(steps.map(({ agent_id }) => agent_id))).toEqual(new Set(['desk']))
    expect(steps[0]).toMatchObject({
      step: 1,
      timestamp: recorded_at,
      meta: { note: 'kept', otel: { trace_id: expect.any(String) } },
    })
    expect(new Set(spans.map((span) => (span as JsonMap).traceId)).size).toBe(1)
    expect(new Set(spans.map((span) => (span as JsonMap).spanId)).size).toBe(spans.length)
  })

  it('is the only one of a task that still runs, which gets no end', () => {
    expect(stepsBack([spanOf(lines[3] as TraceLine)]).map(({ step_type }) => step_type)).toEqual(['step.resource'])
  })
})

describe('another line as a span', () => {
  it('is the end of a task that no step ended', () => {
    const end = spanOf({ kind: 'end', recorded_at, task_id: 'refund-1', step: 9, agent_id: 'desk' })
    expect(stepsBack([end])).toMatchObject([{ step_type: 'task.end', meta: { 'svc.end': 'end_task' } }])
    expect(spanOf({ kind: 'end', recorded_at, task_id: 'refund-1' })).toBeNull()
  })

  it('gives no step for an unrecorded decision', () => {
    const line = {
      kind: 'unrecorded',
      recorded_at,
      task_id: 'refund-1',
      agent_id: 'desk',
      evaluation_id: 'e',
      decided_at: recorded_at,
      outcome: 'allow',
      reason: null,
      action_digest: 'ab',
      intended: { step_type: 'step.exec' },
      violations: [],
    } as const
    const span = spanOf(line) as JsonMap
    expect(span.name).toBe('svc.unrecorded')
    expect(JSON.parse(String(attributesOf(span.attributes).get('svc.unrecorded')))).toEqual(line)
    expect(stepsBack([span, spanOf(lines[3] as TraceLine)])).toHaveLength(1)
  })
})

describe('the location otlp:URL', () => {
  it.each([
    ['otlp:http://127.0.0.1:4318', {}, 'http://127.0.0.1:4318/v1/traces', {}],
    ['otlp:https://x.example/', {}, 'https://x.example/v1/traces', {}],
    ['otlp:https://x.example/otel/v1/traces', {}, 'https://x.example/otel/v1/traces', {}],
    [
      'otlp:http://x.example',
      { OTEL_EXPORTER_OTLP_HEADERS: 'Authorization=Basic%20YTpi, x-team = desk,' },
      'http://x.example/v1/traces',
      { authorization: 'Basic YTpi', 'x-team': 'desk' },
    ],
    ['otlp:http://x.example', { OTEL_EXPORTER_OTLP_HEADERS: 'key=50%' }, 'http://x.example/v1/traces', { key: '50%' }],
  ])('%s %j', (location, env, href, headers) => {
    expect(endpointProblem(location, env)).toBeNull()
    expect(endpointAt(location, env)).toEqual({ href, headers })
  })

  it.each([
    ['otlp:', {}, /write `otlp:` and an http\(s\) address/],
    ['otlp:127.0.0.1:4318', {}, /such as otlp:http:/],
    ['otlp:grpc://x.example', {}, /http\(s\) address/],
    ['otlp:https://user:secret@x.example', {}, /without a user name/],
    ['otlp:http://x.example', { OTEL_EXPORTER_OTLP_HEADERS: 'secret' }, /must be name=value pairs/],
    ['otlp:http://x.example', { OTEL_EXPORTER_OTLP_HEADERS: 'a b=secret' }, /found `a b`$/],
    ['otlp:http://x.example', { OTEL_EXPORTER_OTLP_HEADERS: 'a=x%0d%0ab' }, /found `a`$/],
  ])('%s %j has a problem', (location, env, problem) => {
    expect(endpointProblem(location, env)).toMatch(problem)
  })
})
