// Feeds the thread with what it needs besides the entries of the period.

import type { Cut, ReportAnswer, ReportMessage, TableFacts, Wanted, WantedForLists } from '@svc/report'
import { namesOfPeopleUnscoped } from '../../access/store/people.js'
import { type Database, withUnscopedTransaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import type { Thread } from '../../jobs/thread.js'
import { readText } from '../../policies/store/manifest-texts.js'
import { readEngineEvents, readEngineStates, type StatePlace } from './engine-states-store.js'
import {
  type Numbered,
  readAgents,
  readEarlierIncidents,
  readEvents,
  readGates,
  readIncidentRows,
  readMoves,
  readOpenings,
  readPolicySets,
  readPolicySources,
  readRemovals,
  readUnfound,
  readWaiverBegins,
} from './facts-store.js'
import { partsOf, type Read } from './reading.js'
import { readTiles } from './tree-store.js'

export type ReportThread = Thread<ReportMessage, ReportAnswer>

export interface Feeding {
  readonly read: Read
  readonly scope: Scope
  readonly thread: ReportThread
}

/** Rows of a page of a list; each has some kilobytes. */
const perPage = 200
/** Policy sets have up to some hundred kilobytes each. */
const setsPerPage = 4

/** The events that show agents, members and settings: also those after the cut-off, which show what was before them. */
const factKinds = [
  ...['registered', 'updated', 'risk_confirmed', 'deactivated', 'reactivated'].map((name) => `agent.${name}`),
  ...['became', 'left', 'removed', 'role_changed'].map((name) => `member.${name}`),
  ...['workspace.created', 'workspace.promoted', 'retention.changed', 'hold.placed', 'hold.released', 'log.restarted'],
]

/** Events and agents, before the entries. */
export async function feedFacts({ read, scope, thread }: Feeding): Promise<void> {
  for (const kind of factKinds) {
    const page = (after: number) => read((tx) => readEvents(scope, tx, kind, after, perPage))
    await feedLines(page, (leaves) => thread.ask({ kind: 'facts', leaves }))
  }
  for (let after: string | null = ''; after !== null; ) {
    const from: string = after
    const agents = await read((tx) => readAgents(scope, tx, from, perPage))
    await thread.ask({ kind: 'agents', agents })
    after = agents.length < perPage ? null : (agents.at(-1)?.agent_id ?? null)
  }
}

/** Rows of the smallest columns only. */
const perCheck = 1000

/** Incidents from before the period without an end at the cut-off, before the entries. */
export async function feedEarlierIncidents({ read, scope, thread }: Feeding, cut: Cut): Promise<void> {
  for (let after: number | null = -1; after !== null; ) {
    const from: number = after
    const { open, next } = await read((tx) => readEarlierIncidents(scope, tx, from, cut, perCheck))
    if (open.length > 0) await thread.ask({ kind: 'earlier', incidents: open })
    after = next
  }
}

/** Leaves of events before the cut-off that the others reads do not find. */
export async function feedUnfound({ read, scope, thread }: Feeding, { cut_off }: Cut): Promise<void> {
  for (let after: number | null = -1; after !== null; ) {
    const from: number = after
    const { unfound, next } = await read((tx) => readUnfound(scope, tx, from, cut_off, perCheck))
    if (unfound.length > 0) await thread.ask({ kind: 'unfound', indexes: unfound })
    after = next
  }
}

/** Reads the states that engines reported before the cut-off, and their events outside of the period that lack a row. After the entries. */
export async function feedEngineStates({ read, scope, thread }: Feeding, { first, end, cut_off }: Cut): Promise<void> {
  let place: StatePlace | null = { agent_id: '', log_index: Number.MIN_SAFE_INTEGER }
  while (place !== null) {
    const from: StatePlace = place
    const rows = await read((tx) => readEngineStates(scope, tx, from, cut_off, perPage))
    await thread.ask({ kind: 'engine_states', rows, lost: [] })
    place = rows.length < perPage ? null : (rows.at(-1) ?? null)
  }
  for (let after: number | null = -1; after !== null; ) {
    const from: number = after
    const events = await read((tx) => readEngineEvents(scope, tx, from, cut_off, perPage))
    const lost = events.flatMap(({ log_index: at, has_row }) => (has_row || (at >= first && at < end) ? [] : at))
    if (lost.length > 0) await thread.ask({ kind: 'engine_states', rows: [], lost })
    after = events.length < perPage ? null : (events.at(-1)?.log_index ?? null)
  }
}

/** The names of the people that the leaves of the workspace name, whose accounts belong to no workspace. After every leaf. */
export async function readPeople({ thread }: Feeding, db: Database): Promise<TableFacts['people']> {
  const ids = (await thread.ask({ kind: 'wanted_people' })) as readonly string[]
  const people: TableFacts['people'][number][] = []
  for (const some of partsOf(ids, perPage)) {
    const found = await withUnscopedTransaction(db, (tx) => namesOfPeopleUnscoped(tx, some))
    people.push(...found)
  }
  return people
}

async function feedLines(
  page: (after: number) => Promise<readonly Numbered[]>,
  give: (leaves: readonly string[]) => Promise<unknown>,
): Promise<void> {
  for (let after = -1; ; ) {
    const rows = await page(after)
    if (rows.length > 0) await give(rows.map(({ line }) => line))
    if (rows.length < perPage) return
    after = rows.at(-1)?.log_index ?? Number.MAX_SAFE_INTEGER
  }
}

/** Reads what the tally of the entries misses. */
export async function feedWanted(feeding: Feeding, wanted: Wanted, { end, cut_off }: Cut): Promise<void> {
  const { read, scope, thread } = feeding
  for (const digests of partsOf(wanted.digests, setsPerPage))
    await thread.ask({ kind: 'policy_sets', bodies: await read((tx) => readPolicySets(scope, tx, digests)) })
  for (const blocks of partsOf(wanted.blocks, perPage))
    await thread.ask({ kind: 'tiles', tiles: await read((tx) => readTiles(scope, tx, blocks)) })
  if (wanted.removals)
    await feedLines(
      (after) => read((tx) => readRemovals(scope, tx, after, perPage)),
      (leaves) => thread.ask({ kind: 'removals', leaves }),
    )
  for (const ids of partsOf(wanted.openings, perPage)) await feedIncidents(feeding, 'incidents', ids, null)
  if (end < cut_off)
    for (const ids of partsOf(wanted.incidents, perPage)) {
      const leaves = await read((tx) => readMoves(scope, tx, ids, { first: end, end: cut_off }))
      if (leaves.length > 0) await thread.ask({ kind: 'incidents', leaves, rows: [] })
    }
}

/** The openings of incidents, and their moves before `moves_end`. */
async function feedIncidents(
  { read, scope, thread }: Feeding,
  kind: 'incidents' | 'listed',
  ids: readonly string[],
  moves_end: number | null,
): Promise<void> {
  const openings = await read((tx) => readOpenings(scope, tx, ids))
  const rows = await read((tx) => readIncidentRows(scope, tx, ids))
  const moves = moves_end === null ? [] : await read((tx) => readMoves(scope, tx, ids, { first: 0, end: moves_end }))
  await thread.ask({ kind, leaves: [...openings, ...moves], rows })
}

/** Reads what the lists of the report miss, besides the governance of agents. */
export async function feedLists(feeding: Feeding, wanted: WantedForLists, { cut_off }: Cut): Promise<void> {
  const { read, scope, thread } = feeding
  for (const ids of partsOf(wanted.policies, perPage))
    await thread.ask({ kind: 'policies', policies: await read((tx) => readPolicySources(scope, tx, ids, cut_off)) })
  for (const ids of partsOf(wanted.waivers.policies, perPage / 4))
    await thread.ask({ kind: 'waivers', began: await read((tx) => readWaiverBegins(scope, tx, ids)) })
  for (const sha of wanted.waivers.texts) {
    const text = await read((tx) => readText(scope, tx, sha))
    if (text !== null) await thread.ask({ kind: 'manifest', sha, text })
  }
  for (const ids of partsOf(wanted.incidents, perPage / 4)) await feedIncidents(feeding, 'listed', ids, cut_off)
  for (const gates of partsOf(wanted.gates, perPage / 4))
    await thread.ask({ kind: 'gates', gates: await read((tx) => readGates(scope, tx, gates)) })
}
