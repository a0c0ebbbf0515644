// Who wrote what agents read from their memories (docs/design/engine.md §1), for the steps of one batch and for hosted
// evaluation. The log must be locked while a batch uses it, so that platforms of one database see the same memories.
import {
  type FollowedMemory,
  isOfMemory,
  keepUse,
  type Labels,
  labelsRead,
  memoryUseOf,
  memoryView,
  newFollowedMemory,
} from '@svc/engine'
import { keyedDigest, type MemoryUse, type OthersLabel, oneLabel, statedLabels } from '@svc/engine/parts'
import { isBlocked, type Step } from '@svc/schemas'
import type { Transaction } from '../db/db.js'
import type { Scope } from '../db/scope.js'
import { derivedKey } from '../ledger/subjects.js'
import type { Sealer } from '../secrets/seal.js'
import { findMarks, findMemories, insertMemoryReads, type MemoryRead, writeMemories } from './store/memory.js'

export interface MemoryOfBatch {
  /** The labels of the step that was opened as `key`, as an agent reads it; null without content of others. */
  readonly labels: (key: object, agent_id: string) => Labels | null
  /** Keeps what an appended step writes; `received` is the label of the content of others in its task. */
  readonly keep: (key: object, agent_id: string, step: Step, received: OthersLabel | null) => void
  /** Remembers the labels of an appended step. */
  readonly note: (log_index: number, labels: Labels) => void
  /** Writes all that changed; returns the agents whose memories have overflowed. */
  readonly write: (scope: Scope, tx: Transaction) => Promise<readonly string[]>
}

/** The memory of one agent as this batch sees it: the marks that its steps ask for, and their changes. */
type Opened = FollowedMemory & { readonly agent_id: string }

/** Reads what is known about these steps, each under a key of the caller, in the memories of these agents. */
export async function openMemories(
  scope: Scope,
  tx: Transaction,
  sealer: Sealer,
  steps: readonly (readonly [key: object, step: Step])[],
  agent_ids: readonly string[],
): Promise<MemoryOfBatch> {
  const uses = await usesOf(scope, tx, sealer, steps)
  const opened = uses.size === 0 ? new Map<string, Opened>() : await readMemories(scope, tx, uses, agent_ids)
  const reads: MemoryRead[] = []
  const overflowed: string[] = []
  return {
    labels: (key, agent_id) => {
      const use = uses.get(key)
      return use === undefined ? null : labelsRead(use, memoryView(openedOf(opened, agent_id)), true)
    },
    keep: (key, agent_id, step, received) => {
      const use = uses.get(key)
      if (use === undefined || isBlocked(step)) return
      const memory = openedOf(opened, agent_id)
      if (keepUse(memory, use, received)) overflowed.push(agent_id)
    },
    note: (log_index, labels) => {
      const { whole } = oneLabel(labels)
      if (whole === 'public' || whole === 'third_party')
        reads.push({ log_index, least: whole, labels: statedLabels(labels) })
    },
    write: async (own, writing) => {
      await insertMemoryReads(own, writing, reads)
      await writeChanges(own, writing, [...opened.values()])
      return overflowed
    },
  }
}

/** The labels of a step before it happens: the item that its input names. */
export async function intendedLabels(
  scope: Scope,
  tx: Transaction,
  sealer: Sealer,
  agent_id: string,
  step: Step,
): Promise<Labels | null> {
  const use = (await usesOf(scope, tx, sealer, [[step, step]])).get(step)
  if (use === undefined) return null
  const opened = await readMemories(scope, tx, new Map([[step, use]]), [agent_id])
  return labelsRead(use, memoryView(openedOf(opened, agent_id)), false)
}

async function usesOf(
  scope: Scope,
  tx: Transaction,
  sealer: Sealer,
  steps: readonly (readonly [key: object, step: Step])[],
): Promise<ReadonlyMap<object, MemoryUse>> {
  const own = steps.filter(([, step]) => isOfMemory(step))
  if (own.length === 0) return new Map()
  const digest = keyedDigest(await derivedKey(scope, tx, sealer, 'memory'))
  return new Map(own.map(([key, step]) => [key, memoryUseOf(step, digest)]))
}

async function readMemories(
  scope: Scope,
  tx: Transaction,
  uses: ReadonlyMap<object, MemoryUse>,
  agent_ids: readonly string[],
): Promise<Map<string, Opened>> {
  const rows = await findMemories(scope, tx, agent_ids)
  const opened = new Map<string, Opened>(rows.map((row) => [row.agent_id, { ...newFollowedMemory(), ...row }]))
  const asked = new Set([...uses.values()].flatMap(digestsOf))
  for (const { agent_id, digest, label } of await findMarks(scope, tx, agent_ids, [...asked]))
    opened.get(agent_id)?.labels.set(digest, label)
  return opened
}

function digestsOf({ names, written, parts }: MemoryUse): string[] {
  return [...names, ...written, ...parts.flatMap(({ digests }) => [...digests])]
}

function openedOf(opened: Map<string, Opened>, agent_id: string): Opened {
  const known = opened.get(agent_id)
  if (known !== undefined) return known
  const memory = { agent_id, ...newFollowedMemory() }
  opened.set(agent_id, memory)
  return memory
}

async function writeChanges(scope: Scope, tx: Transaction, opened: readonly Opened[]): Promise<void> {
  const changed = opened.filter(({ is_changed }) => is_changed)
  if (changed.length === 0) return
  const rows = changed.flatMap(({ agent_id, changed: marks }) =>
    [...marks].map(([digest, label]) => ({ agent_id, digest, label })),
  )
  const kept = rows.flatMap(({ label, ...row }) => (label === null ? [] : [{ ...row, label }]))
  const removed = rows.filter(({ label }) => label === null)
  await writeMemories(scope, tx, changed, kept, removed)
}
