// The trace on standard output.
import type { Writable } from 'node:stream'
import { requestJson } from '@svc/proof'
import type { Sink } from './sink.js'

export function stdoutSink(out: Writable): Sink {
  const drained = () => new Promise<void>((resolve) => out.write('', () => resolve()))
  return {
    on_stdout: true,
    write: (line) => {
      out.write(`${requestJson(line)}\n`)
    },
    settled: drained,
    recall: null,
    flush: drained,
    close: async () => undefined,
  }
}
