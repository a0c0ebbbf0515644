// Starts and ends a worker thread that answers messages in order: work that takes seconds, while this thread answers requests.
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'

export interface Thread<Message, Answer> {
  /** The answers come in the order of the messages. Rejects when the thread ends early, or with the reason of the signal. */
  readonly ask: (message: Message) => Promise<Answer>
  readonly close: () => Promise<void>
}

interface ThreadOptions {
  /** The file that it runs; see `builtFile`. */
  readonly file: URL
  readonly name: string
  /** Given once, as `workerData`. */
  readonly data: unknown
  /** Of its objects, MiB. */
  readonly max_memory: number
  readonly signal: AbortSignal | null
  /** The error of a thread that failed; `code` is that of Node.js. */
  readonly failure: (error: NodeJS.ErrnoException) => Error
}

export function startThread<Message, Answer>({
  file,
  name,
  data,
  max_memory,
  signal,
  failure,
}: ThreadOptions): Thread<Message, Answer> {
  const worker = new Worker(fileURLToPath(file), {
    workerData: data,
    name,
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: max_memory, maxYoungGenerationSizeMb: 32 },
  })
  const waiting: Waiting<Answer>[] = []
  let ended: unknown = null
  const end = (reason: unknown) => {
    ended ??= reason
    for (const { reject } of waiting.splice(0)) reject(ended)
  }
  const close = async () => {
    signal?.removeEventListener('abort', onAbort)
    end(new Error(`the thread \`${name}\` was closed`))
    await worker.terminate()
  }
  const onAbort = () => {
    end(signal?.reason)
    void worker.terminate()
  }
  worker.on('message', (answer: Answer) => waiting.shift()?.resolve(answer))
  worker.on('error', (error: NodeJS.ErrnoException) => end(failure(error)))
  worker.on('exit', (code) => end(new Error(`the thread \`${name}\` ended with code ${code}`)))
  signal?.addEventListener('abort', onAbort)
  if (signal?.aborted) onAbort()
  return {
    close,
    ask: (message) =>
      new Promise((resolve, reject) => {
        if (ended !== null) return reject(ended)
        waiting.push({ resolve, reject })
        worker.postMessage(message)
      }),
  }
}

interface Waiting<Answer> {
  readonly resolve: (answer: Answer) => void
  readonly reject: (reason: unknown) => void
}

/** A file beside the module in the build, also when the module runs from its source. `room`: the folder of the module. */
export function builtFile(module_url: string, room: string, name: string): URL {
  const folder = module_url.includes('/dist/') ? './' : `${'../'.repeat(room.split('/').length)}dist/${room}/`
  return new URL(`${folder}${name}`, module_url)
}
