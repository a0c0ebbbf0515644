// Agents as components of OSCAL, and their time without enforcement as observations.
import { counted, duration, sentence } from '../../content/figures.js'
import type { AgentResult, ReportData } from '../../content/report-data.js'
import { named } from '../../controls/sentences.js'
import type { GovernanceInterval } from '../../governance/governance.js'
import { propertiesOf } from '../../oscal/properties.js'
import type { Assembly } from '../../oscal/shape.js'
import { partId } from '../../oscal/uuid.js'
import { type Described, type Observation, type ObservedRow, observedRows } from '../section.js'

export const oscal: Observation = {
  at: 'agents',
  title: 'Agents',
  sentences: ({ summary }) => [`${counted(summary.agents, 'agent')}, of which ${summary.active_agents} active.`],
  list: { at: 'rows', rows: intervals },
}

/** Observations name agents as their subjects. */
export function components({ report, agents }: ReportData): Assembly[] {
  return agents.rows.map((agent, index) => ({
    uuid: partId(report.id, `component/agents.rows.${index}`),
    type: 'software',
    title: agent.name,
    description: [`An agent with ${counted(agent.steps, 'step')} in the period.`],
    props: propertiesOf(`agents.rows.${index}`, agent, { apart: 'governance.intervals' }),
    status: agent.active ? { state: 'operational' } : { state: 'other', remarks: ['Deactivated.'] },
  }))
}

/** The ids of the components by those of the agents. */
export function componentIds({ report, agents }: ReportData): Map<string, string> {
  const ids = agents.rows.map((agent, index) => [agent.agent_id, `component/agents.rows.${index}`] as const)
  return new Map(ids.reverse().map(([agent, path]) => [agent, partId(report.id, path)]))
}

function* intervals({ agents }: ReportData, at: string): Generator<ObservedRow> {
  for (const [index, agent] of agents.rows.entries()) {
    const described = (part: GovernanceInterval) => interval(agent, part)
    yield* observedRows(`${at}.${index}.governance.intervals`, agent.governance.intervals, described)
  }
}

const stateWords = { ungoverned: 'Ungoverned time', unknown: 'Unknown time', idle: 'Time without an engine' } as const

function interval({ name, agent_id }: AgentResult, { from, to, state, reason, steps }: GovernanceInterval): Described {
  const undecided = steps === undefined ? '' : ` ${sentence(counted(steps, 'step'))} without a decision.`
  return {
    title: `${stateWords[state]} of agent ${named(name)}`,
    description: [`From ${from} to ${to}: ${duration(secondsBetween(from, to))} (${reason}).${undecided}`],
    type: 'finding',
    agent_id,
  }
}

const secondsBetween = (from: string, to: string) =>
  Math.max(0, Math.floor((Date.parse(to) - Date.parse(from)) / 1_000) || 0)
