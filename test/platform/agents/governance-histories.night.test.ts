// Random histories of heartbeats: a report as of a cut-off is what a simple model says, and never changes.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '@svc/platform'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Beat, type GovernedWorkspace, openGovernedWorkspace } from '../../support/reports/governance.js'
import { type Arrival, modelGovernance, tick } from '../../support/reports/governance-model.js'

const runs = ['one', 'two', 'three']
const states = ['enforcing', 'stale_cache', 'none_configured', 'unavailable', 'all_dropped'] as const

interface Message {
  readonly agent: number
  /** Ticks since the message before. */
  readonly pause: number
  readonly run: number
  /** Most messages repeat the latest state of the run, as heartbeats do. */
  readonly repeats: boolean
  /** When the state began, in ticks before the message; below zero for a clock that is ahead. */
  readonly age: number
  /** When the state ended, in ticks after it began; null for a state that lasts. */
  readonly length: number | null
  readonly ended: boolean
  readonly state: number
}

const message: fc.Arbitrary<Message> = fc.record({
  agent: fc.constantFrom(0, 0, 0, 1),
  pause: fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: 0, max: 8 }) },
    { weight: 3, arbitrary: fc.integer({ min: 13, max: 20 }) },
    { weight: 1, arbitrary: fc.constantFrom(100, 700, 9000) },
  ),
  run: fc.constantFrom(0, 0, 1, 2),
  repeats: fc.constantFrom(true, true, false),
  age: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 2, arbitrary: fc.integer({ min: -30, max: 60 }) }),
  length: fc.oneof(
    { weight: 3, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 60 }) },
  ),
  ended: fc.constantFrom(false, false, false, false, false, true),
  state: fc.integer({ min: 0, max: 4 }),
})

const history = fc.record({
  messages: fc.array(message, { minLength: 1, maxLength: 40 }),
  /** How many messages arrive before the cut-off, as a share; and how late it is after the last of them. */
  share: fc.double({ min: 0, max: 1, noNaN: true }),
  wait: fc.oneof(fc.integer({ min: 0, max: 30 }), fc.constant(30)),
  period: fc.tuple(fc.integer({ min: -20, max: 300 }), fc.integer({ min: 1, max: 600 })),
})

/** The heartbeats of each agent. `contradicts`: a run can report two states since the same time. */
function arrivalsOf(messages: readonly Message[], begin: number, contradicts: boolean) {
  let at = begin
  const latest = new Map<string, { since: number; state: number }>()
  return messages.map(({ agent, pause, run, repeats, age, length, ended, state }) => {
    at += pause * tick
    const known = repeats ? latest.get(`${agent} ${run}`) : undefined
    const since = known?.since ?? at - age * tick
    const chosen = known?.state ?? (contradicts ? state : (since / tick) % 5)
    if (length === null) latest.set(`${agent} ${run}`, { since, state: chosen })
    const beat: Beat = {
      run: runs[run] ?? '',
      state: states[chosen] ?? 'enforcing',
      since,
      ...(length !== null && { until: since + length * tick }),
      ended,
    }
    return { agent, at, beat }
  })
}

describe('governed time as of a cut-off', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-governance-'))
  let begin = Date.UTC(2026, 2, 1)
  let workspace: GovernedWorkspace
  beforeAll(async () => {
    workspace = await openGovernedWorkspace(readConfig({ SVC_DATA_DIR: folder }).value, begin)
  })
  afterAll(async () => {
    await workspace.close()
    rmSync(folder, { recursive: true, force: true })
  })

  it.each([false, true])('is that of the model, and stays it (with contradictions: %s)', async (contradicts) => {
    const property = fc.asyncProperty(history, async ({ messages, share, wait, period: [offset, length] }) => {
      begin += 10 * 86_400_000
      workspace.setTime(begin)
      const keys = [0, 1].map((agent) => `agent ${begin} ${agent}`)
      const ids = [await workspace.register(keys[0] ?? ''), await workspace.register(keys[1] ?? '')]
      const all = arrivalsOf(messages, begin, contradicts)
      const send = async (arrivals: typeof all) => {
        for (const { agent, at, beat } of arrivals) {
          workspace.setTime(at)
          await workspace.beat(keys[agent] ?? '', beat)
        }
      }
      const count = Math.round(share * all.length)
      const before = all.slice(0, count)
      const next = all[count]?.at ?? Number.POSITIVE_INFINITY
      const at = Math.min((before.at(-1)?.at ?? begin) + wait * tick, next)
      await send(before)
      workspace.setTime(at)
      const cut_off = await workspace.cutOff()
      const from = begin + offset * tick
      const period = { from, to: from + length * 5 * tick }
      const then = await workspace.read(ids, period, cut_off)
      await send(all.slice(count))
      expect(await workspace.read(ids, period, cut_off)).toEqual(then)
      if (contradicts) return
      for (const [agent, id] of ids.entries()) {
        const own: Arrival[] = before.filter((arrival) => arrival.agent === agent)
        expect(then.get(id)).toEqual(modelGovernance(own, { ...period, registered: begin, at }))
      }
    })
    await fc.assert(property, { numRuns: 100 })
  })
})
