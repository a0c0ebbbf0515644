// Adds up the answers on tasks to the report.
import type { TaskChange } from '@svc/engine'
import type { LeftOutReason } from '../recorded/whole-tasks.js'
import type { Affected, AffectedAgent } from './affected-agents.js'
import type { ImpactAgent, ImpactReport, TaskFlip, TaskShare } from './impact-report.js'
import type { ReplayedTask } from './replay-messages.js'
import { wilsonInterval } from './wilson-interval.js'

type Changes = Record<TaskChange, number> & { tasks: number }

export interface ImpactTally {
  readonly leaveOut: (reason: LeftOutReason) => void
  /** `index` is that of the agent. */
  readonly add: (index: number, answer: ReplayedTask) => void
  readonly report: (recorded: number, sampled: number) => ImpactReport
}

export function createTally({ agents, pinned }: Affected): ImpactTally {
  const left_out = new Map<LeftOutReason, number>()
  const counts = agents.map(newChanges)
  const all = newChanges()
  const flips = { total: 0, listed: [] as TaskFlip[] }
  let steps = 0
  const leaveOut = (reason: LeftOutReason) => left_out.set(reason, (left_out.get(reason) ?? 0) + 1)
  return {
    leaveOut,
    add: (index, answer) => {
      const [one, own] = [agents[index], counts[index]]
      if (answer === 'metadata_only') leaveOut(answer)
      if (answer === 'metadata_only' || one === undefined || own === undefined) return
      steps += answer.steps
      for (const changes of [all, own]) {
        changes.tasks += 1
        if (answer.change !== null) changes[answer.change] += 1
      }
      if (answer.flips) flips.total += 1
      const { agent_id, agent_key } = one.agent
      const { change, first_flip: flip, blocked_step } = answer
      if (flip !== null) flips.listed.push({ agent_id, agent_key, change, flip, blocked_step })
    },
    report: (recorded, sampled) => {
      const shareOf = (tasks: number): TaskShare => ({
        tasks,
        interval: sampled < recorded ? wilsonInterval(tasks, all.tasks) : null,
      })
      return {
        agents: agents.map((one, index) => agentRow(one, counts[index] ?? newChanges())),
        pinned_agents: pinned,
        recorded_tasks: recorded,
        sampled_tasks: sampled,
        replayed_tasks: all.tasks,
        replayed_steps: steps,
        left_out: [...left_out].sort().map(([reason, tasks]) => ({ reason, tasks })),
        newly_blocked: shareOf(all.newly_blocked),
        newly_asked: shareOf(all.newly_asked),
        no_longer_blocked: shareOf(all.no_longer_blocked),
        first_flips: { total: flips.total, listed: inOrder(flips.listed).slice(0, maxListed) },
      }
    },
  }
}

/** Tasks whose first flip is in the report. */
export const maxListed = 100

const order = ['newly_blocked', 'no_longer_blocked', 'newly_asked', null] as const

function inOrder(flips: readonly TaskFlip[]): TaskFlip[] {
  return order.flatMap((kind) => flips.filter(({ change }) => change === kind))
}

function newChanges(): Changes {
  return { tasks: 0, newly_blocked: 0, newly_asked: 0, no_longer_blocked: 0 }
}

function agentRow({ agent, manifest_paths, before, after }: AffectedAgent, changes: Changes): ImpactAgent {
  const { agent_id, agent_key, name, effective_risk_classification: risk_classification } = agent
  return {
    agent_id,
    agent_key,
    name,
    risk_classification,
    manifest_paths,
    policies_before: before.length,
    policies_after: after.length,
    tasks: changes.tasks,
    newly_blocked_tasks: changes.newly_blocked,
    newly_asked_tasks: changes.newly_asked,
    no_longer_blocked_tasks: changes.no_longer_blocked,
  }
}
