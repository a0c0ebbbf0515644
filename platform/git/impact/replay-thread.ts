// Starts and ends the thread that replays tasks: evaluating takes seconds, in which this thread answers requests.
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import type { ReplayedTask, ReplayWork, StoredSteps } from './replay-messages.js'

export interface ReplayThread {
  /** The answers in the order of the tasks. Rejects when the thread ends early, or with the reason of the signal. */
  readonly replay: (tasks: readonly StoredSteps[]) => Promise<readonly ReplayedTask[]>
  readonly close: () => Promise<void>
}

interface ThreadOptions {
  /** Of its objects, MiB. */
  readonly max_memory: number
  readonly signal: AbortSignal | null
}

export function startReplayThread(work: ReplayWork, { max_memory, signal }: ThreadOptions): ReplayThread {
  const worker = new Worker(fileURLToPath(workerUrl()), {
    workerData: work,
    name: 'svc-impact',
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: max_memory, maxYoungGenerationSizeMb: 32 },
  })
  const waiting: Waiting[] = []
  let ended: unknown = null
  const end = (reason: unknown) => {
    ended ??= reason
    for (const { reject } of waiting.splice(0)) reject(ended)
  }
  const close = async () => {
    signal?.removeEventListener('abort', onAbort)
    end(new Error('the replay was closed'))
    await worker.terminate()
  }
  const onAbort = () => {
    end(signal?.reason)
    void worker.terminate()
  }
  worker.on('message', (answers: readonly ReplayedTask[]) => waiting.shift()?.resolve(answers))
  worker.on('error', (error: NodeJS.ErrnoException) => end(failure(error, max_memory)))
  worker.on('exit', (code) => end(new Error(`the thread that replays tasks ended with code ${code}`)))
  signal?.addEventListener('abort', onAbort)
  if (signal?.aborted) onAbort()
  return {
    close,
    replay: (tasks) =>
      new Promise((resolve, reject) => {
        if (ended !== null) return reject(ended)
        waiting.push({ resolve, reject })
        worker.postMessage(tasks)
      }),
  }
}

interface Waiting {
  readonly resolve: (answers: readonly ReplayedTask[]) => void
  readonly reject: (reason: unknown) => void
}

function failure(error: NodeJS.ErrnoException, max_memory: number): Error {
  const why =
    error.code === 'ERR_WORKER_OUT_OF_MEMORY'
      ? `it needs more than ${max_memory} MiB of memory: replay fewer tasks`
      : error.message
  return new Error(`the recorded tasks could not be replayed: ${why}`, { cause: error })
}

/** The thread runs what was built, also when this file runs from its source. */
function workerUrl(): URL {
  const build = import.meta.url.includes('/dist/') ? './' : '../../dist/git/impact/'
  return new URL(`${build}replay-worker.js`, import.meta.url)
}
