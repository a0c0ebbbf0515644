// What was observed: one observation for each section of the content, and one for each row that an auditor looks at by itself.

import { counted, duration, effectWord, sentence } from '../content/figures.js'
import type {
  AgentResult,
  ApprovalResult,
  IncidentResult,
  PolicyChangeResult,
  PolicyResult,
  ReportData,
  WaiverResult,
} from '../content/report-data.js'
import { named } from '../controls/sentences.js'
import type { GovernanceInterval } from '../governance/governance.js'
import { propertiesOf } from './properties.js'
import { schemaTime } from './schema-time.js'
import type { Assembly } from './shape.js'
import { partId } from './uuid.js'

interface Observed {
  /** The place in the content. */
  readonly at: string
  readonly part: object
  readonly title: string
  readonly description: readonly string[]
  readonly type?: 'finding'
  readonly agent_id?: string
}

/** The id of the observation of a place in the content. */
export const observationId = (report: string, at: string) => partId(report, `observation/${at}`)

/** Sections first, then rows in the order of the content. */
export function* observations(data: ReportData): Generator<Assembly> {
  const { id, as_of } = data.report
  const components = componentIds(data)
  const origins = [{ actors: [{ type: 'assessment-platform', 'actor-uuid': partId(id, 'platform') }] }]
  const collected = schemaTime(as_of)
  for (const { at, part, title, description, type, agent_id } of observed(data)) {
    const component = agent_id === undefined ? undefined : components.get(agent_id)
    yield {
      uuid: observationId(id, at),
      title,
      description,
      props: propertiesOf(at, part),
      methods: ['EXAMINE'],
      types: type === undefined ? [] : [type],
      origins,
      subjects: component === undefined ? [] : [{ 'subject-uuid': component, type: 'component' }],
      collected,
    }
  }
}

/** Agents as components: observations name them as their subjects. */
export function components({ report, agents }: ReportData): Assembly[] {
  return agents.rows.map((agent, index) => ({
    uuid: partId(report.id, `component/agents.rows.${index}`),
    type: 'software',
    title: agent.name,
    description: [`An agent with ${counted(agent.steps, 'step')} in the period.`],
    props: propertiesOf(`agents.rows.${index}`, agent),
    status: agent.active ? { state: 'operational' } : { state: 'other', remarks: ['Deactivated.'] },
  }))
}

function componentIds({ report, agents }: ReportData): Map<string, string> {
  const ids = agents.rows.map((agent, index) => [agent.agent_id, `component/agents.rows.${index}`] as const)
  return new Map(ids.reverse().map(([agent, path]) => [agent, partId(report.id, path)]))
}

function* observed(data: ReportData): Generator<Observed> {
  const { integrity, agents, policies, waivers, policy_changes, incidents, oversight } = data
  yield* sections(data)
  yield* rows('integrity.problems.rows', integrity.problems.rows, problem)
  for (const [index, agent] of agents.rows.entries()) {
    const one = (part: GovernanceInterval) => interval(agent, part)
    yield* rows(`agents.rows.${index}.governance.intervals`, agent.governance.intervals, one)
  }
  yield* rows('policies.rows', policies.rows, policy)
  yield* rows('waivers.rows', waivers.rows, waiver)
  yield* rows('policy_changes.rows', policy_changes.rows, policyChange)
  yield* rows('incidents.list.rows', incidents.list.rows, incident)
  yield* rows('oversight.approvals.rows', oversight.approvals.rows, approval)
}

type Described = Omit<Observed, 'at' | 'part'>

function* rows<T extends object>(
  at: string,
  parts: readonly T[],
  describe: (part: T) => Described,
): Generator<Observed> {
  for (const [index, part] of parts.entries()) yield { at: `${at}.${index}`, part, ...describe(part) }
}

