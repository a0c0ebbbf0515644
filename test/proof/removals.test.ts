// Who answers for what is gone: the quick walk says what looking at each place alone would say.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Gone, type Places, type Removal } from '../../proof/record/removals.js'

const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString()

/** Places that are gone, in runs, each with the minute of the record before it. */
const gone = fc
  .array(
    fc.record({ skip: fc.integer({ min: 1, max: 3 }), length: fc.integer({ min: 1, max: 4 }), later: fc.nat(2) }),
    {
      maxLength: 8,
    },
  )
  .map((runs) => {
    const places: { place: number; minute: number }[] = []
    let [place, minute] = [0, 0]
    for (const { skip, length, later } of runs) {
      place += skip
      minute += later
      for (let count = 0; count < length; count++) places.push({ place: place++, minute })
    }
    return places
  })
const places = fc.array(
  fc.tuple(fc.nat(40), fc.nat(6)).map(([first, more]): Places => [first, first + more]),
  { maxLength: 5 },
)
const removals = fc.array(fc.record({ places, before: fc.option(fc.nat(10)) }), { maxLength: 4 })

const removal = ({ places: given, before }: { places: Places[]; before: number | null }): Removal => ({
  ...{ type: before === null ? 'erasure' : 'prune', id: 'x', by: 'x', at: 'x', reason: 'x', log_index: 100 },
  ...{ places: given, before: before === null ? null : at(before) },
})

describe('what is gone', () => {
  it('is answered for as place by place', () => {
    fc.assert(
      fc.property(gone, removals, (taken, given) => {
        const tested = new Gone()
        for (const { place, minute } of taken) tested.add(place, at(minute))
        const within = ([first, last]: Places, place: number) => place >= first && place <= last
        const takes = (one: (typeof given)[number], place: number) => one.places.some((range) => within(range, place))
        const sound = given.filter(
          (one) =>
            one.before === null ||
            !taken.some(({ place, minute }) => takes(one, place) && minute >= Number(one.before)),
        )
        const uncovered = taken.find(({ place }) => !sound.some((one) => takes(one, place)))
        expect(tested.notCovered(given.map(removal))).toBe(uncovered?.place ?? null)
        expect(tested.count).toBe(taken.length)
        for (const one of given)
          expect(tested.under(removal(one))).toBe(taken.filter(({ place }) => takes(one, place)).length)
      }),
      { numRuns: 5000 },
    )
  })

  it('takes no longer for being scattered', () => {
    const tested = new Gone()
    const every = Array.from({ length: 200_000 }, (_, index): Places => [2 * index, 2 * index])
    for (const [place] of every) tested.add(place, at(0))
    const one = removal({ places: every, before: null })
    expect(tested.notCovered([one])).toBeNull()
    expect(tested.under(one)).toBe(200_000)
  })
})
