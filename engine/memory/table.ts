// The memories of all agents of one engine, limited in number and size. It changes by lines, so that a file of lines
// restores it.
import { lessTrusted, type OthersLabel } from '../rules/taint/labels.js'
import type { AgentMemory, MemoryChanges, MemoryLabel } from './labels.js'

/** A change of the memory of an agent; `agent` null stands for all agents that have none yet. */
export type MemoryLine =
  | { readonly agent: string; readonly label: MemoryLabel; readonly add: readonly string[] }
  | { readonly agent: string; readonly remove: readonly string[] }
  | { readonly agent: string | null; readonly overflow: true }

export interface MemoryTable {
  readonly of: (agent: string) => AgentMemory
  /** The lines that make these changes; those that exceed the limits are one line of overflow. */
  readonly linesFor: (agent: string, changes: MemoryChanges) => MemoryLine[]
  readonly apply: (line: MemoryLine) => void
  /** The lines that make an empty table equal to this one. */
  readonly lines: () => MemoryLine[]
  readonly counts: () => MemoryCounts
}

export interface MemoryCounts {
  readonly agents: number
  readonly entries: number
  /** Agents whose whole memory counts as content of others. */
  readonly overflowed: number
}

export interface MemoryLimits {
  readonly maxAgents: number
  readonly maxEntries: number
  readonly maxEntriesOfAgent: number
}

/** 50,000 entries are notes of about 40,000 words; an entry takes about 100 bytes of memory and 14 of the file. */
export const memoryLimits = {
  maxAgents: 10_000,
  maxEntries: 1_000_000,
  maxEntriesOfAgent: 50_000,
} satisfies MemoryLimits

interface Kept {
  readonly labels: Map<string, MemoryLabel>
  worst: OthersLabel | null
  overflow: boolean
}

interface Table {
  readonly limits: MemoryLimits
  readonly agents: Map<string, Kept>
  entries: number
  /** No agent can be added: the memory of every other agent counts as content of others. */
  full: boolean
}

export function createMemoryTable(limits: MemoryLimits): MemoryTable {
  const table: Table = { limits, agents: new Map(), entries: 0, full: false }
  return {
    of: (agent) => viewOf(table, agent),
    linesFor: (agent, changes) => linesFor(table, agent, changes),
    apply: (line) => apply(table, line),
    lines: () => [
      ...(table.full ? [{ agent: null, overflow: true as const }] : []),
      ...[...table.agents].flatMap(([agent, kept]) => linesOf(agent, kept)),
    ],
    counts: () => ({
      agents: table.agents.size,
      entries: table.entries,
      overflowed: [...table.agents.values()].filter(({ overflow }) => overflow).length + (table.full ? 1 : 0),
    }),
  }
}

function viewOf({ agents, full }: Table, agent: string): AgentMemory {
  const { labels, worst, overflow } = agents.get(agent) ?? { labels: null, worst: null, overflow: full }
  return { labelOf: (digest) => labels?.get(digest), worst, overflow }
}

function linesFor(table: Table, agent: string, changes: MemoryChanges): MemoryLine[] {
  const kept = table.agents.get(agent)
  if (kept?.overflow || (kept === undefined && table.full)) return []
  const { maxEntriesOfAgent } = table.limits
  const fitting = fittingChanges(changes, viewOf(table, agent), roomFor(table, kept), maxEntriesOfAgent / 2)
  if (fitting === 'overflow') return [{ agent: hasPlace(table, kept) ? agent : null, overflow: true }]
  return groupedLines(agent, [...fitting])
}

/**
 * The changes that fit into the room for new entries. Texts of the agent's own only make labels more precise: they are left
 * out when less room than `reserve` would remain.
 */
export function fittingChanges(
  changes: MemoryChanges,
  { labelOf }: AgentMemory,
  room: number,
  reserve: number,
): MemoryChanges {
  if (changes === 'overflow') return 'overflow'
  const all = [...changes]
  const isNew = ([digest, label]: (typeof all)[number]) => label !== null && labelOf(digest) === undefined
  const added = all.filter(isNew)
  if (added.filter(([, label]) => label !== 'own').length > room) return 'overflow'
  if (room - added.length >= reserve) return changes
  return new Map(all.filter((one) => one[1] !== 'own' || !isNew(one)))
}

function hasPlace({ limits, agents }: Table, kept: Kept | undefined): boolean {
  return kept !== undefined || agents.size < limits.maxAgents
}

function roomFor(table: Table, kept: Kept | undefined): number {
  const { limits, entries } = table
  return hasPlace(table, kept)
    ? Math.min(limits.maxEntries - entries, limits.maxEntriesOfAgent - (kept?.labels.size ?? 0))
    : 0
}

function groupedLines(agent: string, changes: readonly (readonly [string, MemoryLabel | null])[]): MemoryLine[] {
  const remove = changes.flatMap(([digest, label]) => (label === null ? [digest] : []))
  const added = (['public', 'third_party', 'own'] as const).flatMap((label) => {
    const add = changes.flatMap(([digest, one]) => (one === label ? [digest] : []))
    return add.length === 0 ? [] : [{ agent, label, add }]
  })
  return [...(remove.length === 0 ? [] : [{ agent, remove }]), ...added]
}

function linesOf(agent: string, { labels, overflow }: Kept): MemoryLine[] {
  return overflow ? [{ agent, overflow }] : groupedLines(agent, [...labels])
}

function apply(table: Table, line: MemoryLine): void {
  if (line.agent === null) {
    table.full = true
    return
  }
  const kept = table.agents.get(line.agent) ?? { labels: new Map(), worst: null, overflow: false }
  table.agents.set(line.agent, kept)
  table.entries -= kept.labels.size
  if ('overflow' in line) {
    kept.overflow = true
    kept.labels.clear()
  } else if (!kept.overflow && 'remove' in line) {
    for (const digest of line.remove) kept.labels.delete(digest)
  } else if (!kept.overflow && 'add' in line) {
    for (const digest of line.add) kept.labels.set(digest, line.label)
    if (line.label !== 'own') kept.worst = lessTrusted(kept.worst, line.label)
  }
  table.entries += kept.labels.size
}
