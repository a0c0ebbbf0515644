// The files of a journal without a folder that can be written: its lines stay in the buffer, and end with the process.
import type { Segments } from './segments.js'

export function noSegments(): Segments {
  let end = 0
  return {
    // Nothing can be read back, so that no task whose steps are here counts as whole.
    start: () => Number.POSITIVE_INFINITY,
    end: () => end,
    append: null,
    read: async () => ({ offset: end, bytes: Buffer.alloc(0) }),
    countLines: () => 0,
    trim: () => undefined,
    clear: (offset) => {
      end = offset
    },
    sync: async () => undefined,
    close: async () => undefined,
    stream: async function* () {},
  }
}
