// Reads when agents were governed (docs/design/reports.md §2), a few agents at a time: no query returns more than 500 rows.

import type { GovernancePeriod, KnownInterval, Window } from '@svc/report'
import { governanceOf, type ReadGovernance } from '@svc/report'
import { parseTimestamp } from '@svc/schemas'
import type { Transaction } from '../db/db.js'
import type { Scope } from '../db/scope.js'
import { readByIndex } from '../db/sql.js'
import { groupByAgent } from './group-by-agent.js'
import { readEnforced } from './read-enforced.js'
import { type Activation, type AgentState, activationsAfter, agentStates } from './store/activations.js'
import { intervalsAfter } from './store/engines.js'

interface GovernanceQuery extends GovernancePeriod {
  readonly agent_ids: readonly string[]
}

const agentsAtOnce = 20
const rowsAtOnce = 500

/**
 * The enforcement on each of these agents, as far as it is known. The same query gives the same answer at any later time:
 * nothing that became known after the cut-off counts. Agents of other workspaces are left out.
 */
export async function readGovernance(
  scope: Scope,
  tx: Transaction,
  { agent_ids, ...period }: GovernanceQuery,
): Promise<Map<string, ReadGovernance>> {
  await readByIndex(tx)
  const activations = await readActivations(scope, tx)
  const found = new Map<string, ReadGovernance>()
  for (let index = 0; index < agent_ids.length; index += agentsAtOnce) {
    const few = agent_ids.slice(index, index + agentsAtOnce)
    await readFew({ scope, tx, agent_ids: few, period: periodOf(period) }, activations, found)
  }
  return found
}

interface Few {
  readonly scope: Scope
  readonly tx: Transaction
  readonly agent_ids: readonly string[]
  readonly period: Period
}

/** Up to the cut-off; times are ms since 1970. */
interface Period extends Window {
  readonly at: number
  readonly size: number
}

function periodOf({ from, to, cut_off }: GovernancePeriod): Period {
  const [begin = 0, end = 0, at = 0] = [from, to, cut_off.at].map((time) => parseTimestamp(time) ?? undefined)
  return { from: begin, to: Math.min(end, at), at, size: cut_off.size }
}

async function readFew(few: Few, activations: ReadonlyMap<string, Activation[]>, found: Map<string, ReadGovernance>) {
  const { scope, tx, agent_ids, period } = few
  const states = await agentStates(scope, tx, agent_ids)
  const enforced = await readEnforced(few)
  const intervals = await readIntervals(few)
  for (const state of states) {
    const { agent_id } = state
    const facts = {
      counted: countedWindows(state, activations.get(agent_id) ?? [], period),
      enforced: enforced.get(agent_id) ?? [],
      intervals: intervals.get(agent_id) ?? [],
      at: period.at,
    }
    found.set(agent_id, governanceOf(facts))
  }
}

/** When the agent was registered and active, in the period. */
function countedWindows({ created_at, active }: AgentState, changes: readonly Activation[], period: Period): Window[] {
  const windows: Window[] = []
  // The event before the first one that is kept was of the other kind.
  const isActive = changes[0] === undefined ? active : changes[0].kind === 'agent.deactivated'
  let since = isActive ? created_at : null
  for (const { kind, at } of changes.filter(({ log_index }) => log_index < period.size)) {
    if (kind === 'agent.deactivated' && since !== null) windows.push({ from: since, to: at })
    since = kind === 'agent.deactivated' ? null : at
  }
  if (since !== null) windows.push({ from: since, to: period.to })
  const clipped = windows.map(({ from, to }) => ({ from: Math.max(from, period.from), to: Math.min(to, period.to) }))
  return clipped.filter(({ from, to }) => from < to)
}

/** Of all agents: there are few, and an agent's own events are mostly others. */
async function readActivations(scope: Scope, tx: Transaction): Promise<Map<string, Activation[]>> {
  const all: Activation[] = []
  for (let after = { kind: '', log_index: 0 }; ; ) {
    const page = await activationsAfter(scope, tx, after, rowsAtOnce)
    all.push(...page)
    const last = page.at(-1)
    if (last === undefined || page.length < rowsAtOnce) break
    after = last
  }
  return groupByAgent(all.sort((a, b) => a.log_index - b.log_index))
}

/** Of the intervals before the period only those that count in it are read. */
async function readIntervals(few: Few): Promise<Map<string, KnownInterval[]>> {
  return groupByAgent([...(await readPart(few, 'before')), ...(await readPart(few, 'after'))])
}

/** Agents with more intervals than one query reads are read on until they have no more. */
async function readPart({ scope, tx, agent_ids, period }: Few, part: 'before' | 'after'): Promise<KnownInterval[]> {
  const all: KnownInterval[] = []
  let open = agent_ids.map((agent_id) => ({ agent_id, after: Number.MIN_SAFE_INTEGER }))
  while (open.length > 0) {
    const limit = Math.floor(rowsAtOnce / open.length)
    const page = groupByAgent(await intervalsAfter(scope, tx, open, part, period, limit))
    for (const own of page.values()) all.push(...own)
    open = [...page].flatMap(([agent_id, own]) =>
      own.length < limit ? [] : [{ agent_id, after: own.at(-1)?.log_index ?? 0 }],
    )
  }
  return all
}
