// The recorded tasks of agents in a period, and a random sample of them when they are too many.
import type { Scope } from '../../db/scope.js'
import type { Reading } from '../recorded/reading.js'
import { countTasks, type DrawnTask, drawTasks, firstIndexFrom } from '../recorded/tasks-store.js'

interface Draw {
  /** RFC 3339: tasks whose last step was received at this time or later. */
  readonly from: string
  /** The same seed draws the same tasks. */
  readonly seed: string
  readonly max_tasks: number
}

export interface SampledTasks {
  readonly recorded: number
  /** In the order of the agents and of their first steps. */
  readonly tasks: readonly DrawnTask[]
}

/** Draws the tasks with the smallest hashes of seed and id: a uniform sample, of which only that many are in memory. */
export async function sampledTasks(
  read: Reading,
  scope: Scope,
  agent_ids: readonly string[],
  { from, seed, max_tasks: limit }: Draw,
): Promise<SampledTasks> {
  const first = agent_ids.length === 0 ? 0 : await read((tx) => firstIndexFrom(scope, tx, from))
  let recorded = 0
  let tasks: DrawnTask[] = []
  for (const agent_id of agent_ids) {
    const drawn = await read(async (tx) => {
      const count = await countTasks(scope, tx, agent_id, first)
      recorded += count
      return count === 0 ? [] : drawTasks(scope, tx, agent_id, { first, seed, limit })
    })
    for (const task of drawn) tasks.push(task)
    if (tasks.length > 2 * limit) tasks = smallest(tasks, limit)
  }
  tasks = smallest(tasks, limit)
  const place = new Map(agent_ids.map((agent_id, index) => [agent_id, index]))
  const placeOf = ({ agent_id }: DrawnTask) => place.get(agent_id) ?? 0
  return { recorded, tasks: tasks.sort((a, b) => placeOf(a) - placeOf(b) || a.first_log_index - b.first_log_index) }
}

function smallest(tasks: DrawnTask[], limit: number): DrawnTask[] {
  if (tasks.length <= limit) return tasks
  const key = ({ draw, task_id }: DrawnTask) => `${draw} ${task_id}`
  return tasks.sort((a, b) => (key(a) < key(b) ? -1 : 1)).slice(0, limit)
}
