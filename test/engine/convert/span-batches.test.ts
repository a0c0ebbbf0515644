// The spans of a task in batches, in the order in which they end: together they are the steps of the whole task.
import type { Behavior } from '@svc/schemas'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { claimOf, strongerClaim } from '../../../engine/convert/otel/agent.js'
import { operationOf } from '../../../engine/convert/otel/operation.js'
import { readOtlp } from '../../../engine/convert/otel/otlp.js'
import { wholeOf } from '../../../engine/convert/otel/sliced.js'
import type { Span } from '../../../engine/convert/otel/span.js'
import { type BatchStep, batchOfSpans } from '../../../engine/convert/otel/steps-of-batch.js'
import { stepsOfSpans } from '../../../engine/convert/otel/steps-of-spans.js'
import { runs } from '../../support/random.js'
import { otlpSpan, type ShortSpan } from '../../support/spans/otlp.js'

/** A call of a tool: with a span or without, with an id or without. */
interface Call {
  readonly tool: string
  readonly has_id: boolean
}

interface Exchange {
  /** Of the user; null when the agent goes on alone. */
  readonly says: string | null
  readonly calls: readonly Call[]
  readonly answers: string | null
}

interface Run {
  readonly exchanges: readonly Exchange[]
  readonly has_tool_spans: boolean
  readonly has_invocation: boolean
}

