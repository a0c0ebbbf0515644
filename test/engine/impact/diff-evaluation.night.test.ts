// The directions that the diff of manifests reports, against evaluation: many pairs, and differences at each parameter.
import { expect, it } from 'vitest'
import { leafRules } from '../../../engine/rules/registry.js'
import { checkPairs } from '../../support/engine/diff-evaluation.js'

const count = 100_000

it(`the direction of a change holds on ${count} random pairs of policies`, () => {
  const { different, places, wrong } = checkPairs(1_000_000, count)
  expect(wrong).toEqual([])
  expect(different).toBeGreaterThan(10_000)
  const directed = leafRules.flatMap(({ name, stricter }) =>
    Object.entries(stricter).flatMap(([parameter, direction]) => {
      const order = typeof direction === 'object' ? direction.stricter : direction
      return order === 'none' ? [] : [`${name} ${parameter}`]
    }),
  )
  expect(directed.length).toBeGreaterThan(40)
  expect(directed.filter((place) => !places.has(place))).toEqual([])
})
