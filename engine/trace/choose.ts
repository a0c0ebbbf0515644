// Which sink a location means.
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import { fileSink } from './file.js'
import { type Sink, withoutPayloads } from './sink.js'
import { stdoutSink } from './stdout.js'

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Opens the sink at `file:PATH`, `stdout` or `none`; trouble with it later goes to `report`. Throws for a location that
 * is none, or cannot be opened.
 */
export function openSink(
  location: string | undefined,
  env: Environment,
  out: Writable,
  report: (line: string) => void,
): Sink {
  const sink = sinkAt(location ?? (env.SVC_LOG_LOCATION || 'auto'), env, out, report)
  if (env.SVC_LOG_PAYLOADS !== 'metadata_only') return sink
  // A history read back without its payloads would be another one: better none.
  return { ...sink, recall: null, write: (line) => sink.write(withoutPayloads(line)) }
}

function sinkAt(location: string, env: Environment, out: Writable, report: (line: string) => void): Sink {
  if (location === 'auto') return fileSink(join(env.SVC_DATA_DIR || 'data', 'traces.jsonl'), report)
  if (location === 'stdout') return stdoutSink(out)
  if (location === 'none') return nowhere
  if (location.startsWith('file:') && location.length > 5) return fileSink(location.slice(5), report)
  throw new Error(`\`${location}\` is not a log location: use file:PATH, stdout or none`)
}

const nowhere: Sink = {
  on_stdout: false,
  write: () => undefined,
  settled: async () => undefined,
  recall: null,
  flush: async () => undefined,
  close: async () => undefined,
}
