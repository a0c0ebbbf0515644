// The conversation of the thread: takes each message, and answers with what the tally misses and with the content of the report.

import { maxIncidents } from '../content/bounds.js'
import type { IncidentRow, ReportMessage, ReportWork, TableFacts, Wanted, WantedForLists } from '../content/messages.js'
import type { ReportData } from '../content/report-data.js'
import { withUndecided } from '../governance/agent-governance.js'
import type { Governance } from '../governance/governance.js'
import { heldGovernance } from './coverage.js'
import { readPage } from './entries.js'
import { type Listed, listedIncidents } from './incidents/incident-rows.js'
import { rankedIncidents } from './incidents/incidents.js'
import { eventOf } from './leaves.js'
import { gateKey, reportOf } from './report.js'
import { createState, noteFact, noteIncident, openAll, type TallyState } from './state.js'
import { approverIn } from './steps/approver.js'

/** The answers to the messages. */
export type TallyAnswer = null | Wanted | WantedForLists | readonly string[] | ReportData

/** Answers every message except `render`, which needs the formats. */
export type Tally = (message: Exclude<ReportMessage, { kind: 'render' }>) => TallyAnswer

type Answers = { readonly [K in Exclude<ReportMessage['kind'], 'render'>]: (message: MessageOf<K>) => unknown }
type MessageOf<K> = Extract<ReportMessage, { readonly kind: K }>

export function createTally(work: ReportWork): Tally {
  const state = createState(work)
  if (!work.is_signed)
    state.problems.report('checkpoint_unsigned', null, 'no key of the log signed the checkpoint of the cut-off')
  const answers: Answers = { ...entryAnswers(state), ...lookupAnswers(state), ...listAnswers(state) }
  return (message) => {
    const answer = answers[message.kind] as (message: ReportMessage) => unknown
    return (answer(message) ?? null) as TallyAnswer
  }
}

/** Of the entries of the period, and of what they miss. */
function entryAnswers(state: TallyState): Pick<Answers, 'neighbours' | 'entries' | 'wanted' | 'tiles' | 'removals'> {
  const { tree, missing } = state.entries
  return {
    neighbours: ({ before, after }) => compareNeighbours(state, before, after),
    entries: ({ page }) => readPage(state.entries, page),
    wanted: () => wantedOf(state),
    tiles: ({ tiles }) => {
      for (const { index, hash } of tiles) tree.compareBlock(index, hash)
    },
    removals: ({ leaves }) => {
      for (const leaf of openAll(state, leaves)) missing.authorize(leaf)
    },
  }
}

/** Of agents, settings, policies and incidents. */
function lookupAnswers(
  state: TallyState,
): Pick<
  Answers,
  'facts' | 'earlier' | 'unfound' | 'agents' | 'policy_sets' | 'policies' | 'waivers' | 'manifest' | 'incidents'
> {
  const { agents: known, policies: results } = state
  return {
    facts: ({ leaves }) => {
      for (const leaf of openAll(state, leaves)) {
        const event = eventOf(leaf)
        if (event !== null) noteFact(state, event)
      }
    },
    earlier: ({ incidents }) => {
      for (const [id, at_cut_off] of incidents) state.incidents.earlier(id, at_cut_off)
    },
    unfound: ({ indexes }) => {
      for (const at of indexes)
        state.problems.report(
          'event_missing',
          at,
          `the event of entry ${at} is missing from the audit trail, or altered there`,
        )
    },
    agents: ({ agents }) => {
      for (const row of agents) known.row(row)
    },
    policy_sets: ({ bodies }) => {
      for (const { digest, body } of bodies) results.expand(digest, body)
    },
    policies: ({ policies }) => {
      for (const source of policies) results.learn(source)
    },
    waivers: ({ began }) => state.waivers.began(began),
    manifest: ({ sha, text }) => state.waivers.text(sha, text),
    incidents: ({ leaves, rows }) => learnIncidents(state, leaves, rows),
  }
}

