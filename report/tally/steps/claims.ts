// Claims of the senders of steps: that a local engine evaluated a step before it ran, and the time at which it occurred.
import { isoTime, type LogRecord } from '@svc/schemas'
import type { Summary } from '../../content/summary-data.js'
import { addTo } from '../listing.js'
import type { Period } from '../period.js'

export function createClaims({ otherTimeOf, placeOf }: Period) {
  const totals = { decided_steps: 0, undecided_steps: 0, steps_outside: 0 }
  const counts = new Map<string, number>()
  const times = new Map<string, number[]>()
  let [first, last] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  return {
    /** The times of receipt of steps without a decision, by agent; ms since 1970, ascending. */
    undecided: times as ReadonlyMap<string, readonly number[]>,
    undecidedOf: (agent_id: string) => counts.get(agent_id) ?? 0,
    totals: (): Pick<Summary, keyof typeof totals | 'outside'> => ({
      ...totals,
      outside: totals.steps_outside === 0 ? null : { first: isoTime(first), last: isoTime(last) },
    }),
    /** Any step, in the order of the log: time without an engine is ungoverned if a step comes in it, whenever it occurred. */
    received: ({ agent_id, received_at }: LogRecord, decided: boolean | null) => {
      const received = Date.parse(received_at)
      if (decided !== false || placeOf(received) !== 'in') return
      const own = times.get(agent_id)
      if (own === undefined) times.set(agent_id, [received])
      else own.push(received)
    },
    /** A counted step. `decided`: null when its content is erased. */
    counted: (record: LogRecord, decided: boolean | null) => {
      if (decided === true) totals.decided_steps += 1
      if (decided === false) {
        totals.undecided_steps += 1
        addTo(counts, record.agent_id)
      }
      const other = otherTimeOf(record)
      if (other === null) return
      totals.steps_outside += 1
      first = Math.min(first, other)
      last = Math.max(last, other)
    },
  }
}
