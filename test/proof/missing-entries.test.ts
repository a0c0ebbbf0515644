// The fast walk over runs of missing entries gives the same result as a check of each log index.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MissingEntries } from '../../proof/record/missing-entries.js'
import type { IndexSpan, RemovalAuthorization } from '../../proof/record/removal-authorization.js'
import { runs } from '../support/random.js'

const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString()

/** Missing log indexes in runs, each with the minute of the record before it. */
const missingIndexes = fc
  .array(
    fc.record({ skip: fc.integer({ min: 1, max: 3 }), length: fc.integer({ min: 1, max: 4 }), later: fc.nat(2) }),
    { maxLength: 8 },
  )
  .map((given) => {
    const indexes: { log_index: number; minute: number }[] = []
    let [log_index, minute] = [0, 0]
    for (const { skip, length, later } of given) {
      log_index += skip
      minute += later
      for (let count = 0; count < length; count++) indexes.push({ log_index: log_index++, minute })
    }
    return indexes
  })
const spans = fc.array(
  fc.tuple(fc.nat(40), fc.nat(6)).map(([first, more]): IndexSpan => [first, first + more]),
  { maxLength: 5 },
)
const declarations = fc.array(fc.record({ spans, before: fc.option(fc.nat(10)) }), { maxLength: 4 })

interface Declaration {
  readonly spans: readonly IndexSpan[]
  /** Minute; null for an erasure. */
  readonly before: number | null
}

const authorizationOf = ({ spans: given, before }: Declaration): RemovalAuthorization => ({
  type: before === null ? 'erasure' : 'prune',
  id: 'x',
  by: 'x',
  at: 'x',
  reason: 'x',
  spans: given,
  before: before === null ? null : at(before),
  log_index: 100,
})

const contains = (declaration: Declaration, log_index: number) =>
  declaration.spans.some(([first, last]) => log_index >= first && log_index <= last)

describe('missing entries', () => {
  it('are covered as a check of each log index finds', () => {
    fc.assert(
      fc.property(missingIndexes, declarations, (indexes, given) => {
        const missing = new MissingEntries()
        for (const { log_index, minute } of indexes) missing.add(log_index, at(minute))
        const valid = given.filter(
          (one) =>
            one.before === null ||
            !indexes.some(({ log_index, minute }) => contains(one, log_index) && minute >= Number(one.before)),
        )
        const uncovered = indexes.find(({ log_index }) => !valid.some((one) => contains(one, log_index)))
        expect(missing.firstUncovered(given.map(authorizationOf))).toBe(uncovered?.log_index ?? null)
        expect(missing.count).toBe(indexes.length)
        for (const one of given)
          expect(missing.coveredBy(authorizationOf(one))).toBe(
            indexes.filter(({ log_index }) => contains(one, log_index)).length,
          )
      }),
      { numRuns: runs(5000) },
    )
  })

  it('are covered in linear time when they are scattered', () => {
    const missing = new MissingEntries()
    const all = Array.from({ length: 200_000 }, (_, index): IndexSpan => [2 * index, 2 * index])
    for (const [log_index] of all) missing.add(log_index, at(0))
    const authorization = authorizationOf({ spans: all, before: null })
    expect(missing.firstUncovered([authorization])).toBeNull()
    expect(missing.coveredBy(authorization)).toBe(200_000)
  })
})
