// How many intervals of ungoverned time a report lists: totals are complete, and no agent crowds out another.
import { describe, expect, it } from 'vitest'
import { type Governance, type GovernanceInterval, withFewer } from '../../report/governance/governance.js'
import { heldGovernance, listedGovernance } from '../../report/tally/coverage.js'

const time = (minute: number) => new Date(Date.UTC(2026, 0, 1) + minute * 60_000).toISOString()

/** Intervals that begin an hour apart, one for each number of minutes; negative: unknown. */
function governanceOf(minutes: readonly number[]): Governance {
  const intervals = minutes.map((length, at): GovernanceInterval => {
    const state = length < 0 ? 'unknown' : 'ungoverned'
    const reason = length < 0 ? 'silent' : 'unavailable'
    return { from: time(60 * at), to: time(60 * at + Math.abs(length)), state, reason, instance_id: 'run' }
  })
  return { governed_seconds: 1, ungoverned_seconds: 2, unknown_seconds: 3, idle_seconds: 4, intervals, more: 0 }
}

const lengthsOf = ({ intervals }: Governance) =>
  intervals.map(
    ({ from, to, state }) => (state === 'unknown' ? -1 : 1) * ((Date.parse(to) - Date.parse(from)) / 60_000),
  )

describe('the listed intervals', () => {
  it('of one agent are the ungoverned ones and the long ones, in order of time', () => {
    const few = withFewer(governanceOf([1, -50, 3, 2, -40, 3]), 4)
    expect([lengthsOf(few), few.more]).toEqual([[1, 3, 2, 3], 2])
    expect(lengthsOf(withFewer(governanceOf([1, -50, 3, 2, -40, 3]), 5))).toEqual([1, -50, 3, 2, 3])
    expect(few).toMatchObject({ governed_seconds: 1, ungoverned_seconds: 2, unknown_seconds: 3 })
  })

  it('of all agents are bounded together, and an agent with few keeps them', () => {
    const all = new Map([
      ['flaps', governanceOf(Array(200).fill(1))],
      ['rests', governanceOf([5, 6])],
      ['flaps too', governanceOf(Array(150).fill(1))],
    ])
    const listed = listedGovernance(['flaps', 'rests', 'flaps too', 'unheard'], all, 100)
    expect(listed.map(({ intervals, more }) => [intervals.length, more])).toEqual([
      [49, 151],
      [2, 0],
      [49, 101],
      [0, 0],
    ])
  })

  it('are all listed within the bound', () => {
    const all = new Map([['one', governanceOf([1, 2, 3])]])
    expect(listedGovernance(['one'], all, 3)).toEqual([all.get('one')])
  })

  it('of ten thousand agents need little memory', () => {
    expect(heldGovernance(governanceOf(Array(200).fill(1)), 10_000).intervals).toHaveLength(10)
    expect(heldGovernance(governanceOf([1, 2, 3]), 1_000_000).intervals).toHaveLength(2)
    expect(heldGovernance(governanceOf(Array(200).fill(1)), 1).intervals).toHaveLength(200)
  })
})
