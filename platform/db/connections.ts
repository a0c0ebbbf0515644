// The limits of transactions on the connections of a pool, and what operators measure of them.
import type pg from 'pg'
import { type ConcurrencyLimits, createConcurrencyLimits } from './concurrency.js'

/** The connections of the pool, and the transactions that wait for one. */
export interface Connections {
  readonly used: number
  readonly idle: number
  readonly waiting: number
}

/** Why this process adds nothing to any log; null while it may. */
export interface LogGate {
  held: string | null
}

/** The limits of transactions on this number of connections, what operators measure of them, and the gate of the logs. */
export function measured(pool: pg.Pool, connections: number) {
  const counts = new Map<string, number>()
  const gate: LogGate = { held: null }
  const limits = limitsOf(connections)
  let waiting = 0
  const withinLimit: ConcurrencyLimits = async (name, work) => {
    let isWaiting = true
    const leave = () => {
      if (isWaiting) waiting -= 1
      isWaiting = false
    }
    waiting += 1
    try {
      return await limits(name, () => {
        leave()
        return work()
      })
    } finally {
      leave()
    }
  }
  return {
    withinLimit,
    counts,
    gate,
    connections: () => {
      const { totalCount, idleCount, waitingCount } = pool
      return { used: totalCount - idleCount, idle: idleCount, waiting: waiting + waitingCount }
    },
  }
}

/** Every connection of the pool is in use. */
export function isBusy({ totalCount, idleCount, options: { max } }: pg.Pool): boolean {
  return idleCount === 0 && totalCount >= (max ?? 1)
}

/** All organizations together leave some connections to transactions without an organization, such as sign-in. */
function limitsOf(connections: number): ConcurrencyLimits {
  const each = createConcurrencyLimits(connections / 2)
  const together = createConcurrencyLimits(Math.floor(connections * 0.6))
  return (name, work) => each(name, () => (name === '' ? work() : together('all', work)))
}
