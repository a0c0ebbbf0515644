// The recorded tasks of agents in a period, and a random sample of them when they are too many.
import type { Scope } from '../../db/scope.js'
import type { Reading } from '../recorded/reading.js'
import { countTasks, type DrawnTask, drawTasks, firstIndexFrom } from '../recorded/tasks-store.js'
import { isTooLong } from '../recorded/whole-tasks.js'

interface Draw {
  /** RFC 3339: tasks whose last step was received at this time or later. */
  readonly from: string
  /** The same seed draws the same tasks. */
  readonly seed: string
  readonly max_tasks: number
  /** Of the tasks together; those that are too long to be replayed do not count. */
  readonly max_steps: number
}

interface SampledTasks {
  readonly recorded: number
  /** In the order of the agents and of their first steps. */
  readonly tasks: readonly DrawnTask[]
}

/** Draws the tasks with the smallest hashes of seed and id: a uniform sample, of which only that many are in memory. */
export async function sampledTasks(
  read: Reading,
  scope: Scope,
  agent_ids: readonly string[],
  { from, seed, max_tasks: limit, max_steps }: Draw,
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
  tasks = withinSteps(smallest(tasks, limit), max_steps)
  const place = new Map(agent_ids.map((agent_id, index) => [agent_id, index]))
  const placeOf = ({ agent_id }: DrawnTask) => place.get(agent_id) ?? 0
  return { recorded, tasks: tasks.sort((a, b) => placeOf(a) - placeOf(b) || a.first_log_index - b.first_log_index) }
}

function smallest(tasks: DrawnTask[], limit: number): DrawnTask[] {
  if (tasks.length <= limit) return tasks
  return inDraw(tasks).slice(0, limit)
}

/** The first tasks of the draw that together have at most so many steps: their number does not depend on what they show. */
function withinSteps(tasks: DrawnTask[], max_steps: number): DrawnTask[] {
  const stepsOf = (task: DrawnTask) => (isTooLong(task) ? 0 : task.seq)
  if (tasks.reduce((sum, task) => sum + stepsOf(task), 0) <= max_steps) return tasks
  let left = max_steps
  const end = inDraw(tasks).findIndex((task) => {
    left -= stepsOf(task)
    return left < 0
  })
  return tasks.slice(0, Math.max(1, end))
}

function inDraw(tasks: DrawnTask[]): DrawnTask[] {
  const key = ({ draw, task_id }: DrawnTask) => `${draw} ${task_id}`
  return tasks.sort((a, b) => (key(a) < key(b) ? -1 : 1))
}
