// Histories of active tasks, cached between batches so that an evaluation reads no rows.
import { type LoggedHistory, newLoggedHistory, type PolicySet } from '@svc/engine'

/** A task's history, indexed for one policy set, up to the entry `seq`. */
export interface CachedHistory extends LoggedHistory {
  seq: number
}

export interface Histories {
  /** The cached history if it is indexed for this set, else a new one at `seq` 0. */
  readonly of: (org_id: string, task_id: string, set: PolicySet) => CachedHistory
  /** Called when entries of these tasks were not committed. */
  readonly forget: (org_id: string, task_ids: Iterable<string>) => void
}

/** The same histories for one batch, which finds each as it left it, whatever the cache has dropped meanwhile. */
export function heldHistories(histories: Histories): Histories {
  const held = new Map<string, CachedHistory>()
  return {
    of: (org_id, task_id, set) => {
      const known = held.get(task_id)
      const history = known?.set === set ? known : histories.of(org_id, task_id, set)
      held.set(task_id, history)
      return history
    },
    forget: histories.forget,
  }
}

/** Keeps the `limit` most recently used histories; others are rebuilt from the log. */
export function createHistories(limit: number): Histories {
  const known = new Map<string, CachedHistory>()
  const key = (org_id: string, task_id: string) => `${org_id}\0${task_id}`
  return {
    of: (org_id, task_id, set) => {
      const id = key(org_id, task_id)
      const cached = known.get(id)
      const history = cached?.set === set ? cached : { ...newLoggedHistory(set), seq: 0 }
      known.delete(id)
      known.set(id, history)
      const [oldest] = known.keys()
      if (known.size > limit && oldest !== undefined) known.delete(oldest)
      return history
    },
    forget: (org_id, task_ids) => {
      for (const task_id of task_ids) known.delete(key(org_id, task_id))
    },
  }
}
