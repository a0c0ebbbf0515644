// The impact of a change of manifests: recorded tasks of the agents that it affects, replayed as whole paths.
import { setImmediate } from 'node:timers/promises'
import { createImpact, type Impact } from '@svc/engine/parts'
import { isoTime } from '@svc/schemas'
import type { Scope } from '../../db/scope.js'
import type { Reading } from '../recorded/reading.js'
import type { RecordedTask } from '../recorded/tasks-store.js'
import { type LeftOutReason, wholeTasks } from '../recorded/whole-tasks.js'
import { type Affected, affectedAgents } from './affected-agents.js'
import type { ImpactReport, ImpactRequest } from './impact-report.js'
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
  const left_out = new Map<LeftOutReason, number>()
  const leaveOut = (reason: LeftOutReason, count = 1) => left_out.set(reason, (left_out.get(reason) ?? 0) + count)
  const input = { policies: affected.policies, agents: affected.agents.map(sidesOf), max_listed: 100 }
  if (tasks.length === 0) return reportOf(affected, createImpact(input).finish(), recorded, 0, left_out)
  const thread = startReplayThread(input, { max_memory, signal: signal ?? null })
  try {
    await replayTasks({ read: reading, scope, thread, leaveOut, ids }, tasks)
    const { metadata_only, ...impact } = await thread.finish()
    if (metadata_only > 0) leaveOut('metadata_only', metadata_only)
    return reportOf(affected, impact, recorded, tasks.length, left_out)
  } finally {
    await thread.close()
  }
}

function sidesOf({ facts, before, after }: Affected['agents'][number]) {
  return { facts, before, after }
}

interface Replaying {
  readonly read: Reading
  readonly scope: Scope
  readonly thread: ReplayThread
  readonly leaveOut: (reason: LeftOutReason) => void
  readonly ids: readonly string[]
}

/** Reads the next tasks while the thread evaluates the ones before: two batches are in memory. */
async function replayTasks(
  { read, scope, thread, leaveOut, ids }: Replaying,
  tasks: readonly RecordedTask[],
): Promise<void> {
  const indexes = new Map(ids.map((agent_id, index) => [agent_id, index]))
  let evaluated: Promise<unknown> = Promise.resolve()
  for await (const batch of wholeTasks({ read, scope, leaveOut }, tasks)) {
    await evaluated
    evaluated = thread.add(batch.map(({ task, lines }) => ({ agent: indexes.get(task.agent_id) ?? -1, lines })))
    // A rejection is thrown by the `await` of the next round.
    evaluated.catch(() => undefined)
    await setImmediate()
  }
  await evaluated
}

/** The impact, with the agents that its numbers and flips are about. */
function reportOf(
  { agents, pinned }: Affected,
  { agents: counts, first_flips: { total, listed }, ...all }: Impact,
  recorded_tasks: number,
  sampled_tasks: number,
  left_out: ReadonlyMap<LeftOutReason, number>,
): ImpactReport {
  return {
    ...all,
    agents: counts.flatMap((own, index) => {
      const one = agents[index]
      if (one === undefined) return []
      const { agent_id, agent_key, name, effective_risk_classification: risk_classification } = one.agent
      const policies = { policies_before: one.before.length, policies_after: one.after.length }
      return [
        { agent_id, agent_key, name, risk_classification, manifest_paths: one.manifest_paths, ...policies, ...own },
      ]
    }),
    pinned_agents: pinned,
    recorded_tasks,
    sampled_tasks,
    left_out: [...left_out].sort().map(([reason, tasks]) => ({ reason, tasks })),
    first_flips: {
      total,
      listed: listed.flatMap(({ agent: index, ...flip }) => {
        const agent = agents[index]?.agent
        return agent === undefined ? [] : [{ agent_id: agent.agent_id, agent_key: agent.agent_key, ...flip }]
      }),
    },
  }
}
