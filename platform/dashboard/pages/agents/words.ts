// The states of agents and their engines, in words for people.
import type { Agent, EngineIntervals } from '@svc/schemas'
import { badge, type Html, joined, nothing, type Tone, text, time } from '../../views/html.js'

type Governance = NonNullable<Agent['governance']>
type Reason = NonNullable<Governance['reason']>
type Shown = readonly [label: string, tone: Tone]

const states: Readonly<Record<Governance['state'], Shown>> = {
  governed: ['governed', 'green'],
  ungoverned: ['not governed', 'red'],
  unknown: ['no known engine checks it', 'red'],
  idle: ['no engine runs', 'secondary'],
  inactive: ['deactivated', 'secondary'],
}

/** Continue the sentence "The agent is not governed:". */
export const reasons: Readonly<Record<Reason, string>> = {
  no_policy: 'no enforced policy applies to it',
  none_configured: 'its engine has no policies',
  unavailable: 'its engine could not load the policies',
  all_dropped: 'its engine rejected every policy',
  silent: 'its engine is silent',
  no_engine: 'no engine has ever reported',
  stopped: 'its engine was stopped in order',
  deactivated: 'a member deactivated it',
}

/** Says what to do. */
export const remedies: Readonly<Record<Reason, string>> = {
  no_policy: 'Assign a manifest to the agent, or enable a policy that applies to it.',
  none_configured: 'Check that the engine runs with the key of this agent: the platform has policies for it.',
  unavailable: 'Check that the machine of the engine reaches the platform and that its API key is valid.',
  all_dropped: 'Update the engine: it does not know the rules of these policies.',
  silent: 'Check that the engine runs and that its machine reaches the platform.',
  no_engine: 'Start a local engine next to the agent:',
  stopped: 'Start the engine with the agent.',
  deactivated: 'Reactivate the agent to let it work again.',
}

const loads: Readonly<Record<EngineIntervals['intervals'][number]['load_state'], Shown>> = {
  enforcing: ['enforces', 'green'],
  stale_cache: ['enforces the last policies that it loaded', 'green'],
  none_configured: ['has no policies', 'red'],
  unavailable: ['could not load the policies', 'red'],
  all_dropped: ['rejected every policy', 'red'],
}

/** The state of an engine that it reported. */
export function loadState(state: keyof typeof loads): Html {
  return badge(...loads[state])
}

/** The reasons that the badge of a state says already. */
const saidByState: readonly (Reason | null)[] = [null, 'deactivated', 'stopped']

/** The state in a list, whose next column says that no engine has ever reported. */
export function listedGovernance(agent: Agent): Html {
  return governance(agent, [...saidByState, 'no_engine'])
}

/** True or not, and if not, why; and the stop that blocks every step. */
export function governance({ governance: now, stopped, engine }: Agent, said = saidByState): Html {
  if (now === undefined) return nothing
  const silent = now.reason === 'silent' && engine?.last_seen != null
  const why = now.reason === null || said.includes(now.reason) ? '' : reasons[now.reason]
  return joined([
    badge(...states[now.state]),
    stopped === true && now.state !== 'inactive' ? badge('stopped', 'red') : nothing,
    text(why),
    silent ? joined([text('since'), time(engine.last_seen)]) : nothing,
  ])
}

/** The level in effect, and a lower one that waits for a member. */
export function riskLevel(agent: Agent): Html {
  const { effective_risk_classification: level, risk_classification: declared, waits_for_confirmation } = agent
  return joined([
    text(level),
    waits_for_confirmation === true ? badge(`${declared} waits for confirmation`, 'yellow') : nothing,
  ])
}
