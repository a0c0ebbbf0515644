// Opens the sink of a log location.
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import { inEntryFormat } from './entry-format.js'
import { fileSink } from './file.js'
import { type MemoryStore, memoryFile, memoryInProcess } from './memory-file.js'
import { payloadsIn, withoutPayloads } from './metadata.js'
import { otlpSink } from './otlp.js'
import { type Environment, isEntryFormat, locationOf, type TraceOptions } from './settings.js'
import type { Sink } from './sink.js'
import { stdoutSink } from './stdout.js'

/**
 * Opens the sink at `file:PATH`, `stdout`, `otlp:URL` or `none`; later write errors go to `report`. Throws when the location
 * is invalid or cannot be opened. The settings must have no problem.
 */
export function openSink(options: TraceOptions, env: Environment, out: Writable, report: (line: string) => void): Sink {
  const sink = sinkAt(options, env, out, report)
  if (payloadsIn(env) === 'all') return sink
  // A history without payloads would lead to other decisions, so it is not read back.
  return { ...sink, recall: null, write: (line) => sink.write(withoutPayloads(line)) }
}

function sinkAt(options: TraceOptions, env: Environment, out: Writable, report: (line: string) => void): Sink {
  const location = locationOf(options, env)
  const agent_key = options.agentKey ?? (env.SVC_AGENT_KEY || undefined)
  const inFormat = (sink: Sink) => (isEntryFormat(options, env) ? inEntryFormat(sink, agent_key) : sink)
  if (location === 'auto') return inFormat(fileSink(join(env.SVC_DATA_DIR || 'data', 'traces.jsonl'), report))
  if (location === 'stdout') return inFormat(stdoutSink(out))
  if (location === 'none') return nowhere
  if (location.startsWith('file:') && location.length > 5) return inFormat(fileSink(location.slice(5), report))
  if (location.startsWith('otlp:')) return otlpSink(location, env, agent_key ?? 'svc', report)
  throw new Error(`\`${location}\` is not a log location: use file:PATH, stdout, otlp:URL or none`)
}

/** The folder for what must outlive the process; null when neither the trace nor the environment names one. */
export function dataFolder(options: TraceOptions, env: Environment): string | null {
  const has_folder = env.SVC_DATA_DIR || !['stdout', 'none'].includes(locationOf(options, env))
  return has_folder ? env.SVC_DATA_DIR || 'data' : null
}

/**
 * The memories of agents: a file in the data directory, unless neither a trace nor the environment names a folder. It
 * holds digests, so `metadata_only` does not change it. Throws when the file cannot be read.
 */
export function openMemoryStore(options: TraceOptions, env: Environment, report: (line: string) => void): MemoryStore {
  const folder = dataFolder(options, env)
  return folder === null ? memoryInProcess() : memoryFile(join(folder, 'memory.jsonl'), report)
}

const nowhere: Sink = {
  on_stdout: false,
  write: () => undefined,
  settled: async () => undefined,
  recall: null,
  flush: async () => undefined,
  close: async () => undefined,
}
