// Steps into a file, one a line.
import { type FileHandle, open } from 'node:fs/promises'
import type { ImportTarget } from './import-target.js'

export function createFileTarget(path: string): ImportTarget {
  let file: FileHandle | null = null
  let steps = 0
  return {
    begin: async () => {
      file = await open(path, 'w')
    },
    has: () => false,
    put: async (_, run) => {
      steps += run.length
      await file?.write(run.map((step) => `${JSON.stringify(step)}\n`).join(''))
    },
    finish: async () => {
      await file?.close()
      return { steps, created: steps, replayed: 0, failures: [], violations: {}, would_block: {} }
    },
  }
}
