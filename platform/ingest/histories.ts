// Histories of tasks that are being written, kept between batches so that judging a step reads nothing.
import { type History, newHistory, type PolicySet } from '@svc/engine'

/** A task's history as indexed for one policy set, and how far into the task it reaches. */
export interface CachedHistory {
  readonly set: PolicySet
  readonly history: History
  seq: number
  /** When its last step counts as having occurred, ms since 1970; null before the first. */
  last_at: number | null
}

export interface Histories {
  /** The cached history when it was indexed for this very set, else a new one that reaches nowhere. */
  readonly of: (org_id: string, task_id: string, set: PolicySet) => CachedHistory
  /** Called when what was added to these tasks has not been committed. */
  readonly forget: (org_id: string, task_ids: Iterable<string>) => void
}

/** Keeps the `limit` most recently used; a forgotten one is rebuilt from the log when it is asked for. */
export function createHistories(limit: number): Histories {
  const known = new Map<string, CachedHistory>()
  const key = (org_id: string, task_id: string) => `${org_id}\0${task_id}`
  return {
    of: (org_id, task_id, set) => {
      const id = key(org_id, task_id)
      const cached = known.get(id)
      const history = cached?.set === set ? cached : { set, history: newHistory(set), seq: 0, last_at: null }
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