/** The spans of a run in the order in which they end. */
function spansOf({ exchanges, has_tool_spans, has_invocation }: Run): ShortSpan[] {
  const history: object[] = []
  const spans: ShortSpan[] = []
  const said: object[] = []
  let second = 1
  const root = 'root'
  for (const [number, { says, calls, answers }] of exchanges.entries()) {
    if (says !== null) history.push({ role: 'user', content: says })
    const asked = calls.map(({ tool, has_id }, index) => ({
      name: tool,
      arguments: {},
      ...(has_id && { id: `k${number}-${index}` }),
    }))
    const output = {
      role: 'assistant',
      ...(answers !== null && { content: answers }),
      ...(asked.length > 0 && { tool_calls: asked }),
    }
    if (answers !== null) said.splice(0, said.length, { role: 'assistant', content: answers })
    const model = {
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': 'm',
      'gen_ai.input.messages': [...history],
      'gen_ai.output.messages': [output],
    }
    spans.push([`m${number}`, root, 'chat m', second, second + 1, model])
    history.push(output)
    second += 2
    for (const [index, { name, id }] of asked.entries()) {
      const tool = {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': name,
        ...(id !== undefined && { 'gen_ai.tool.call.id': id }),
      }
      if (has_tool_spans) spans.push([`t${number}${index}`, root, `execute_tool ${name}`, second, second + 1, tool])
      if (id !== undefined) history.push({ role: 'tool', tool_call_id: id, content: 'ok' })
      second += 2
    }
  }
  // Its answers are read by a last call of the model.
  const last = { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'm', 'gen_ai.input.messages': [...history] }
  spans.push(['last', root, 'chat m', second, second + 1, last])
  const invocation = { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.output.messages': said }
  spans.push([root, null, 'root', 0, second + 2, has_invocation ? invocation : {}])
  return spans
}

const read = (spans: readonly ShortSpan[]): Span[] =>
  (readOtlp(spans.map((span) => otlpSpan(span))) ?? []).flatMap((each) => (each.problem === null ? [each.span] : []))

/** What the write queue of a platform does with the steps of one task. */
function createStore() {
  const known = new Set<string>()
  const steps: BatchStep['step'][] = []
  return {
    steps,
    take: (spans: readonly Span[]) => {
      const acts = spans.filter((span) => operationOf(span) !== null)
      const { name } = (acts.length > 0 ? acts : spans).map(claimOf).reduce(strongerClaim)
      const batch = wholeOf(batchOfSpans(spans, { agent_key: 'shop', agent: name, is_conversation: false }))
      for (const { step, origins, same_as } of batch.stepsAfter(
        new Set(batch.deciding.filter((each) => known.has(each))),
      )) {
        if (known.has(origins[0])) continue
        const used = `used ${same_as}`
        const is_same = same_as !== undefined && known.has(same_as) && !known.has(used)
        for (const origin of is_same ? [...origins, used] : origins) known.add(origin)
        if (!is_same) steps.push(step)
      }
    },
  }
}

const shown = ({ step_type, verb, step_name, input, output }: Partial<Behavior>) =>
  step_type === 'step.resource' ? `${verb} ${step_name}` : JSON.stringify([step_type, verb, step_name, input, output])

const texts = fc.constantFrom('yes', 'no', 'ok')
const call = fc.record({ tool: fc.constantFrom('get_a', 'get_b'), has_id: fc.constant(true) })
const exchange = fc.record({
  says: fc.option(texts, { nil: null }),
  calls: fc.array(call, { maxLength: 2 }),
  answers: fc.option(texts, { nil: null }),
})
const run = fc.record({
  exchanges: fc.array(exchange, { minLength: 1, maxLength: 4 }),
  has_tool_spans: fc.boolean(),
  has_invocation: fc.boolean(),
})
/** Where batches end, and how often each is sent. */
const cuts = fc.array(fc.record({ size: fc.integer({ min: 1, max: 4 }), times: fc.integer({ min: 1, max: 2 }) }), {
  minLength: 1,
  maxLength: 20,
})

function batchesOf(spans: readonly Span[], sizes: readonly { size: number; times: number }[]): Span[][] {
  const batches: Span[][] = []
  for (let from = 0, index = 0; from < spans.length; index++) {
    const { size, times } = sizes[index % sizes.length] ?? { size: 1, times: 1 }
    for (let time = 0; time < times; time++) batches.push(spans.slice(from, from + size))
    from += size
  }
  return batches
}

const whole = (spans: readonly Span[]) => {
  const { name } = spans
    .filter((span) => operationOf(span) !== null)
    .map(claimOf)
    .reduce(strongerClaim)
  const task = { task_id: 't', agent_key: 'shop', agent: name, tools: {}, declared_tools: null }
  return stepsOfSpans(spans, task).map(shown)
}

describe('spans in batches', () => {
  it('are the steps of the whole task, in whatever batches, each sent once or twice', () => {
    fc.assert(
      fc.property(run, cuts, (given, sizes) => {
        const spans = read(spansOf(given))
        const store = createStore()
        for (const batch of batchesOf(spans, sizes)) store.take(batch)
        const steps = store.steps.map(shown)
        expect(steps.toSorted()).toEqual(whole(spans).toSorted())
        expect([steps[0], steps.at(-1)]).toEqual([whole(spans)[0], whole(spans).at(-1)])
      }),
      { numRuns: runs(200) },
    )
  })

  it('are never more steps than those of the whole task, in whatever order the batches arrive', () => {
    const shuffled = fc.tuple(run, cuts, fc.infiniteStream(fc.nat()))
    fc.assert(
      fc.property(shuffled, ([given, sizes, order]) => {
        const spans = read(spansOf(given))
        const batches = batchesOf(spans, sizes)
          .map((batch) => ({ batch, at: order.next().value as number }))
          .toSorted((a, b) => a.at - b.at)
        const store = createStore()
        for (const { batch } of batches) store.take(batch)
        const rest = whole(spans)
        const added = store.steps.map(shown).filter((step) => {
          const index = rest.indexOf(step)
          if (index >= 0) rest.splice(index, 1)
          return index < 0
        })
        // Instructions and the like are those of the first batch.
        expect(added.filter((step) => !step.includes('task.start'))).toEqual([])
        // Every span has its step.
        expect(rest.filter((step) => step.includes('step.model'))).toEqual([])
      }),
      { numRuns: runs(200) },
    )
  })
})
