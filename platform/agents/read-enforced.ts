// When the platform had an enforced policy for agents: from assignments, and from policies that people write or change.

import { type Window, within } from '@svc/report'
import { isoTime } from '@svc/schemas'
import type { Transaction } from '../db/db.js'
import type { Scope } from '../db/scope.js'
import { enforcedSince, everAssigned, type VersionPeriod, versionsBetween } from '../policies/store/enforced.js'
import { type EnforcedVersion, enforcedVersions } from '../policies/store/policy-versions.js'
import { groupByAgent } from './group-by-agent.js'
import { type LevelChange, levelChangesAfter } from './store/levels.js'

/** A period up to a cut-off, of a few agents; times are ms since 1970. */
interface EnforcedQuery {
  readonly scope: Scope
  readonly tx: Transaction
  readonly agent_ids: readonly string[]
  readonly period: Window & { readonly size: number }
}

type OfAgent = Window & { readonly agent_id: string }

/** The windows of each agent; they may overlap. */
export async function readEnforced(query: EnforcedQuery): Promise<Map<string, Window[]>> {
  return groupByAgent([...(await fromAssignments(query)), ...(await fromWrittenPolicies(query))])
}

/** Each has about twenty policies. */
const versionsAtOnce = 50
const rowsAtOnce = 500

async function fromAssignments({ scope, tx, agent_ids, period }: EnforcedQuery): Promise<OfAgent[]> {
  const assigned = await everAssigned(scope, tx, agent_ids)
  const agents = new Map(assigned.map(({ id, agent_id }) => [id, agent_id]))
  const windows: OfAgent[] = []
  for (let after = { assignment_id: 0, number: 0 }; ; ) {
    const page = await versionsBetween(scope, tx, [...agents.keys()], rangeOf(period), after, versionsAtOnce)
    for (const { assignment_id, ...window } of await enforcedWindows(scope, tx, page, period.to))
      windows.push({ ...window, agent_id: agents.get(assignment_id) ?? '' })
    const last = page.at(-1)
    if (last === undefined || page.length < versionsAtOnce) return windows
    after = last
  }
}

function rangeOf({ from, to, size }: EnforcedQuery['period']) {
  return { from: isoTime(from), to: isoTime(to), size }
}

async function enforcedWindows(scope: Scope, tx: Transaction, versions: readonly VersionPeriod[], end: number) {
  const rows = versions.length === 0 ? [] : await enforcedSince(scope, tx, versions)
  const since = new Map(rows.map((row) => [`${row.assignment_id} ${row.from_index}`, row.since]))
  return versions.flatMap(({ assignment_id, from_index, from, until }) => {
    const enforced = since.get(`${assignment_id} ${from_index}`)
    return enforced === undefined ? [] : [{ assignment_id, from: Math.max(from, enforced), to: until ?? end }]
  })
}

async function fromWrittenPolicies(query: EnforcedQuery): Promise<OfAgent[]> {
  const versions = await readVersions(query)
  if (versions.length === 0) return []
  const isForLevel = versions.some(({ target_level }) => target_level !== null)
  const levels = isForLevel ? await readLevels(query) : new Map<string, LevelChange[]>()
  return versions.flatMap(({ target_agent, target_level, from, until }) => {
    const window = { from, to: until ?? query.period.to }
    return query.agent_ids
      .filter((agent_id) => target_agent === '' || target_agent === agent_id)
      .flatMap((agent_id) => {
        const spans = target_level === null ? [window] : spansAt(target_level, levels.get(agent_id) ?? [])
        return within(spans, [window]).map((span) => ({ ...span, agent_id }))
      })
  })
}

async function readVersions({ scope, tx, agent_ids, period }: EnforcedQuery): Promise<EnforcedVersion[]> {
  const all: EnforcedVersion[] = []
  for (let after = { target_agent: '', policy_id: 0, version: 0 }; ; ) {
    const page = await enforcedVersions(scope, tx, agent_ids, rangeOf(period), after, rowsAtOnce)
    all.push(...page)
    const last = page.at(-1)
    if (last === undefined || page.length < rowsAtOnce) return all
    after = last
  }
}

async function readLevels({ scope, tx, agent_ids, period }: EnforcedQuery): Promise<Map<string, LevelChange[]>> {
  const all: LevelChange[] = []
  for (let after = { agent_id: '', log_index: -1 }; ; ) {
    const page = await levelChangesAfter(scope, tx, agent_ids, after, period.size, rowsAtOnce)
    all.push(...page)
    const last = page.at(-1)
    if (last === undefined || page.length < rowsAtOnce) return groupByAgent(all)
    after = last
  }
}

/** When the level was in effect. */
function spansAt(level: string, changes: readonly LevelChange[]): Window[] {
  return changes.flatMap((change, index) =>
    change.level === level ? [{ from: change.at, to: changes[index + 1]?.at ?? Number.POSITIVE_INFINITY }] : [],
  )
}
