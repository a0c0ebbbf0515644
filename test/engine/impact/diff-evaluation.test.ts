// The directions that the diff of manifests reports, against evaluation.
import { describe, expect, it } from 'vitest'
import { targetDirections } from '../../../engine/rules/form/stricter.js'
import { leafRules } from '../../../engine/rules/registry.js'
import { checkPairs } from '../../support/engine/diff-evaluation.js'

const count = 2000

describe('the direction of a change', () => {
  it(`holds for random steps on ${count} random pairs of policies`, () => {
    const { pairs, violated, different, places, wrong } = checkPairs(1, count)
    expect(wrong).toEqual([])
    // The pairs and steps are varied enough to find a wrong direction.
    expect(Math.min(pairs.stricter ?? 0, pairs.looser ?? 0, pairs.changed ?? 0, pairs.none ?? 0)).toBeGreaterThan(150)
    expect(violated).toBeGreaterThan(1500)
    expect(different).toBeGreaterThan(500)
    expect([...places.keys()].filter((place) => /^(all_of|any_of|not) /.test(place)).length).toBeGreaterThan(20)
  })
})

describe('each parameter', () => {
  it.each(leafRules.map((rule) => ({ name: rule.name, rule })))('of $name has a direction', ({ rule }) => {
    const own = Object.keys(rule.stricter).filter((name) => !Object.hasOwn(targetDirections, name))
    expect(own.sort()).toEqual(Object.keys(rule.params.properties).sort())
  })
})
