// Flushes files of a journal, and closes those that are full.
import { closeSync, fsync } from 'node:fs'
import { promisify } from 'node:util'

const syncFile = promisify(fsync)

/** Flushes files to disk one after the other, apart from the event loop: a slow disk delays no request. */
export function syncQueue() {
  let last: Promise<void> = Promise.resolve()
  /** Not begun yet: more callers can share it. */
  let waiting: { readonly file: number; readonly done: Promise<void> } | null = null
  /** Why a file could not be flushed before it was closed. */
  let failure: unknown = null
  const run = (act: () => Promise<void>) => {
    const done = last.then(act)
    last = done.catch(() => undefined)
    return done
  }
  return {
    sync: async (file: number | null) => {
      if (file === null) await last
      else {
        if (waiting?.file !== file) {
          const done = run(() => {
            waiting = null
            return syncFile(file)
          })
          waiting = { file, done }
        }
        await waiting.done
      }
      const failed = failure
      failure = null
      if (failed !== null) throw failed
    },
    close: (file: number) => {
      waiting = null
      void run(async () => {
        await syncFile(file).catch((error: unknown) => {
          failure = error
        })
        closeSync(file)
      })
    },
  }
}
