// Steps to a file, one per line.
import { type FileHandle, open } from 'node:fs/promises'
import { requestJson } from '@svc/proof'
import type { ImportTarget } from './target.js'

/** The file is opened by `begin`, so that an import that cannot begin does not change it. */
export function createFileTarget(path: string): ImportTarget {
  let file: FileHandle | null = null
  let steps = 0
  return {
    begin: async () => {
      file = await open(path, 'w')
    },
    put: async (_, run) => {
      await file?.appendFile(run.map((step) => `${requestJson(step)}\n`).join(''))
      steps += run.length
    },
    finish: async () => {
      await file?.close()
      const none = { failed_runs: 0, failures: [], violations: {}, would_block: {}, would_ask: {} }
      return { steps, created: steps, replayed: 0, ...none }
    },
  }
}
