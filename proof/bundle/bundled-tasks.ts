// The tasks of a bundle: whether each entry follows the one before it, and whether steps arrived as their numbers say.
import type { BundleVerdict, LogRecord } from '@svc/schemas'
import { sequenceVerifier } from '../record/sequence.js'

interface Task {
  readonly agent_id: string
  seq: number
  hash: string
  /** Whether a step of it is of the period, and not only beside it. */
  is_here: boolean
  /** Null for a task that began before the first entry here: its order cannot be judged. */
  readonly sequence: ReturnType<typeof sequenceVerifier> | null
}

export interface BundledTasks {
  /** Takes a step's record, its hash and whether it is of the period; says what is wrong with where it stands in its task. */
  readonly add: (record: LogRecord, hash: string, is_here: boolean) => string | null
  readonly finish: () => BundleVerdict['tasks']
}

/** `from_start`: the bundle holds the log from its first entry, so that no task can have begun earlier. */
export function bundledTasks(from_start: () => boolean): BundledTasks {
  const tasks = new Map<string, Task>()
  return {
    add: (record, hash, is_here) => {
      const known = tasks.get(record.task_id)
      const { client_prev_hash = null, ...step } = record
      if (known === undefined) {
        const begins = record.seq === 1
        if (begins !== (record.prev_hash === ''))
          return 'names an entry before it where there is none, or none where there is'
        if (!begins && from_start()) return `begins at entry ${record.seq}, though nothing came before`
        const sequence = begins ? sequenceVerifier() : null
        sequence?.add({ ...step, client_prev_hash })
        tasks.set(record.task_id, { agent_id: record.agent_id, seq: record.seq, hash, is_here, sequence })
        return null
      }
      if (record.seq !== known.seq + 1) return `entry ${known.seq + 1} of the task is missing`
      if (record.prev_hash !== known.hash) return 'does not follow the entry before it in its task'
      if (record.agent_id !== known.agent_id) return 'is of another agent than the task'
      known.seq = record.seq
      known.hash = hash
      known.is_here ||= is_here
      known.sequence?.add({ ...step, client_prev_hash })
      return null
    },
    finish: () => {
      const issues: Record<string, number> = {}
      let out_of_sequence = 0
      const here = [...tasks.values()].filter((task) => task.is_here)
      for (const { sequence } of here) {
        const found = sequence?.finish().issues ?? []
        if (found.length > 0) out_of_sequence += 1
        for (const { code } of found) issues[code] = (issues[code] ?? 0) + 1
      }
      const began_earlier = here.filter(({ sequence }) => sequence === null).length
      return { count: here.length, began_earlier, out_of_sequence, issues }
    },
  }
}
