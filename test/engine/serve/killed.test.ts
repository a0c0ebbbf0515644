// kill -9 under load forgets no history of a task.
import { expect, it } from 'vitest'
import { killUnderLoad, stillBlocked } from '../../support/engine/killed-engine.js'

const kills = 3

it(`a task at its limit stays blocked through ${kills} kills of a busy engine, and no step is numbered twice`, async () => {
  const { states, wrong, gaps, faults, err } = await killUnderLoad(kills)
  expect(states).toEqual(Array.from({ length: kills + 1 }, () => stillBlocked))
  expect([wrong, gaps, faults]).toEqual([[], [], []])
  expect(err).not.toContain('were lost')
})
