// Opens the sink of a log location.
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import { apiSink } from './api.js'
import { fileSink } from './file.js'
import { type MemoryStore, memoryFile, memoryInProcess } from './memory-file.js'
import { payloadsIn, withoutPayloads } from './metadata.js'
import { otlpSink } from './otlp.js'
import { type Environment, isEntryFormat, locationOf, type TraceOptions } from './settings.js'
import type { Sink } from './sink.js'
import { stdoutSink } from './stdout.js'

type Environment = Readonly<Record<string, string | undefined>>

export interface LogSettings {
  /** As given; absent for SVC_LOG_LOCATION. */
  readonly logLocation?: string
  readonly agentKey?: string
  /** Whether the policies come from a platform. */
  readonly from_platform: boolean
  readonly env: Environment
}

/** One kind of location. */
interface Location {
  readonly matches: (location: string) => boolean
  /** How it is written, for messages. */
  readonly form: string
  /** What is wrong with the other settings; null when it can be opened. `name` is the setting of the location. */
  readonly problem: (settings: LogSettings, name: string) => string | null
  /** Throws when it cannot be opened. */
  readonly open: (parts: OpenParts) => Sink
}

interface OpenParts {
  readonly location: string
  readonly settings: LogSettings
  readonly out: Writable
  /** Receives later write errors. */
  readonly report: (line: string) => void
}

const fine = () => null

const locations: readonly Location[] = [
  {
    matches: (location) => /^file:./.test(location),
    form: 'file:PATH',
    problem: fine,
    open: ({ location, report }) => fileSink(location.slice('file:'.length), report),
  },
  {
    matches: (location) => location === 'stdout',
    form: 'stdout',
    problem: fine,
    open: ({ out }) => stdoutSink(out),
  },
  {
    matches: (location) => location === 'api',
    form: 'api',
    problem: problemOfApi,
    open: ({ settings, report }) => {
      const { env } = settings
      const platform = { url: env.SVC_API_URL ?? '', api_key: env.SVC_API_KEY ?? '', agent_key: agentKeyOf(settings) }
      return apiSink({ platform, folder: env.SVC_DATA_DIR || 'data', spool_mib: spoolMib(env) ?? 0, report })
    },
  },
  { matches: (location) => location === 'none', form: 'none', problem: fine, open: () => nowhere },
]

/** The location without `auto`, which is the platform when the policies come from it, and a file otherwise. */
export function logLocation({ logLocation, from_platform, env }: LogSettings): string {
  const given = logLocation || env.SVC_LOG_LOCATION || 'auto'
  if (given !== 'auto') return given
  return from_platform ? 'api' : `file:${join(env.SVC_DATA_DIR || 'data', 'traces.jsonl')}`
}

/** The problem with the settings, which names what to change; null when they can be used. */
export function logProblem(settings: LogSettings): string | null {
  const location = logLocation(settings)
  const name = settings.logLocation ? '--log-location' : 'SVC_LOG_LOCATION'
  const found = locations.find(({ matches }) => matches(location))
  if (found !== undefined) return found.problem(settings, name)
  const forms = locations.map(({ form }) => form).join(', ')
  return `${name} is \`${location}\`, which is not a log location: use auto, ${forms}`
}

/** Opens the sink at the location of the settings, which must have no problem. Throws when it cannot be opened. */
export function openSink(settings: LogSettings, out: Writable, report: (line: string) => void): Sink {
  const location = logLocation(settings)
  const found = locations.find(({ matches }) => matches(location))
  if (found === undefined) throw new Error(`\`${location}\` is not a log location`)
  const sink = found.open({ location, settings, out, report })
  if (settings.env.SVC_LOG_PAYLOADS !== 'metadata_only') return sink
  // A history without payloads would lead to other decisions, so it is not read back.
  return { ...sink, recall: null, write: (line) => sink.write(withoutPayloads(line)) }
}

function agentKeyOf({ agentKey, env }: LogSettings): string {
  return agentKey ?? env.SVC_AGENT_KEY ?? ''
}

function problemOfApi(settings: LogSettings, name: string): string | null {
  const { env } = settings
  const missing = [
    ...['SVC_API_URL', 'SVC_API_KEY'].filter((variable) => !env[variable]),
    ...(agentKeyOf(settings) === '' ? ['SVC_AGENT_KEY (or --agent-key)'] : []),
  ]
  if (missing.length > 0) return `${name} is \`api\`, which needs a platform: set ${missing.join(' and ')}`
  if (!isHttp(env.SVC_API_URL ?? '')) return 'SVC_API_URL is not an http(s) address without a user name'
  if (spoolMib(env) === null)
    return `SVC_SPOOL_MIB must be a whole number of MiB from ${minSpoolMib} to ${maxSpoolMib}, found \`${env.SVC_SPOOL_MIB}\``
  return null
}

function isHttp(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, username, password } = new URL(text)
  return /^https?:$/.test(protocol) && username === '' && password === ''
}

const defaultSpoolMib = 512
/** Two for a step of the largest size beside what is reserved. */
const minSpoolMib = 4
const maxSpoolMib = 1024 * 1024

/** Null for an invalid value. */
function spoolMib({ SVC_SPOOL_MIB: text = '' }: Environment): number | null {
  if (text.trim() === '') return defaultSpoolMib
  const mib = Number(text)
  return Number.isInteger(mib) && mib >= minSpoolMib && mib <= maxSpoolMib ? mib : null
}

/**
 * The memories of agents: a file in the data directory, unless neither a trace nor the environment names a folder. It
 * holds digests, so `metadata_only` does not change it. Throws when the file cannot be read.
 */
export function openMemoryStore(settings: LogSettings, report: (line: string) => void): MemoryStore {
  const { SVC_DATA_DIR: folder } = settings.env
  const location = logLocation(settings)
  const is_kept = folder || location === 'api' || location.startsWith('file:')
  return is_kept ? memoryFile(join(folder || 'data', 'memory.jsonl'), report) : memoryInProcess()
}

const nowhere: Sink = {
  on_stdout: false,
  write: () => undefined,
  settled: async () => undefined,
  recall: null,
  flush: async () => undefined,
  close: async () => undefined,
}
