// The tasks of a bundle: the chain of each task, and the order in which its steps arrived.
import type { BundleVerdict, LogRecord } from '@svc/schemas'
import { sequenceVerifier } from '../record/sequence.js'

interface Task {
  readonly agent_id: string
  seq: number
  hash: string
  /** True if the period contains one of its steps; neighbours of the period do not count. */
  is_in_period: boolean
  /** Null for a task that began before the first entry of the bundle: its order cannot be verified. */
  readonly sequence: ReturnType<typeof sequenceVerifier> | null
}

export interface BundledTasks {
  /** Takes a step's record, its hash and whether it is in the period; returns what is wrong with its link, or null. */
  readonly add: (record: LogRecord, hash: string, is_in_period: boolean) => string | null
  readonly finish: () => BundleVerdict['tasks']
}

/** `from_start`: whether the bundle holds the log from its first entry, so that no task can have begun earlier. */
export function bundledTasks(from_start: () => boolean): BundledTasks {
  const tasks = new Map<string, Task>()
  return {
    add: (record, hash, is_in_period) => {
      const known = tasks.get(record.task_id)
      const { client_prev_hash = null, ...step } = record
      if (known === undefined) {
        const begins = record.seq === 1
        if (begins !== (record.prev_hash === ''))
          return begins
            ? 'the first entry of the task names a previous entry'
            : 'the entry names no previous entry, though its `seq` is not 1'
        if (!begins && from_start())
          return `the task begins at its entry ${record.seq}, though the bundle begins with the log`
        const sequence = begins ? sequenceVerifier() : null
        sequence?.add({ ...step, client_prev_hash })
        tasks.set(record.task_id, { agent_id: record.agent_id, seq: record.seq, hash, is_in_period, sequence })
        return null
      }
      if (record.seq !== known.seq + 1) return `entry ${known.seq + 1} of the task is missing`
      if (record.prev_hash !== known.hash) return 'the entry does not follow the previous one of its task'
      if (record.agent_id !== known.agent_id) return 'the agent of the entry differs from that of its task'
      known.seq = record.seq
      known.hash = hash
      known.is_in_period ||= is_in_period
      known.sequence?.add({ ...step, client_prev_hash })
      return null
    },
    finish: () => {
      const issues: Record<string, number> = {}
      let out_of_sequence = 0
      let after_end = 0
      const inPeriod = [...tasks.values()].filter((task) => task.is_in_period)
      for (const { sequence } of inPeriod) {
        const found = sequence?.finish()
        if (found === undefined) continue
        if (found.issues.length > 0) out_of_sequence += 1
        if (found.warnings.some(({ code }) => code === 'after_end')) after_end += 1
        for (const { code } of found.issues) issues[code] = (issues[code] ?? 0) + 1
      }
      const began_earlier = inPeriod.filter(({ sequence }) => sequence === null).length
      return { count: inPeriod.length, began_earlier, out_of_sequence, after_end, issues }
    },
  }
}
