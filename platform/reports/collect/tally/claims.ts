// What the senders of steps claim: that a local engine evaluated a step before it ran, and when a step occurred.
import { isoTime, parseTimestamp } from '@svc/schemas'
import type { Summary } from '../../summary-data.js'
import { addTo } from './listing.js'

export function createClaims({ from, to }: { readonly from: string; readonly to: string }) {
  const [begin, end] = [Date.parse(from), Date.parse(to)]
  const totals = { decided_steps: 0, undecided_steps: 0, steps_outside: 0 }
  const counts = new Map<string, number>()
  const times = new Map<string, number[]>()
  let [first, last] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  return {
    /** When steps without a decision were received, by agent; ms since 1970, ascending. */
    undecided: times as ReadonlyMap<string, readonly number[]>,
    undecidedOf: (agent_id: string) => counts.get(agent_id) ?? 0,
    totals: (): Pick<Summary, keyof typeof totals | 'outside'> => ({
      ...totals,
      outside: totals.steps_outside === 0 ? null : { first: isoTime(first), last: isoTime(last) },
    }),
    /** `received`: ms since 1970. `decided`: null when the content of the step is erased. */
    decision: (agent_id: string, received: number, decided: boolean | null) => {
      if (decided === true) totals.decided_steps += 1
      if (decided !== false) return
      totals.undecided_steps += 1
      addTo(counts, agent_id)
      const own = times.get(agent_id)
      if (own === undefined) times.set(agent_id, [received])
      else own.push(received)
    },
    time: (timestamp: string) => {
      const time = parseTimestamp(timestamp)
      if (time === null || (time >= begin && time < end)) return
      totals.steps_outside += 1
      first = Math.min(first, time)
      last = Math.max(last, time)
    },
  }
}
