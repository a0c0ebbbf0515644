// From the finished tally to the content of a report.

import { maxAgents, maxIncidents } from '../content/bounds.js'
import type { TableFacts } from '../content/messages.js'
import type { AgentResult, ApprovalResult, BoundedRows, Integrity, ReportData } from '../content/report-data.js'
import type { Governance } from '../governance/governance.js'
import { listedGovernance } from './coverage.js'
import { incidentResult, type Listed } from './incidents/incident-rows.js'
import { incidentNumbers } from './incidents/incidents.js'
import { addTo, byText, counted } from './listing.js'
import { membersAt } from './members.js'
import { shownPeople } from './people.js'
import type { TallyState } from './state.js'
import type { AgentTally, ApprovalTally } from './steps/steps.js'
import { holdsAt, organizationAt, retentionDaysAt } from './workspace.js'

export interface Details {
  readonly tables: TableFacts
  readonly governance: ReadonlyMap<string, Governance>
  /** The listed incidents, most important first. */
  readonly ranked: readonly string[]
  readonly listed: ReadonlyMap<string, Listed>
  /** Approvers by task and step of the gate. */
  readonly approvers: ReadonlyMap<string, string | null>
}

export function reportOf(state: TallyState, details: Details): ReportData {
  const { work, buckets, entries, workspace, agents, incidents, unrecorded } = state
  const { tables } = details
  const { cut_off } = work.scope
  const { head } = work
  const ids = agents.ids()
  const numbers = incidentNumbers(incidents.all)
  const { steps } = entries
  const { enforced, observed, waived, ...totals } = steps.totals
  const ungoverned = ids.filter((id) => (details.governance.get(id)?.ungoverned_seconds ?? 0) > 0)
  for (const { in_period, counts_at } of incidents.all.values())
    if (in_period) buckets.count(counts_at ?? 0, 'incidents')
  const oversight = {
    approvals: approvalsOf(state, details),
    changes: state.changes.listing(),
    members: membersAt(cut_off, head.as_of, workspace, tables.members),
    events: counted(eventsOf(state)),
  }
  const data = {
    report: { ...head, organization: organizationAt(cut_off, workspace, tables) },
    summary: {
      agents: ids.length,
      active_agents: steps.agents.size,
      ungoverned_agents: ungoverned.length,
      ...totals,
      ...steps.claims.totals(),
      violations: enforced + observed + waived,
      enforced,
      observed,
      waived,
      ...numbers.totals,
      ...unrecorded.totals(),
    },
    integrity: integrityOf(state, tables),
    activity: { ...buckets.activity(), step_types: counted(steps.types) },
    agents: agentsOf(state, ids, details),
    policies: state.policies.finish(unrecorded.policies()),
    waivers: state.waivers.listing(agents.facts),
    policy_changes: state.policy_changes.listing(agents.nameOf),
    incidents: {
      counts: numbers.counts,
      effects: numbers.effects,
      time_to_review: numbers.time_to_review,
      time_to_resolve: numbers.time_to_resolve,
      list: incidentsOf(state, details),
    },
    oversight,
    retention: {
      days: retentionDaysAt(cut_off, workspace, tables),
      holds: holdsAt(cut_off, head.period, workspace, isShownTask(work.own_tasks)),
      ...state.removals.finish(),
    },
  }
  return { ...data, oversight: { ...oversight, people: shownPeople(data, tables.people) } }
}

function integrityOf({ work, entries, problems, policies }: TallyState, tables: TableFacts): Integrity {
  const { first, end, cut_off } = work.scope
  const { tree, missing, rejudge, types } = entries
  const removed = missing.finish()
  const rejudged = rejudge.finish(policies.isMissing)
  const list = problems.listing()
  return {
    verdict: list.rows.length === 0 ? 'whole' : 'problems',
    entries: { first, end },
    cut_off,
    checkpoint: work.checkpoint,
    checkpoints: tables.checkpoints,
    leaves: counted(types),
    rehashed: tree.rehashed(),
    ...removed,
    problems: list,
    rejudge: rejudged,
  }
}

/** The agents with the most steps, by name. */
function agentsOf({ agents, entries, incidents }: TallyState, ids: readonly string[], { governance }: Details) {
  const opened = new Map<string, number>()
  for (const { agent_id, in_period } of incidents.all.values())
    if (in_period && agent_id !== null) addTo(opened, agent_id)
  const stepsOf = (id: string) => entries.steps.agents.get(id)?.steps ?? 0
  const all = [...new Set([...ids, ...entries.steps.agents.keys()])]
  const shown = all.sort((a, b) => stepsOf(b) - stepsOf(a) || byText(a, b)).slice(0, maxAgents)
  const listed = listedGovernance(shown, governance)
  const rows = shown.map((agent_id, at): AgentResult => {
    const own: Partial<AgentTally> = entries.steps.agents.get(agent_id) ?? {}
    const { tasks = 0, steps = 0, violations = 0, first_step_at = null, last_step_at = null } = own
    return {
      agent_id,
      ...agents.facts(agent_id),
      tasks,
      steps,
      undecided_steps: entries.steps.claims.undecidedOf(agent_id),
      violations,
      incidents: opened.get(agent_id) ?? 0,
      first_step_at,
      last_step_at,
      governance: listed[at] as Governance,
    }
  })
  rows.sort((a, b) => byText(a.name, b.name) || byText(a.agent_id, b.agent_id))
  return { rows, more: all.length - rows.length }
}

function incidentsOf({ incidents, agents }: TallyState, { ranked, listed }: Details): ReportData['incidents']['list'] {
  const rows = ranked.slice(0, maxIncidents).flatMap((id) => {
    const tally = incidents.all.get(id)
    const one = listed.get(id)
    return tally === undefined || one === undefined ? [] : incidentResult(id, one, tally, agents.nameOf)
  })
  return { rows, more: incidents.all.size - rows.length }
}

function approvalsOf({ entries, agents, policies }: TallyState, { approvers }: Details): BoundedRows<ApprovalResult> {
  const { rows, more } = entries.steps.approvals.listing()
  const shown = rows
    .toSorted((a, b) => byText(a.at, b.at))
    .map((row): ApprovalResult => {
      const { policy_id, policy_set, name, at, agent_id, task_id, step, outcome, approved_by_step } = row
      return {
        at,
        agent_id,
        agent_name: agents.nameOf(agent_id),
        task_id,
        step,
        policy_name: name ?? policies.nameOf(policy_set, policy_id),
        outcome,
        approved_by_step,
        approver: approvers.get(gateKey(row)) ?? null,
      }
    })
  return { rows: shown, more }
}

/** The gate of an approval. */
export function gateKey({ task_id, approved_by_step }: Pick<ApprovalTally, 'task_id' | 'approved_by_step'>): string {
  return `${approved_by_step} ${task_id}`
}

function eventsOf({ changes, incidents }: TallyState): Map<string, number> {
  return new Map([...changes.counts, ...incidents.events()])
}

/** Holds of tasks of other agents are not shown. */
function isShownTask(own_tasks: readonly string[] | null) {
  const shown = own_tasks === null ? null : new Set(own_tasks)
  return (task_id: string | null) => shown === null || task_id === null || shown.has(task_id)
}
