// The same through many kills.
import { expect, it } from 'vitest'
import { killUnderLoad, stillBlocked } from '../../support/engine/killed-engine.js'

const kills = 20

it(`a task at its limit stays blocked through ${kills} kills of a busy engine`, async () => {
  const { states, wrong, gaps, faults, err } = await killUnderLoad(kills)
  expect(states).toEqual(Array.from({ length: kills + 1 }, () => stillBlocked))
  expect([wrong, gaps, faults]).toEqual([[], [], []])
  expect(err).not.toContain('were lost')
})
