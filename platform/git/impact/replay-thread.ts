// The thread that replays tasks: evaluating takes seconds, in which this thread answers requests.
import type { Impact, ImpactInput } from '@svc/engine/parts'
import { builtFile, startThread } from '../../jobs/thread.js'

/** A task as text: a message of texts costs the sender little. */
interface StoredSteps {
  /** The index of the agent. */
  readonly agent: number
  readonly lines: string
}

/** Tasks to replay; null after the last of them. */
export type ReplayMessage = readonly StoredSteps[] | null

/** The impact on all tasks, once they are replayed. */
export interface ReplayAnswer extends Impact {
  /** Tasks without content. */
  readonly metadata_only: number
}

export interface ReplayThread {
  readonly add: (tasks: readonly StoredSteps[]) => Promise<unknown>
  readonly finish: () => Promise<ReplayAnswer>
  readonly close: () => Promise<void>
}

interface ThreadOptions {
  /** Of its objects, MiB. */
  readonly max_memory: number
  readonly signal: AbortSignal | null
}

export function startReplayThread(data: ImpactInput, { max_memory, signal }: ThreadOptions): ReplayThread {
  const file = builtFile(import.meta.url, 'git/impact', 'replay-worker.js')
  const failure = (error: NodeJS.ErrnoException) => replayFailure(error, max_memory)
  const options = { file, name: 'svc-impact', data, max_memory, signal, failure }
  const { ask, close } = startThread<ReplayMessage, ReplayAnswer | null>(options)
  return { add: ask, finish: async () => (await ask(null)) as ReplayAnswer, close }
}

function replayFailure(error: NodeJS.ErrnoException, max_memory: number): Error {
  const why =
    error.code === 'ERR_WORKER_OUT_OF_MEMORY'
      ? `it needs more than ${max_memory} MiB of memory: replay fewer tasks`
      : error.message
  return new Error(`the recorded tasks could not be replayed: ${why}`, { cause: error })
}
