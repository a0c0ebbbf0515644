// A dry run: the last recorded tasks, replayed as whole paths under the policies in effect and under the given ones.
import { setImmediate } from 'node:timers/promises'
import { createReplay, type Replay } from '@svc/engine'
import type { DryRunReport, JsonMap, Step } from '@svc/schemas'
import { agentNotFound } from '../../agents/errors.js'
import { agentFacts, findAgents } from '../../agents/store/agents.js'
import type { Transaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { policiesBesideStops } from '../../policies/store/policies.js'
import { policiesInEffect, together } from '../recorded/policies-in-effect.js'
import type { Reading } from '../recorded/reading.js'
import { isMetadataOnly, stepsIn } from '../recorded/stored-steps.js'
import { lastTasks, type RecordedTask, readTasks } from '../recorded/tasks-store.js'
import { type LeftOutReason, maxOfTask, reasonToLeaveOut } from '../recorded/whole-tasks.js'
import type { GivenPolicies } from './given-policies.js'
import { dryRunReport } from './report.js'

export interface DryRunTasks {
  /** Null for the tasks of all agents. */
  readonly agent_id: string | null
  /** The number of tasks. */
  readonly tasks: number
}

/** Of all tasks: 50,000 steps under two versions of the baseline took 2.5 s on two cores. */
const maxOfAll = { steps: 30_000, bytes: 64 * 1024 * 1024 }
/** Answers of policies to steps: in all, and those for which a replay holds up other requests, about 20 ms. */
const maxAnswers = { of_all: 2_000_000, at_once: 20_000 }

/** Rejects with NOT_FOUND for an unknown agent. */
export async function dryRun(
  read: Reading,
  scope: Scope,
  given: GivenPolicies,
  wanted: DryRunTasks,
): Promise<DryRunReport> {
  const { tasks, facts, effective } = await read((tx) => readInputs(scope, tx, wanted))
  const agents = new Map(tasks.map(({ task_id, agent_id }) => [task_id, agent_id]))
  const replay = createReplay({
    policies: together(
      policiesInEffect(effective, (policy) => !given.replaces(policy)),
      given.policies,
    ),
    against: policiesInEffect(effective, () => true),
    agent: (task_id) => facts.get(agents.get(task_id) ?? '') ?? {},
    max_listed: 100,
  })
  const left_out = new Map<LeftOutReason, number>()
  const policies = policiesPerStep(effective, given)
  const left = { ...maxOfAll, steps: Math.min(maxOfAll.steps, Math.floor(maxAnswers.of_all / policies)) }
  const at_once = Math.ceil(maxAnswers.at_once / policies)
  for (const task of tasks) {
    // A snapshot for each task: one for all would keep a connection, and the embedded database, from other requests.
    const found = await read((tx) => stepsOf(scope, tx, task, left))
    if (typeof found === 'string') left_out.set(found, (left_out.get(found) ?? 0) + 1)
    else await addSteps(replay, found, at_once)
  }
  return dryRunReport(replay.finish(), agents, left_out, given.warnings)
}

/** The most policies that evaluate one step, of both sets. */
function policiesPerStep(
  effective: ReadonlyMap<string, readonly unknown[]>,
  { policies: given }: GivenPolicies,
): number {
  const most = [...effective.values()].reduce((max, { length }) => Math.max(max, length), 0)
  return 2 * most + given.policies.length
}

async function readInputs(scope: Scope, tx: Transaction, { agent_id, tasks: limit }: DryRunTasks) {
  const tasks = await lastTasks(scope, tx, agent_id, limit)
  const agent_ids = agent_id === null ? [...new Set(tasks.map((task) => task.agent_id))] : [agent_id]
  const agents = await findAgents(scope, tx, agent_ids)
  if (agent_id !== null && agents.length === 0) throw agentNotFound()
  const facts = new Map<string, JsonMap>(agents.map((agent) => [agent.agent_id, agentFacts(agent)]))
  return { tasks, facts, effective: await policiesBesideStops(scope, tx, agents) }
}

/** The steps of a task that can be replayed whole, which are taken from what is `left`; else the reason why it cannot. */
async function stepsOf(
  scope: Scope,
  tx: Transaction,
  task: RecordedTask,
  left: { steps: number; bytes: number },
): Promise<Step[] | LeftOutReason> {
  if (task.seq > Math.min(maxOfTask.steps, left.steps)) return 'too_long'
  left.steps -= task.seq
  const [size] = await readTasks(scope, tx, [task], 0)
  if (size === undefined) return 'pruned'
  const reason = reasonToLeaveOut(task, size, Math.min(maxOfTask.bytes, left.bytes))
  if (reason !== null) return reason
  left.bytes -= size.bytes
  const [stored] = await readTasks(scope, tx, [task], maxOfTask.bytes)
  const steps = stepsIn(stored?.lines ?? '')
  return isMetadataOnly(steps) ? 'metadata_only' : steps
}

async function addSteps(replay: Replay, steps: readonly Step[], at_once: number): Promise<void> {
  for (const [index, step] of steps.entries()) {
    if (index % at_once === 0) await setImmediate()
    replay.add({ kind: 'step', step })
  }
}
