// The parts of a tally, and how leaves that are not steps reach them.
import { isMap, parseJson } from '@svc/proof'
import type { LeafRow, ReportWork } from '../content/messages.js'
import type { Severity } from '../content/report-data.js'
import { createAgents } from './agents.js'
import { createChanges } from './changes.js'
import { createEngineStates } from './engine-states.js'
import type { EntryParts } from './entries.js'
import { createPolicies } from './in-force/policies.js'
import { createPolicyChanges } from './in-force/policy-changes.js'
import { createWaivers } from './in-force/waivers.js'
import { effectIn, movedTo, openedIn } from './incidents/incident-rows.js'
import { createIncidents } from './incidents/incidents.js'
import { createOpeners, type Openers } from './incidents/openers.js'
import { type EventLeaf, eventOf, type OpenedLeaf, readLeaf, textOf } from './leaves.js'
import { createPeople } from './people.js'
import { createPeriod, type Period } from './period.js'
import { createProblems } from './problems.js'
import { createMissing, createRemovalLists } from './removals.js'
import { createBuckets } from './steps/buckets.js'
import { createRejudgeTally } from './steps/rejudge.js'
import { createStepTally } from './steps/steps.js'
import { createTreeCheck } from './tree.js'
import { createUnrecorded } from './unrecorded.js'

export type TallyState = ReturnType<typeof createState>

export function createState(work: ReportWork) {
  const { period, agent_ids, as_of } = work.head
  const { cut_off } = work.scope
  const chosen = agent_ids === null ? null : new Set(agent_ids)
  const problems = createProblems()
  const { report } = problems
  const times = createPeriod(work.head)
  const openers = createOpeners()
  const buckets = createBuckets(...activityOf(work))
  const steps = createStepTally(chosen, buckets, times)
  const waivers = createWaivers(period.from)
  const policies = createPolicies(steps.sets, waivers, report)
  const agents = createAgents(cut_off, as_of, chosen)
  const incidents = createIncidents(chosen, times, policies.opened)
  const changes = createChanges(chosen)
  const policy_changes = createPolicyChanges(chosen)
  const people = createPeople()
  const unrecorded = createUnrecorded(chosen)
  const removals = createRemovalLists(work.own_tasks)
  const missing = createMissing(cut_off, report)
  const engines = createEngineStates(report)
  const types = new Map<string, number>()
  /** Events about the workspace, its members, its retention and its holds, in any order. */
  const workspace: EventLeaf[] = []
  const takers = { removals, incidents, people, changes, policy_changes, unrecorded, engines }
  const leaf = leafTaker(takers, times, openers)
  const entries: EntryParts = {
    times,
    receipts: work.receipts,
    openers,
    tree: createTreeCheck(work, report),
    steps,
    rejudge: createRejudgeTally(agents.factsFrom),
    missing,
    report,
    types,
    leaf,
  }
  return {
    work,
    chosen,
    problems,
    engines,
    buckets,
    policies,
    waivers,
    policy_changes,
    agents,
    incidents,
    changes,
    people,
    unrecorded,
    removals,
    workspace,
    entries,
  }
}

type Takers = Pick<
  TallyState,
  'removals' | 'incidents' | 'people' | 'changes' | 'policy_changes' | 'unrecorded' | 'engines'
>

/** Gives each leaf that is not a step to the parts that count it: incidents by the steps that opened them, others by their receipt. */
function leafTaker(
  { removals, incidents, people, changes, policy_changes, unrecorded, engines }: Takers,
  { placeOf }: Period,
  openers: Openers,
) {
  return (leaf: OpenedLeaf) => {
    openers.leaf()
    const opened = Date.parse(leaf.received_at)
    const isInPeriod = placeOf(opened) === 'in'
    if (isInPeriod) removals.add(leaf)
    const incident = openedIn(leaf)
    if (incident !== null) {
      const counts_at = (incident.step === null ? null : openers.timeOf(incident)) ?? opened
      incidents.open(leaf.subject_id, incident, { opened, counts_at })
    }
    const event = eventOf(leaf)
    if (event === null) return
    if (isInPeriod) for (const part of [changes, policy_changes, unrecorded]) part.add(event)
    people.note(event)
    if (event.kind === 'engine.state') engines.event(event.log_index)
    if (event.kind === 'incident.opened') {
      const { agent_id, severity, task_id, policy_id } = event.data
      const at = Date.parse(event.at)
      const counts_at = openers.timeOf({ policy_id: Number(policy_id), task_id: textOf(task_id), step: null }) ?? at
      const known = [textOf(agent_id) ?? '', (textOf(severity) ?? 'low') as Severity] as const
      incidents.opening(event.subject_id, ...known, { opened: at, counts_at })
    }
    noteIncident(incidents, event, isInPeriod)
  }
}

/** The part of the period in which something can count, up to the cut-off; ms since 1970. */
function activityOf({ head }: ReportWork): [from: number, to: number] {
  const { period, by, as_of, log_began } = head
  if (log_began === null) return [0, 0]
  // Steps can have occurred before the log began. The entries of the millisecond of the checkpoint belong to it.
  return [
    by === 'occurred' ? Date.parse(period.from) : Math.max(Date.parse(period.from), Date.parse(log_began)),
    by === 'occurred' ? Date.parse(period.to) : Math.min(Date.parse(period.to), Date.parse(as_of) + 1),
  ]
}

/** Takes an event of an incident, in the period or after it. */
export function noteIncident(incidents: TallyState['incidents'], event: EventLeaf, is_in_period: boolean): void {
  const to = movedTo(event)
  const at = Date.parse(event.at)
  if (to !== null) incidents.move(event.subject_id, to, at, is_in_period, event.actor_kind === 'system')
  incidents.effect(event.subject_id, effectIn(event))
  if (event.kind === 'incident.noted' && is_in_period) incidents.note(event.subject_id)
}

/** Opens leaves from outside the period; reports and leaves out those that are altered. */
export function openAll({ problems, people }: TallyState, lines: readonly string[]): OpenedLeaf[] {
  return lines.flatMap((line) => {
    const row = parseJson(line) as LeafRow
    const opened = readLeaf(row)
    const event = opened === 'altered' ? null : eventOf(opened)
    if (event !== null) people.note(event)
    if (opened !== 'altered') return opened
    problems.report('leaf_altered', row[0], `the content of entry ${row[0]} does not match its record`)
    return []
  })
}

/** Takes an event that shows the state of the workspace or of an agent. */
export function noteFact({ agents, workspace, problems, work }: TallyState, event: EventLeaf): void {
  if (event.kind.startsWith('agent.')) agents.event(event)
  else workspace.push(event)
  const { kind, log_index, data } = event
  const { first, end, cut_off } = work.scope
  if (kind !== 'log.restarted' || log_index >= cut_off || !isMap(data)) return
  if (data.accepted_changed_entries === true)
    problems.report(
      'entries_changed',
      log_index,
      'the log began a new epoch with entries that differ from the signed ones',
    )
  else if (Number(data.old_size) > log_index && log_index >= first && log_index <= end)
    problems.report(
      'entries_lost',
      log_index,
      `the log began a new epoch at entry ${log_index}: the earlier one had signed ${String(data.old_size)} entries`,
    )
}
