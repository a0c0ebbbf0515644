// The signed state: the sizes that the signer stores.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { type SignedState, stateAfter, stateIn } from '../../../platform/log/publish/signed-state.js'

const folder = mkdtempSync(join(tmpdir(), 'svc-state-'))
afterAll(() => rmSync(folder, { recursive: true }))
const root = '0'.repeat(64)

describe('the sizes in a signed state', () => {
  it.each([1, 7, 250])('are few, and denser near the newest, for a log signed every %i entries', (step) => {
    let state: SignedState | null = null
    for (let size = step; size <= step * 20_000; size += step) state = stateAfter(state, { origin: 'o', size, root })
    const { size = 0, earlier = [] } = state ?? {}
    expect(earlier.length).toBeLessThan(60)
    const sizes = [...earlier.map((one) => one.size), size]
    expect(sizes).toEqual([...new Set(sizes)].sort((a, b) => a - b))
    // For every cut there is a size whose distance from the cut is at most three times the number of cut entries.
    for (const [at, next] of sizes.slice(1).entries())
      expect(next - (sizes[at] ?? 0)).toBeLessThanOrEqual(Math.max(step, 3 * (size - next)))
  })

  it('do not change when an idle log is signed again', () => {
    const first = stateAfter(stateAfter(null, { origin: 'o', size: 4, root }), { origin: 'o', size: 9, root })
    expect(stateAfter(first, { origin: 'o', size: 9, root })).toEqual(first)
  })

  it('are empty in a file of an earlier release', () => {
    const path = join(folder, 'state.json')
    writeFileSync(path, JSON.stringify({ origin: 'o', size: 3, root }))
    expect(stateIn(path)).toEqual({ origin: 'o', size: 3, root, earlier: [] })
  })

  it.each([
    { size: 3, root },
    { origin: 'o', size: '3', root },
    { origin: 'o', size: 3, root, earlier: [1] },
    { origin: 'o', size: 3, root, earlier: 'none' },
  ])('are rejected in %j', (state) => {
    const path = join(folder, 'state.json')
    writeFileSync(path, JSON.stringify(state))
    expect(() => stateIn(path)).toThrow('is damaged')
  })
})
