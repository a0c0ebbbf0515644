// The parts of recorded tasks in the check of a public repository: numbers, and the policies that the repository itself shows.
import { type Cause, markdownCode, shortened } from '@svc/engine/parts'
import type { ImpactReport, TaskFlip } from '@svc/platform'
import { type CheckFacts, placeOfPolicy } from '../facts.js'

/**
 * The report without names: no agent, task, step or reason is left in it, so that no text made from it can show one.
 * INVARIANT (public): the check run of a public repository is made from this report alone.
 */
export function countsOnly(impact: ImpactReport, lines: CheckFacts['lines']): ImpactReport {
  const numbers = new Map<string, string>()
  const numberOf = (id: string) => {
    numbers.set(id, numbers.get(id) ?? String(numbers.size + 1))
    return numbers.get(id) ?? ''
  }
  const { total, listed } = impact.first_flips
  return {
    ...impact,
    agents: impact.agents.map((agent) => ({
      ...agent,
      agent_id: numberOf(agent.agent_id),
      agent_key: numberOf(agent.agent_id),
      name: '',
      risk_classification: 'unclassified',
    })),
    pinned_agents: impact.pinned_agents.map(({ agent_id, manifest_path, pinned_sha }) => {
      return { agent_id: numberOf(agent_id), agent_key: '', name: '', manifest_path, pinned_sha }
    }),
    first_flips: { total, listed: listed.map((one, index) => withoutNames(one, index, numberOf(one.agent_id), lines)) },
  }
}

function withoutNames({ change, flip }: TaskFlip, index: number, agent: string, lines: CheckFacts['lines']): TaskFlip {
  const { before, after } = flip
  const isOwn = ({ name, manifest }: Cause) => placeOfPolicy({ lines }, name, manifest) !== null
  return {
    agent_id: agent,
    agent_key: agent,
    change,
    blocked_step: null,
    flip: {
      task_id: String(index),
      source: null,
      step: null,
      step_type: '',
      verb: null,
      step_name: null,
      happened: true,
      before,
      after,
      policies: flip.policies.filter(isOwn).map((cause) => ({ ...cause, reason: '', remedy: null })),
    },
  }
}

type Hidden = CheckFacts['hidden']

/** `settings_branch`: whose settings allow names. */
export function hiddenNote(hidden: Hidden, settings_branch: string): string {
  if (hidden === null) return ''
  const what = 'The names of agents, tasks and steps, and reasons, are left out'
  const where = 'an operator sees them with `POST /api/v1/policies/dry-run`, or with `svc replay`'
  if (hidden === 'setting') return `${what}, because \`details\` is \`false\` in \`.github/svc.yml\`: ${where}.`
  return `${what}, because this repository is public: ${where}. To show them to everyone, set \`details: true\` in \`.github/svc.yml\` of ${markdownCode(shortened(settings_branch, 100))}.`
}

/** Numbers of tasks would answer any question about recorded inputs that a stranger asks with a policy. */
export const notReplayed =
  'Recorded tasks were not replayed, because the pull request comes from a fork of a public repository. Once a person who may push has read it, they push the same commit to a branch of this repository, and the check of that pull request replays them.'
