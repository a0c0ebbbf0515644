// Steps in the order of their lines, given out as far as no later line can change them.
import type { Body } from '@svc/engine/parts'
import type { SessionFacts } from './act.js'

/** An actor in a session: the agent, or one of its sub-agents. */
export interface Actor {
  /** Null for the agent of the session. */
  readonly id: string | null
  /** Number of agents above it. */
  readonly depth: number
  /** The call that started it; null when it is unknown. */
  readonly spawn: Slot | null
}

/** A place in the order of the steps, for one step or several. */
export interface Slot {
  readonly thread: Actor
  /** ms since 1970; without `has_time` no line up to here had a time. */
  readonly time: number
  readonly has_time: boolean
  /** Id of the line. */
  readonly line: string | null
  /** The folder in which the agent worked; null when it is unknown. */
  readonly folder: string | null
  /** The known facts about the session. */
  readonly facts: SessionFacts
  /** True when no later line changes the steps. */
  settled: boolean
  /** Number of its first step, once it is given out. */
  number: number | null
  readonly make: () => readonly Body[]
}

export interface Queue {
  readonly put: (slot: Slot) => void
  /** The slots up to the first that is not settled; they are no longer in the queue. */
  readonly take: () => Slot[]
  readonly size: () => number
}

export function createQueue(): Queue {
  let slots: Slot[] = []
  return {
    put: (slot) => {
      slots.push(slot)
    },
    take: () => {
      const open = slots.findIndex(({ settled }) => !settled)
      const taken = open < 0 ? slots : slots.slice(0, open)
      slots = open < 0 ? [] : taken.length === 0 ? slots : slots.slice(open)
      return taken
    },
    size: () => slots.length,
  }
}
