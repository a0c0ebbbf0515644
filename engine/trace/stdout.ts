// The trace on standard output.
import type { Writable } from 'node:stream'
import type { Sink } from './sink.js'

export function stdoutSink(out: Writable): Sink {
  return {
    on_stdout: true,
    write: (line) => {
      out.write(`${JSON.stringify(line)}\n`)
    },
    flush: () => new Promise((resolve) => out.write('', () => resolve())),
    close: async () => undefined,
  }
}
