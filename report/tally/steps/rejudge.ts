// The steps that `svc verify --rejudge` can evaluate again from the bundle of the period, and the others by reason.
import type { RejudgeReason } from '@svc/engine/parts'
import type { LogRecord } from '@svc/schemas'
import type { Integrity } from '../../content/report-data.js'
import { addTo, byText } from '../listing.js'

export interface RejudgeTally {
  /** Adds a step, in order; returns whether its task began in the entries that were read. */
  readonly add: (log_index: number, record: LogRecord, is_kept: boolean, reads_memory: boolean) => boolean
  /** A step whose record was deleted. */
  readonly addPruned: () => void
  /** Of the steps without another reason. */
  readonly policySets: () => Iterable<string>
  readonly finish: (isMissing: (policy_set: string) => boolean) => Integrity['rejudge']
}

/** `factsFrom`: the log index from which the log holds the facts of an agent. */
export function createRejudgeTally(factsFrom: (agent_id: string) => number): RejudgeTally {
  /** The tasks that began in these entries, each with the reason that holds for all its later steps. */
  const began = new Map<string, RejudgeReason | null>()
  const reasons = new Map<RejudgeReason, number>()
  /** Steps without an earlier reason, by policy set. */
  const bySet = new Map<string, number>()
  let steps = 0
  return {
    add: (log_index, { agent_id, task_id, seq, policy_set }, is_kept, reads_memory) => {
      steps += 1
      const earlier = seq === 1 ? null : began.get(task_id)
      const ofStep = !is_kept ? 'payload_erased' : reads_memory ? 'reads_memory' : null
      const ofTask = earlier === undefined ? 'task_began_earlier' : (earlier ?? ofStep)
      if (earlier !== undefined) began.set(task_id, ofTask)
      if (ofTask !== null) addTo(reasons, ofTask)
      else if (factsFrom(agent_id) > log_index) addTo(reasons, 'agent_facts_unknown')
      else addTo(bySet, policy_set)
      return earlier !== undefined
    },
    addPruned: () => {
      steps += 1
      addTo(reasons, 'record_pruned')
    },
    policySets: () => bySet.keys(),
    finish: (isMissing) => {
      let possible = 0
      for (const [policy_set, count] of bySet)
        if (isMissing(policy_set)) addTo(reasons, 'policy_set_missing', count)
        else possible += count
      const others = [...reasons].map(([reason, count]) => ({ reason, steps: count }))
      return { steps, possible, others: others.sort((a, b) => byText(a.reason, b.reason)) }
    },
  }
}
