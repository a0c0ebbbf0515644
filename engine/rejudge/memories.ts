// The memories of agents, as far as the steps of a bundle show them from their beginning.
import type { Step } from '@svc/schemas'
import { type FollowedMemory, keepUse, memoryView, newFollowedMemory } from '../memory/followed.js'
import { labelsRead } from '../memory/labels.js'
import { type Digest, keyedDigest } from '../memory/marks.js'
import { type MemoryUse, memoryUseOf } from '../memory/use.js'
import type { Labels, OthersLabel } from '../rules/taint/labels.js'

/** All marks that are kept, of about 100 bytes each. */
const maxMarks = 2_000_000

/** Equal marks have equal digests under any key, and only that counts. */
const digest: Digest = keyedDigest('rejudge')

export class Memories {
  /** An agent without a memory here has one that the bundle does not show. */
  readonly #known = new Map<string, FollowedMemory>()
  readonly #forgotten = new Set<string>()
  /** True if the memory of every agent that is not known otherwise is empty. */
  #isWhole: boolean
  #marks = 0

  /** `is_whole`: the bundle begins with the log. */
  constructor(is_whole: boolean) {
    this.#isWhole = is_whole
  }

  /** The agent is new: its memory is empty. */
  begin(agent_id: string): void {
    if (this.#known.has(agent_id) || this.#forgotten.has(agent_id) || this.#isWhole) return
    this.#known.set(agent_id, newFollowedMemory())
  }

  /** The labels of a step of the memory; `unknown` when they depend on what the bundle does not show. */
  labels(agent_id: string, use: MemoryUse): Labels | null | 'unknown' {
    const memory = this.#of(agent_id)
    if (memory !== null) return labelsRead(use, memoryView(memory), true)
    return use.reads || use.has_output ? 'unknown' : null
  }

  /** Keeps what a step writes; `received` is the label of the content of others in its task. */
  keep(agent_id: string, use: MemoryUse, received: OthersLabel | null): void {
    const memory = this.#of(agent_id)
    if (memory === null) return
    const before = memory.labels.size
    if (keepUse(memory, use, received)) memory.labels.clear()
    memory.changed.clear()
    this.#known.set(agent_id, memory)
    this.#marks += memory.labels.size - before
    if (this.#marks > maxMarks) this.forget(agent_id)
  }

  /** A step that may have written to the memory is not known. */
  forget(agent_id: string): void {
    this.release(agent_id)
    this.#forgotten.add(agent_id)
  }

  /** A step of any agent is not known. */
  forgetAll(): void {
    for (const agent_id of [...this.#known.keys()]) this.forget(agent_id)
    this.#isWhole = false
  }

  /** No later step uses the memory. */
  release(agent_id: string): void {
    this.#marks -= this.#known.get(agent_id)?.labels.size ?? 0
    this.#known.delete(agent_id)
  }

  #of(agent_id: string): FollowedMemory | null {
    const isEmpty = this.#isWhole && !this.#forgotten.has(agent_id)
    return this.#known.get(agent_id) ?? (isEmpty ? newFollowedMemory() : null)
  }
}

/** The reads and writes of the step. */
export function useOf(step: Step): MemoryUse {
  return memoryUseOf(step, digest)
}
