// The time of the machine is set while the engine runs: nothing waits for the length of the jump, and nothing ends early.
import { describe, expect, it } from 'vitest'
import { policiesIn } from '../../../engine/source/fetch.js'
import { emptyMemory, learn } from '../../../engine/source/memory.js'
import { answerWith } from '../../support/engine/changing-source.js'
import { engineHere } from '../../support/engine/local-engine.js'

const begin = Date.UTC(2026, 0, 5, 9)
const timeout = 600_000
const hour = 3_600_000
const jumps = [
  ['back an hour', -hour],
  ['back a day', -24 * hour],
  ['forward a year', 365 * 24 * hour],
] as const

function started() {
  const time = { wall: begin, elapsed: 5_000 }
  const here = engineHere({ clock: () => time.wall, elapsed: () => time.elapsed, timeout })
  const context = { agent_id: 'desk', environment: 'test' } as const
  return {
    ...here,
    time,
    evaluate: (task_id: string) =>
      here.engine.evaluate({ intended: { step_type: 'step.exec' }, context: { ...context, task_id } }),
    unrecorded: () => here.trace.filter(({ kind }) => kind === 'unrecorded'),
    pass: (ms: number) => {
      time.wall += ms
      time.elapsed += ms
      here.decisions.check()
    },
  }
}

describe.each(jumps)('a clock that is set %s', (_how, jump) => {
  it('neither ends the wait for steps early nor lengthens it', async () => {
    const here = started()
    await here.evaluate('before')
    here.pass(1_000)
    here.time.wall += jump
    await here.evaluate('after')
    here.pass(timeout - 1_001)
    expect(here.unrecorded()).toEqual([])
    here.pass(1)
    expect(here.unrecorded()).toMatchObject([{ task_id: 'before', decided_at: '2026-01-05T09:00:00.000Z' }])
    here.time.wall -= jump
    here.pass(1_000)
    expect(here.unrecorded()).toMatchObject([{ task_id: 'before' }, { task_id: 'after' }])
    expect(here.notes.map((note) => /allowed (\S+) s ago/.exec(note)?.[1])).toEqual(['600', '600'])
  })

  it('evicts no task', async () => {
    const here = started()
    await here.evaluate('before')
    here.time.wall += jump
    await here.evaluate('after')
    expect(here.engine.tasks()).toBe(2)
    here.pass(25 * hour)
    await here.evaluate('later')
    expect(here.engine.tasks()).toBe(1)
  })
})

describe('policies of a platform', () => {
  it('are stale at the first failure after the clock was set back, not an hour later', () => {
    const time = { now: begin }
    const cache = { read: () => null, write: () => undefined, remove: () => undefined }
    const parts = { cache, ttl: 60_000, clock: () => time.now, report: () => undefined }
    const policies = [{ rule_type: 'field_not_empty', params: { field: 'step_name' }, severity: 'critical' }] as const
    const body = policiesIn(answerWith([{ manifest_id: 'man_1', sha: '1', policies }]))
    const fetched = { body, etag: null, fetched_at: begin }
    const { next } = learn(emptyMemory(begin, 60_000), { kind: 'fetched', fetched, holds: false }, parts)
    expect(next.current.load_state).toBe('enforcing')
    time.now -= hour
    const failed = { kind: 'failed', problem: 'away', retry_after: null, is_cut: false, is_rejected: false } as const
    const { current } = learn(next, failed, parts).next
    expect([current.load_state, current.set.count]).toEqual(['stale_cache', 1])
  })
})
