// The authors of what agents read from their memories (docs/design/engine.md §1): labels of the steps of this engine.
import { isBlocked, type Step } from '@svc/schemas'
import { changesBy, labelsRead, withMemoryLabels } from '../memory/labels.js'
import type { MemoryCounts } from '../memory/table.js'
import { isOfMemory, memoryUseOf } from '../memory/use.js'
import type { OthersLabel } from '../rules/taint/labels.js'
import type { MemoryStore } from '../trace/memory/memory-file.js'

export interface Memory {
  /** The step with the labels of what it reads; `happened`: it is recorded, so its output is complete. */
  readonly labelled: <S extends Step>(step: S, happened: boolean) => S
  /** Keeps what a recorded step writes; `received` is the label of the content of others that its task has received. */
  readonly keep: (step: Step, received: OthersLabel | null) => void
  readonly counts: () => MemoryCounts & { readonly durable: boolean }
}

/** `notify` receives one line for each memory that overflows. */
export function createMemory(store: MemoryStore, notify: (line: string) => void): Memory {
  return {
    labelled: (step, happened) => {
      const memory = isOfMemory(step) ? store.table().of(agentOf(step)) : null
      if (memory === null || !(memory.overflow || memory.worst !== null)) return withMemoryLabels(step, null)
      const use = memoryUseOf(step, store.digest())
      return withMemoryLabels(step, labelsRead(use, memory, happened))
    },
    keep: (step, received) => {
      if (!isOfMemory(step) || isBlocked(step)) return
      const use = memoryUseOf(step, store.digest())
      const table = store.table()
      const agent = agentOf(step)
      const lines = table.linesFor(agent, changesBy(use, received, table.of(agent)))
      store.add(lines)
      if (lines.some((line) => 'overflow' in line)) notify(overflowLine(agent))
    },
    counts: () => ({ ...store.table().counts(), durable: store.durable }),
  }
}

function agentOf({ agent_id = '' }: Step): string {
  return agent_id
}

function overflowLine(agent: string): string {
  return `the memory of agent \`${agent}\` is larger than is followed: all of it counts as content of others`
}
