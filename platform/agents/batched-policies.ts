// Loads the policies of many engines that ask at the same time together: a load of a hundred agents costs twice that of one.
import type { Scope } from '../db/scope.js'
import { type Effective, effectivePoliciesOf, type PolicyParts } from './commands/effective-policies.js'

/** The policies of one agent, with those of others of its organization that are asked for meanwhile. */
export type LoadBatched = (scope: Scope, agent_id: string) => Promise<Effective>

/** Agents of one load. */
const maxBatch = 100

interface Queue {
  readonly asked: Map<string, ((result: Promise<Effective>) => void)[]>
  is_busy: boolean
}

/** While one load of an organization is in progress, the next batch gathers. */
export function batchedPolicies(parts: PolicyParts): LoadBatched {
  const queues = new Map<string, Queue>()
  const run = async (scope: Scope, queue: Queue) => {
    queue.is_busy = true
    while (queue.asked.size > 0) {
      const batch = [...queue.asked].slice(0, maxBatch)
      for (const [agent_id] of batch) queue.asked.delete(agent_id)
      const ids = batch.map(([agent_id]) => agent_id)
      const loaded = effectivePoliciesOf(parts, scope, ids)
      for (const [, resolvers] of batch) for (const resolve of resolvers) resolve(loaded)
      await loaded.catch(() => undefined)
    }
    queue.is_busy = false
    queues.delete(scope.org_id)
  }
  return (scope, agent_id) =>
    new Promise<Effective>((resolve) => {
      const queue = queues.get(scope.org_id) ?? { asked: new Map(), is_busy: false }
      queues.set(scope.org_id, queue)
      queue.asked.set(agent_id, [...(queue.asked.get(agent_id) ?? []), resolve])
      if (!queue.is_busy) void run(scope, queue)
    })
}
