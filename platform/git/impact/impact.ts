// The impact of a change of manifests: recorded tasks of the agents that it affects, replayed as whole paths.
import { setImmediate } from 'node:timers/promises'
import { isoTime } from '@svc/schemas'
import type { Scope } from '../../db/scope.js'
import type { Reading } from '../recorded/reading.js'
import type { RecordedTask } from '../recorded/tasks-store.js'
import { wholeTasks } from '../recorded/whole-tasks.js'
import { type Affected, affectedAgents } from './affected-agents.js'
import type { ImpactReport, ImpactRequest } from './impact-report.js'
import { createTally, type ImpactTally, maxListed } from './impact-tally.js'
import type { StoredSteps } from './replay-messages.js'
import { type ReplayThread, startReplayThread } from './replay-thread.js'
import { sampledTasks } from './sampled-tasks.js'

export interface ImpactOptions {
  /** ms since 1970 */
  readonly clock: () => number
  /** Of the sample, such as the commit at the head: the same seed draws the same tasks. */
  readonly seed: string
  readonly signal?: AbortSignal
  /** Of the objects of the thread that evaluates, MiB; default 512. */
  readonly max_memory?: number
}

/**
 * Replays the recorded tasks of the agents with an assignment of a changed manifest under their policies in effect and under those
 * after the change. `read` gives read-only snapshots of the workspace. An agent is evaluated as it is registered now, and a task
 * under one version of its policies from the first step on, also where its assignment pins tasks. Rejects with the reason of the
 * signal, and when the thread that evaluates ends early.
 */
export async function impactOf(
  read: Reading,
  scope: Scope,
  request: ImpactRequest,
  { clock, seed, signal, max_memory = 512 }: ImpactOptions,
): Promise<ImpactReport> {
  const reading: Reading = (work) => {
    signal?.throwIfAborted()
    return read(work)
  }
  const affected = await affectedAgents(reading, scope, request)
  const ids = affected.agents.map(({ agent: { agent_id } }) => agent_id)
  const from = isoTime(clock() - request.days * 86_400_000)
  const { max_tasks, max_steps } = request
  const { recorded, tasks } = await sampledTasks(reading, scope, ids, { from, seed, max_tasks, max_steps })
  const tally = createTally(affected)
  if (tasks.length > 0) {
    const work = { policies: affected.policies, agents: affected.agents.map(sidesOf), max_listed: maxListed }
    const thread = startReplayThread(work, { max_memory, signal: signal ?? null })
    try {
      await replayTasks({ read: reading, scope, thread, tally, ids }, tasks)
    } finally {
      await thread.close()
    }
  }
  return tally.report(recorded, tasks.length)
}

function sidesOf({ facts, before, after }: Affected['agents'][number]) {
  return { facts, before, after }
}

interface Replaying {
  readonly read: Reading
  readonly scope: Scope
  readonly thread: ReplayThread
  readonly tally: ImpactTally
  readonly ids: readonly string[]
}

/** Reads the next tasks while the thread evaluates the ones before: two batches are in memory. */
async function replayTasks(parts: Replaying, tasks: readonly RecordedTask[]): Promise<void> {
  const indexes = new Map(parts.ids.map((agent_id, index) => [agent_id, index]))
  let evaluated: Promise<void> = Promise.resolve()
  const { read, scope, tally } = parts
  for await (const batch of wholeTasks({ read, scope, leaveOut: tally.leaveOut }, tasks)) {
    await evaluated
    const stored = batch.map(({ task, lines }) => ({ agent: indexes.get(task.agent_id) ?? -1, lines }))
    evaluated = evaluate(parts, stored)
    // A rejection is thrown by the `await` of the next round.
    evaluated.catch(() => undefined)
    await setImmediate()
  }
  await evaluated
}

async function evaluate({ thread, tally }: Replaying, tasks: readonly StoredSteps[]): Promise<void> {
  if (tasks.length === 0) return
  const answers = await thread.ask(tasks)
  for (const [index, answer] of answers.entries()) tally.add(tasks[index]?.agent ?? -1, answer)
}