/** Of the lists, and the report itself. */
function listAnswers(
  state: TallyState,
): Pick<
  Answers,
  'wanted_for_lists' | 'wanted_people' | 'listed' | 'gates' | 'engine_states' | 'governance' | 'tables' | 'data'
> {
  const governance = new Map<string, Governance>()
  const approvers = new Map<string, string | null>()
  const listed = new Map<string, Listed>()
  let ranked: readonly string[] = []
  let known = 1
  let tables: TableFacts | null = null
  let data: ReportData | null = null
  return {
    wanted_for_lists: () => {
      ranked = rankedIncidents(state.incidents.all, state.chosen !== null)
      const wanted = wantedForLists(state, ranked)
      known = wanted.agents.length
      return wanted
    },
    wanted_people: () => state.people.wanted(),
    listed: ({ leaves, rows }) => {
      for (const [id, one] of listedIncidents(openAll(state, leaves), rows)) listed.set(id, one)
    },
    gates: ({ gates }) => {
      for (const gate of gates) {
        const { task_id, step: approved_by_step, log_index } = gate
        const found = approverIn(gate)
        if (found === 'altered')
          state.problems.report(
            'payload_altered',
            log_index,
            `the gate of entry ${log_index} does not match its record`,
          )
        else approvers.set(gateKey({ task_id, approved_by_step }), found.name)
      }
    },
    engine_states: ({ rows, lost }) => {
      state.engines.compare(rows)
      state.engines.lost(lost)
    },
    governance: ({ agents }) => {
      const { undecided } = state.entries.steps.claims
      for (const [agent_id, one] of agents)
        governance.set(agent_id, heldGovernance(withUndecided(one, undecided.get(agent_id) ?? []), known))
    },
    tables: (message) => {
      state.engines.finish()
      tables = message.tables
    },
    data: () => {
      if (tables === null) throw new Error('the tables were not given')
      data ??= reportOf(state, { tables, governance, ranked, listed, approvers })
      return data
    },
  }
}

/** The entries beside the period show that none of it is left out. */
function compareNeighbours({ work, problems }: TallyState, before: string | null, after: string | null): void {
  const { first, end } = work.scope
  const { from, to } = work.receipts
  if (before !== null && receivedAt(before) >= from)
    problems.report('period_mismatch', first - 1, `entry ${first - 1} is of the period, and is not in its range`)
  if (after !== null && to !== null && receivedAt(after) < to)
    problems.report('period_mismatch', end, `entry ${end} is of the period, and is not in its range`)
}

function receivedAt(record: string): string {
  return /"received_at":"([^"]*)"/.exec(record)?.[1] ?? ''
}

/** Moves after the period and before the cut-off, and openings that the entries do not show. */
function learnIncidents(state: TallyState, leaves: readonly string[], rows: readonly IncidentRow[]): void {
  const { incidents, work } = state
  const opened = openAll(state, leaves)
  for (const [id, { opened: own }] of listedIncidents(
    opened.filter(({ type }) => type === 'incident'),
    rows,
  ))
    if (own !== null) incidents.learn(id, own.incident, Date.parse(own.at))
  for (const leaf of opened) {
    const event = eventOf(leaf)
    if (event !== null && leaf.log_index >= work.scope.end) noteIncident(incidents, event, false)
  }
}

function wantedOf({ incidents, entries }: TallyState): Wanted {
  incidents.forgetEnded()
  return {
    incidents: [...incidents.all.keys()],
    openings: incidents.wanted(),
    digests: [...new Set([...entries.steps.sets.keys(), ...entries.rejudge.policySets()])],
    removals: entries.missing.any(),
    blocks: entries.tree.finish(),
  }
}

function wantedForLists(state: TallyState, ranked: readonly string[]): WantedForLists {
  const { agents, policies, entries, waivers } = state
  const gates = entries.steps.approvals.rows.flatMap(({ task_id, approved_by_step: step }) =>
    step === null ? [] : [{ task_id, step }],
  )
  return {
    incidents: ranked.slice(0, maxIncidents),
    policies: policies.wanted(),
    gates,
    agents: agents.ids(),
    waivers: waivers.wanted(),
  }
}
