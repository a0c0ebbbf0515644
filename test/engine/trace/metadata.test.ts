// A trace without payloads: what stays is metadata, and what is left out makes no step look better.
import { readFileSync } from 'node:fs'
import { type Behavior, type JsonMap, propertyWords } from '@svc/schemas'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { gateProblem } from '../../../engine/rules/gates/gate-words.js'
import { othersIn } from '../../../engine/rules/taint/labels.js'
import { payloadsIn, withoutPayloads } from '../../../engine/trace/sinks/metadata.js'
import type { TraceLine } from '../../../engine/trace/sinks/sink.js'
import { runs } from '../../support/random.js'

interface MetadataCase {
  readonly name: string
  readonly step: Behavior
  readonly kept: Behavior
}

const cases = parse(readFileSync(new URL('../../cases/metadata.yaml', import.meta.url), 'utf8')) as MetadataCase[]
const recorded_at = '2026-01-05T09:00:00.000Z'
const mark = { 'svc.payloads': 'metadata_only' }

function metadataOf(step: Behavior): Behavior {
  const {
    kind: _kind,
    recorded_at: _at,
    ...kept
  } = withoutPayloads({ kind: 'step', recorded_at, ...step }) as Extract<TraceLine, { kind: 'step' }>
  return kept
}

describe('metadata only', () => {
  it.each(cases)('$name', ({ step, kept }) => {
    expect(metadataOf(step)).toEqual({ ...kept, meta: { ...kept.meta, ...mark } })
    // Left out once, left out for good: a second pass changes nothing.
    expect(metadataOf(metadataOf(step))).toEqual(metadataOf(step))
  })

  it('keeps the head of a line, where it is read back', () => {
    const line = withoutPayloads({ kind: 'step', recorded_at, task_id: 't', step_type: 'step.exec', input: { a: 1 } })
    expect(JSON.stringify(line)).toMatch(/^\{"kind":"step","recorded_at":"[^"]*","task_id":"t","step_type"/)
  })

  it('covers the intended step of an evaluation, and leaves other lines as they are', () => {
    const intended: Behavior = { step_type: 'step.exec', properties: { exec: { command: 'make' } }, input: { a: 'b' } }
    const decision = { action: 'block' as const, outcome: 'ask', reason: null, manifests: [], violations: [] }
    const line: TraceLine = {
      kind: 'evaluation',
      recorded_at,
      task_id: 't',
      evaluation_id: 'e',
      agent: {},
      intended,
      decision,
    } as const
    expect(withoutPayloads(line)).toEqual({ ...line, intended: { step_type: 'step.exec', properties: {}, meta: mark } })
    const end = { kind: 'end', recorded_at, task_id: 't', step: 2 } as const
    expect(withoutPayloads(end)).toBe(end)
  })

  it.each([
    ['', 'all'],
    ['all', 'all'],
    ['Full', 'all'],
    ['metadata_only', 'metadata_only'],
    ['METADATA-ONLY', 'metadata_only'],
    [' Metadata_Only ', 'metadata_only'],
    ['metadata', null],
    ['none', null],
    ['1', null],
  ])('SVC_LOG_PAYLOADS=`%s` is %s', (value, payloads) => {
    expect(payloadsIn({ SVC_LOG_PAYLOADS: value })).toBe(payloads)
  })
})

const contentWords = propertyWords.filter(({ holds }) => holds === 'content').map(({ name }) => name)
/** Text that occurs nowhere else. */
const secret = fc.stringMatching(/^[g-z]{8,20}$/).map((text) => `§${text}`)
const scalar = fc.oneof(secret, fc.integer(), fc.boolean(), fc.constant(null))
const json = fc.letrec((tie) => ({
  value: fc.oneof({ depthSize: 'small' }, scalar, fc.array(tie('value'), { maxLength: 3 }), tie('map')),
  map: fc.dictionary(fc.oneof(secret, fc.constantFrom('a', 'status', 'result', 'content', 'text')), tie('value'), {
    maxKeys: 4,
  }),
}))
const map = json.map as fc.Arbitrary<JsonMap>

/** A path as nested members, dotted keys, or a mixture. */
const spelled = (name: string, value: unknown): fc.Arbitrary<JsonMap> =>
  fc.array(fc.boolean(), { minLength: 5, maxLength: 5 }).map((splits) => {
    const joined = name.split('.').map((part, index) => (index === 0 ? part : `${splits[index] ? ' ' : '.'}${part}`))
    const keys = joined.join('').split(' ')
    return keys.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value) as JsonMap
  })

const contentProperties = fc
  .array(fc.tuple(fc.constantFrom(...contentWords, 'note', 'customer.name', 'order'), fc.oneof(json.value, map)), {
    maxLength: 5,
  })
  .chain((pairs) => fc.tuple(...pairs.map(([name, value]) => spelled(name, value))))
  .map((parts) => Object.assign({}, ...parts) as JsonMap)

const step: fc.Arbitrary<Behavior> = fc.record(
  {
    step_type: fc.constantFrom<Behavior['step_type']>(
      'step.gate',
      'step.exec',
      'step.message',
      'task.start',
      'step.model',
    ),
    input: map,
    output: map,
    properties: contentProperties,
    meta: map,
  },
  { requiredKeys: ['step_type'] },
)

describe('random steps as metadata', () => {
  it('have no text and no key of their content', () => {
    fc.assert(
      fc.property(step, (given) => {
        expect(JSON.stringify(metadataOf(given))).not.toContain('§')
      }),
      { numRuns: runs(1000) },
    )
  })

  const words = fc.constantFrom<unknown>('passed', 'approved', 'Rejected', 'no', 'maybe later', true, false, 1, null, [
    'ok',
  ])
  const result = fc.constantFrom('guard.result', 'guard.status', 'guard.decision', 'guard.passed', 'guard.approved')
  const gate: fc.Arbitrary<Behavior> = fc
    .tuple(
      fc.array(
        fc.tuple(result, words).chain(([name, word]) => spelled(name, word)),
        { maxLength: 2 },
      ),
      fc.dictionary(fc.constantFrom('status', 'result', 'decision', 'approved', 'by'), words),
    )
    .map(([guards, output]) => ({ step_type: 'step.gate', properties: Object.assign({}, ...guards), output }))

  it('are gates that have passed exactly when they had', () => {
    fc.assert(
      fc.property(gate, (given) => {
        expect(gateProblem(metadataOf(given)) === null).toBe(gateProblem(given) === null)
      }),
      { numRuns: runs(1000) },
    )
  })

  const label = fc.constantFrom<unknown>('own', 'third_party', 'public', 'nonsense', ['own', 'public'], null)
  const labelled: fc.Arbitrary<Behavior> = fc
    .tuple(
      fc
        .tuple(fc.constantFrom('content.trust', 'content.trust_of.mails', 'content'), label)
        .chain(([name, value]) => spelled(name, value)),
      fc.option(
        fc
          .dictionary(fc.constantFrom('a.*', 'b'), label, { minKeys: 1 })
          .chain((of) => spelled('content.trust_of', of)),
      ),
    )
    .map(([one, of]) => ({ step_type: 'step.message', verb: 'GET', properties: { ...one, ...of } }))

  it('are as trusted as they were', () => {
    fc.assert(
      fc.property(labelled, (given) => {
        expect(othersIn(metadataOf(given))).toBe(othersIn(given))
      }),
      { numRuns: runs(1000) },
    )
  })
})
