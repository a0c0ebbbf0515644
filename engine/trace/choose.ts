// Opens the sink of a log location.
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import { fileSink } from './file.js'
import { type MemoryStore, memoryFile, memoryInProcess } from './memory-file.js'
import { type Sink, withoutPayloads } from './sink.js'
import { stdoutSink } from './stdout.js'

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Opens the sink at `file:PATH`, `stdout` or `none`; later write errors go to `report`. Throws when the location is
 * invalid or cannot be opened.
 */
export function openSink(
  location: string | undefined,
  env: Environment,
  out: Writable,
  report: (line: string) => void,
): Sink {
  const sink = sinkAt(location ?? (env.SVC_LOG_LOCATION || 'auto'), env, out, report)
  if (env.SVC_LOG_PAYLOADS !== 'metadata_only') return sink
  // A history without payloads would lead to other decisions, so it is not read back.
  return { ...sink, recall: null, write: (line) => sink.write(withoutPayloads(line)) }
}

function sinkAt(location: string, env: Environment, out: Writable, report: (line: string) => void): Sink {
  if (location === 'auto') return fileSink(join(env.SVC_DATA_DIR || 'data', 'traces.jsonl'), report)
  if (location === 'stdout') return stdoutSink(out)
  if (location === 'none') return nowhere
  if (location.startsWith('file:') && location.length > 5) return fileSink(location.slice(5), report)
  throw new Error(`\`${location}\` is not a log location: use file:PATH, stdout or none`)
}

/**
 * The memories of agents: a file in the data directory, unless neither a trace nor the environment names a folder. It
 * holds digests, so `metadata_only` does not change it. Throws when the file cannot be read.
 */
export function openMemoryStore(
  location: string | undefined,
  env: Environment,
  report: (line: string) => void,
): MemoryStore {
  const trace = location ?? (env.SVC_LOG_LOCATION || 'auto')
  const is_kept = env.SVC_DATA_DIR || trace === 'auto' || trace.startsWith('file:')
  return is_kept ? memoryFile(join(env.SVC_DATA_DIR || 'data', 'memory.jsonl'), report) : memoryInProcess()
}

const nowhere: Sink = {
  on_stdout: false,
  write: () => undefined,
  settled: async () => undefined,
  recall: null,
  flush: async () => undefined,
  close: async () => undefined,
}
