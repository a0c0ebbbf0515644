// The local engine in this process, with a trace in memory.

import { createDecisions, type Decisions } from '../../../engine/serve/decisions/decisions.js'
import type { DecisionFile } from '../../../engine/serve/decisions/file.js'
import { createEngine, type EngineParts, type LocalEngine } from '../../../engine/serve/engine.js'
import { createMemory } from '../../../engine/serve/memory.js'
import { createMeter } from '../../../engine/serve/metrics.js'
import { loadVersions } from '../../../engine/source/load.js'
import { lastStepsInProcess } from '../../../engine/trace/memory/last-steps.js'
import { type MemoryStore, memoryInProcess } from '../../../engine/trace/memory/memory-file.js'
import type { Sink, TraceLine } from '../../../engine/trace/sinks/sink.js'

export interface EngineHere {
  readonly engine: LocalEngine
  /** No timer checks them. */
  readonly decisions: Decisions
  readonly trace: readonly TraceLine[]
  /** Lines for its operator. */
  readonly notes: readonly string[]
}

const begin = Date.UTC(2026, 0, 5, 9)

interface EngineHereParts {
  /** Default: a memory that ends with the process. */
  readonly store?: MemoryStore
  /** Default: a source without policies. */
  readonly source?: EngineParts['source']
  /** Default: lines in memory, which cannot be read back. */
  readonly sink?: Sink
  /** Default: a clock that stands still. */
  readonly clock?: () => number
  /** Default: the clock. */
  readonly elapsed?: () => number
  /** How long the step of a decision may take, ms; default 10 minutes. */
  readonly timeout?: number
  /** The same for the answer to a question; default 7 days. */
  readonly ask_timeout?: number
  readonly file?: DecisionFile | null
}

/** An engine in this process. */
export function engineHere({
  store = memoryInProcess(),
  source,
  sink,
  clock = () => begin,
  elapsed = clock,
  timeout = 600_000,
  ask_timeout = 7 * 24 * 3_600_000,
  file = null,
}: EngineHereParts = {}): EngineHere {
  const trace: TraceLine[] = []
  const notes: string[] = []
  const none = async () => undefined
  const policies = loadVersions('file', [], { dropped: [], outdated: [], ignored: [] }, null, begin)
  let ids = 0
  const lines: Sink = sink ?? {
    on_stdout: false,
    write: (line) => {
      trace.push(line)
    },
    settled: none,
    recall: null,
    flush: none,
    close: none,
  }
  const notify = (line: string) => notes.push(line)
  const decisions = createDecisions({ timeout, ask_timeout, clock, elapsed, write: lines.write, notify, file })
  const engine = createEngine({
    source: source ?? { current: () => policies, reload: async () => policies, close: none },
    sink: lines,
    fail_closed: false,
    clock,
    elapsed,
    newId: () => {
      ids += 1
      return `evaluation-${ids}`
    },
    meter: createMeter(),
    memory: createMemory(store, notify),
    decisions,
    last_steps: lastStepsInProcess(),
    notify,
  })
  return { engine, decisions, trace, notes }
}
