// The steps that opened incidents. Incidents follow the steps of their commit in the log, so that only these are remembered.
import type { ViolationRow } from '../../content/messages.js'

export type Openers = ReturnType<typeof createOpeners>

/** A policy that a step of a task violated; the number of the step is null where it is not known. */
interface Opened {
  readonly policy_id: number
  readonly task_id: string | null
  readonly step: number | null
}

export function createOpeners() {
  let times = new Map<string, number>()
  let isOver = false
  return {
    /** A step, with the time by which it counts; in the order of the log. A waived violation opens no incident. */
    step: (task_id: string, step: number, violations: readonly ViolationRow[], time: number) => {
      if (isOver) times = new Map()
      isOver = false
      for (const [, policy_id, , , , waived] of violations)
        for (const number of waived ? [] : [step, null]) {
          const key = keyOf({ policy_id, task_id, step: number })
          if (!times.has(key)) times.set(key, time)
        }
    },
    /** Any leaf that is not a step. */
    leaf: () => {
      isOver = true
    },
    /** The time by which the step counts that opened an incident; null for an incident without a step in the log before it. */
    timeOf: (opened: Opened): number | null => times.get(keyOf(opened)) ?? null,
  }
}

const keyOf = ({ policy_id, task_id, step }: Opened) => `${policy_id} ${step ?? ''} ${task_id}`
