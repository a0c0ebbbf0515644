// The thread that replays tasks: evaluating takes seconds, in which this thread answers requests.
import { builtFile, startThread, type Thread } from '../../jobs/thread.js'
import type { ReplayedTask, ReplayWork, StoredSteps } from './replay-messages.js'

/** The answers are in the order of the tasks. */
export type ReplayThread = Thread<readonly StoredSteps[], readonly ReplayedTask[]>

interface ThreadOptions {
  /** Of its objects, MiB. */
  readonly max_memory: number
  readonly signal: AbortSignal | null
}

export function startReplayThread(work: ReplayWork, { max_memory, signal }: ThreadOptions): ReplayThread {
  const file = builtFile(import.meta.url, 'git/impact', 'replay-worker.js')
  const failure = (error: NodeJS.ErrnoException) => replayFailure(error, max_memory)
  return startThread({ file, name: 'svc-impact', data: work, max_memory, signal, failure })
}

function replayFailure(error: NodeJS.ErrnoException, max_memory: number): Error {
  const why =
    error.code === 'ERR_WORKER_OUT_OF_MEMORY'
      ? `it needs more than ${max_memory} MiB of memory: replay fewer tasks`
      : error.message
  return new Error(`the recorded tasks could not be replayed: ${why}`, { cause: error })
}
