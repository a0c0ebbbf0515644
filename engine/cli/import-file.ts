// Steps into a file, one a line.
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import type { ImportTarget } from './import-run.js'

export function createFileTarget(path: string): ImportTarget {
  const stream = createWriteStream(path)
  let steps = 0
  return {
    begin: async () => {
      await once(stream, 'open')
    },
    has: () => false,
    put: async (_, run) => {
      steps += run.length
      const room = stream.write(run.map((step) => `${JSON.stringify(step)}\n`).join(''))
      if (!room) await once(stream, 'drain')
    },
    finish: async () => {
      stream.end()
      await once(stream, 'close')
      return { steps, created: steps, replayed: 0, failures: [], violations: {}, would_block: {} }
    },
  }
}