function sections(data: ReportData) {
  const { summary, integrity, activity, agents, policies, incidents, oversight, retention } = data
  const section = (at: string, part: object, title: string, ...description: string[]): Observed => ({
    at,
    part,
    title,
    description: description.map(sentence),
  })
  const { verdict, rehashed, cut_off } = integrity
  return [
    section(
      'integrity',
      integrity,
      'Integrity of the record',
      verdict === 'whole' ? 'The record is whole.' : 'The verification of the record found problems.',
      `${counted(rehashed, 'record')} hashed again; the signed tree has ${counted(cut_off, 'entry', 'entries')}.`,
    ),
    section(
      'activity',
      activity,
      'Activity',
      `${counted(summary.steps, 'step')} in ${counted(summary.tasks, 'task')}.`,
    ),
    section(
      'agents',
      agents,
      'Agents',
      `${counted(summary.agents, 'agent')}, of which ${summary.active_agents} active.`,
    ),
    section('policies', policies, 'Policies', `${counted(summary.violations, 'violation')} of policies.`),
    ...policyHistory(data).map(([at, part, title, text]) => section(at, part, title, text)),
    section(
      'incidents',
      incidents,
      'Incidents',
      `${counted(summary.incidents_opened, 'incident')} opened in the period.`,
    ),
    section(
      'oversight',
      oversight,
      'Human oversight and access',
      `${counted(summary.approvals_asked, 'approval')} asked for, ${summary.approvals_given} given.`,
    ),
    section('retention', retention, 'Retention', `Entries are kept for ${counted(retention.days, 'day')}.`),
  ]
}

/** Waivers and changes of policies. */
function policyHistory({ waivers, policy_changes: changes }: ReportData) {
  const [waived, changed] = [waivers, changes].map(({ rows, more }) => rows.length + more)
  return [
    ['waivers', waivers, 'Waivers', `${counted(waived ?? 0, 'waiver')} of policies in effect.`],
    ['policy_changes', changes, 'Changes of policies', `${counted(changed ?? 0, 'change')} of policies.`],
  ] as const
}

function problem({ code, message }: ReportData['integrity']['problems']['rows'][number]): Described {
  return { title: `Problem of the record: ${named(code)}`, description: [message], type: 'finding' }
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

function policy({ name, rule_type, mode, steps, applied, agents, violations, unrecorded }: PolicyResult): Described {
  const effect = mode === 'enforce' ? 'enforced' : 'observed only'
  const evaluated = `${sentence(counted(steps, 'step'))} of ${counted(agents, 'agent')} evaluated, of which it applied to ${applied}: ${counted(violations, 'violation')}.`
  const declared =
    unrecorded === 0
      ? ''
      : ` Declared by local engines: ${counted(unrecorded, 'violation')} by steps that were never recorded.`
  const text = `Rule ${named(rule_type)}, ${effect}. ${evaluated}${declared}`
  return { title: `Policy ${named(name)}`, description: [text] }
}

function waiver({ policy_name, agent_id, agent_name, until, used, reason, approved_by }: WaiverResult): Described {
  const stated = reason === null ? 'The text of the manifest is not stored.' : `As the manifest states: ${reason}`
  const by = approved_by === null ? [] : [`As the manifest states, approved by ${named(approved_by)}.`]
  return {
    title: `Waiver of policy ${named(policy_name)} for agent ${named(agent_name)}`,
    description: [`In effect until ${until}: ${counted(used, 'violation')} waived.`, stated, ...by],
    agent_id,
  }
}

function policyChange({ kind, at, actor, manifest, effect, policies, agents }: PolicyChangeResult): Described {
  const [only] = policies
  const what = manifest === null ? (only?.name ?? kind) : manifest.path
  const [agent] = agents.length === 1 ? agents : []
  const by = `Changed at ${at} by ${named(actor)} (${kind}): ${effect === 'none' ? 'no effect' : effect}.`
  return {
    title: `Change of policies: ${named(what)}`,
    description: [by],
    ...(agent !== undefined && { agent_id: agent.agent_id }),
  }
}

function incident({
  severity,
  state,
  policy_name,
  agent_id,
  agent_name,
  opened_at,
  effect,
  reason,
  history,
}: IncidentResult): Described {
  const opened = `Opened at ${opened_at} for agent ${named(agent_name)}, severity ${severity}.${effect === null ? '' : ` Step: ${effectWord[effect]}.`}`
  const last = history.at(-1)
  const by = last === undefined ? '' : ` The last one at ${last.at} by ${named(last.by)}.`
  const answered = `State at the cut-off: ${state}; ${counted(history.length, 'change')} of its state.${by}`
  return {
    title: `Incident of policy ${named(policy_name)}`,
    description: [reason, opened, answered],
    type: 'finding',
    agent_id,
  }
}

function approval({ at, agent_id, agent_name, step, policy_name, outcome }: ApprovalResult): Described {
  return {
    title: `Approval ${outcome} for a step of agent ${named(agent_name)}`,
    description: [`Policy ${named(policy_name)} asked for an approval of step ${step} at ${at}: ${outcome}.`],
    agent_id,
  }
}

const secondsBetween = (from: string, to: string) =>
  Math.max(0, Math.floor((Date.parse(to) - Date.parse(from)) / 1_000) || 0)
