// A dry run: recorded tasks, replayed as whole paths under the policies in effect and under the given ones.
import { setImmediate } from 'node:timers/promises'
import { createReplay, type Replay } from '@svc/engine/parts'
import type { DryRunReport, JsonMap, Step } from '@svc/schemas'
import { agentNotFound } from '../../agents/errors.js'
import { agentFacts, findAgents } from '../../agents/store/agents.js'
import type { Transaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { policiesBesideStops } from '../../policies/store/policies.js'
import { policiesInEffect, together } from '../recorded/policies-in-effect.js'
import type { Reading } from '../recorded/reading.js'
import { isMetadataOnly, stepsIn } from '../recorded/stored-steps.js'
import { lastTasks, type RecordedTask, type TaskFilter } from '../recorded/tasks-store.js'
import { isTooLong, type LeftOutReason, wholeTasks } from '../recorded/whole-tasks.js'
import type { GivenPolicies } from './given-policies.js'
import { dryRunReport } from './report.js'
import { createViolationList } from './violations.js'

export interface DryRunTasks extends TaskFilter {
  /** The maximum number of tasks. */
  readonly tasks: number
}

type NotReplayed = LeftOutReason | 'too_many'

/**
 * Of all tasks: 50,000 steps under two versions of the baseline took 2.5 s on two cores. The policies of all agents are read
 * at once. Bytes are counted after a batch is read.
 */
const maxOfAll = { agents: 200, steps: 30_000, bytes: 64 * 1024 * 1024 }
/** Answers of policies to steps: in all, and those for which a replay holds up other requests, about 20 ms. */
const maxAnswers = { of_all: 2_000_000, at_once: 20_000 }

/** Rejects with NOT_FOUND for an unknown agent. */
export async function dryRun(
  read: Reading,
  scope: Scope,
  given: GivenPolicies,
  wanted: DryRunTasks,
): Promise<DryRunReport> {
  const { tasks, more, facts, effective } = await read((tx) => readInputs(scope, tx, wanted))
  const agents = new Map(tasks.map(({ task_id, agent_id }) => [task_id, agent_id]))
  const others = policiesInEffect(effective, (policy) => !given.replaces(policy))
  const violations = given.policy === null ? null : createViolationList(given.policy, agents)
  const replay = createReplay({
    policies: together(others, given.policies),
    against: given.against === null ? policiesInEffect(effective, () => true) : together(others, given.against),
    agent: (task_id) => facts.get(agents.get(task_id) ?? '') ?? {},
    max_listed: 100,
    ...(violations !== null && { onStep: violations.add }),
  })
  const left_out = new Map<NotReplayed, number>(more > 0 ? [['too_many', more]] : [])
  const policies = policiesPerStep(effective, given)
  const left = { ...maxOfAll, steps: Math.min(maxOfAll.steps, Math.floor(maxAnswers.of_all / policies)) }
  const at_once = Math.ceil(maxAnswers.at_once / policies)
  const leaveOut = (reason: NotReplayed) => left_out.set(reason, (left_out.get(reason) ?? 0) + 1)
  for await (const batch of wholeTasks({ read, scope, leaveOut }, withinLimits(tasks, left, leaveOut)))
    for (const { bytes, lines } of batch) {
      const steps = left.bytes > 0 ? stepsIn(lines) : null
      left.bytes -= bytes
      if (steps === null) leaveOut('too_many')
      else if (isMetadataOnly(steps)) leaveOut('metadata_only')
      else await addSteps(replay, steps, at_once)
    }
  const report = dryRunReport(replay.finish(), agents, left_out, given.warnings)
  return violations === null ? report : { ...report, violations: violations.result() }
}

/** The most policies that evaluate one step, of both sets. */
function policiesPerStep(
  effective: ReadonlyMap<string, readonly unknown[]>,
  { policies: { policies: given }, against }: GivenPolicies,
): number {
  const most = [...effective.values()].reduce((max, { length }) => Math.max(max, length), 0)
  return 2 * most + given.length + (against?.policies.length ?? 0)
}

async function readInputs(scope: Scope, tx: Transaction, { tasks: limit, ...filter }: DryRunTasks) {
  const { agent_id } = filter
  const found = await lastTasks(scope, tx, filter, limit)
  const all = agent_id === null ? [...new Set(found.tasks.map((task) => task.agent_id))] : [agent_id]
  const agent_ids = all.slice(0, maxOfAll.agents)
  const agents = await findAgents(scope, tx, agent_ids)
  if (agent_id !== null && agents.length === 0) throw agentNotFound()
  const facts = new Map<string, JsonMap>(agents.map((agent) => [agent.agent_id, agentFacts(agent)]))
  const tasks = found.tasks.filter((task) => facts.has(task.agent_id))
  const more = found.more + found.tasks.length - tasks.length
  return { tasks, more, facts, effective: await policiesBesideStops(scope, tx, agents) }
}

/** The tasks until the limits of all are reached; each takes its steps, and its reader its bytes, of what is `left`. */
function* withinLimits(
  tasks: readonly RecordedTask[],
  left: { steps: number; readonly bytes: number },
  leaveOut: (reason: 'too_many') => void,
): Generator<RecordedTask> {
  for (const task of tasks) {
    // A task that is too long is not replayed.
    const steps = isTooLong(task) ? 0 : task.seq
    if (steps > left.steps || left.bytes <= 0) leaveOut('too_many')
    else yield task
    if (steps <= left.steps) left.steps -= steps
  }
}

async function addSteps(replay: Replay, steps: readonly Step[], at_once: number): Promise<void> {
  for (const [index, step] of steps.entries()) {
    if (index % at_once === 0) await setImmediate()
    replay.add({ kind: 'step', step })
  }
}
