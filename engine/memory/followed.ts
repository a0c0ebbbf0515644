// The memory of one agent as the log follows it: the marks of its notes and the changes by its steps.
import { lessTrusted, type OthersLabel } from '../rules/taint/labels.js'
import { type AgentMemory, changesBy, type MemoryLabel } from './labels.js'
import { fittingChanges, memoryLimits } from './table.js'
import type { MemoryUse } from './use.js'

export interface FollowedMemory {
  /** The known marks, or those of them that the steps at hand ask for. */
  readonly labels: Map<string, MemoryLabel>
  /** The marks that changed since it was opened; null for a mark that is not kept any more. */
  readonly changed: Map<string, MemoryLabel | null>
  /** The number of its marks. */
  marks: number
  /** The least trusted label of others; null when nothing of others was written. */
  worst: OthersLabel | null
  overflow: boolean
  is_changed: boolean
}

/** The memory of an agent that has written nothing. */
export function newFollowedMemory(): FollowedMemory {
  return { labels: new Map(), changed: new Map(), marks: 0, worst: null, overflow: false, is_changed: false }
}

export function memoryView({ labels, worst, overflow }: FollowedMemory): AgentMemory {
  return { labelOf: (digest) => labels.get(digest), worst, overflow }
}

/**
 * Keeps what a recorded step writes; `received` is the label of the content of others in its task. True when the memory
 * overflows with this step.
 */
export function keepUse(memory: FollowedMemory, use: MemoryUse, received: OthersLabel | null): boolean {
  if (memory.overflow) return false
  const view = memoryView(memory)
  const maxMarks = memoryLimits.maxEntriesOfAgent
  const fitting = fittingChanges(changesBy(use, received, view), view, maxMarks - memory.marks, maxMarks / 2)
  if (fitting === 'overflow') {
    memory.is_changed = true
    memory.overflow = true
    memory.changed.clear()
    memory.marks = 0
    return true
  }
  for (const [digest, label] of fitting) {
    memory.marks += Number(label !== null) - Number(memory.labels.has(digest))
    if (label === null) memory.labels.delete(digest)
    else memory.labels.set(digest, label)
    if (label !== null && label !== 'own') memory.worst = lessTrusted(memory.worst, label)
    memory.changed.set(digest, label)
    memory.is_changed = true
  }
  return false
}
