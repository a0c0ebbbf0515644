// Opens the sink of a log location.
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import { apiSpool, noteOwner, otlpSpool, reportOthers } from '../journal/other-spools.js'
import { type MemoryStore, memoryFile, memoryInProcess } from '../memory/memory-file.js'
import { apiSink } from './api.js'
import { inEntryFormat } from './entry-format.js'
import { fileSink } from './file.js'
import { payloadChoices, payloadsIn, withoutPayloads } from './metadata.js'
import { otlpSink } from './otlp.js'
import { endpointAt, endpointProblem } from './otlp-endpoint.js'
import {
  addressIn,
  agentKeyOf,
  dataFolder,
  keyProblem,
  type LogSettings,
  lastingFolder,
  logFormat,
  logFormats,
  logLocation,
  maxSpoolMib,
  minSpoolMib,
  shownLocation,
  spoolMib,
} from './settings.js'
import type { Sink } from './sink.js'
import { stdoutSink } from './stdout.js'

/** One kind of location. */
interface Location {
  readonly matches: (location: string) => boolean
  /** Its spelling, for messages. */
  readonly form: string
  /** True when its lines are JSON, in either format. */
  readonly has_lines: boolean
  /** The fault of the other settings; null when it can be opened. `name` is the setting of the location. */
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
    matches: (location) => /^file:./s.test(location),
    form: 'file:PATH',
    has_lines: true,
    problem: fine,
    open: ({ location, report }) => fileSink(location.slice('file:'.length), report),
  },
  {
    matches: (location) => location === 'stdout',
    form: 'stdout',
    has_lines: true,
    problem: fine,
    open: ({ out }) => stdoutSink(out),
  },
  {
    matches: (location) => location === 'api',
    form: 'api',
    has_lines: false,
    problem: problemOfApi,
    open: ({ settings, report }) => {
      const { env } = settings
      const platform = { url: env.SVC_API_URL ?? '', api_key: env.SVC_API_KEY ?? '', agent_key: agentKeyOf(settings) }
      return apiSink({ platform, folder: dataFolder(env), spool_mib: spoolMib(env) ?? 0, report })
    },
  },
  {
    matches: (location) => location.startsWith('otlp:'),
    form: 'otlp:URL',
    has_lines: false,
    problem: (settings) => endpointProblem(logLocation(settings), settings.env),
    open: ({ location, settings, report }) => otlpSink(location, settings.env, agentKeyOf(settings) || 'svc', report),
  },
  {
    matches: (location) => location === 'none',
    form: 'none',
    has_lines: true,
    problem: fine,
    open: () => nowhere,
  },
]

/** The problem with the settings, which names what to change; null when they can be used. */
export function logProblem(settings: LogSettings): string | null {
  const { env } = settings
  // A misspelt value must not write what was to be left out.
  if (payloadsIn(env) === null)
    return `SVC_LOG_PAYLOADS must be ${payloadChoices.join(' or ')}, found \`${env.SVC_LOG_PAYLOADS}\``
  const location = logLocation(settings)
  const name = settings.logLocation ? '--log-location' : 'SVC_LOG_LOCATION'
  const found = locations.find(({ matches }) => matches(location))
  const forms = locations.map(({ form }) => form).join(', ')
  if (found === undefined)
    return `${name} is \`${shownLocation(location)}\`, which is not a log location: use auto, ${forms}`
  return formatProblem(settings, found) ?? found.problem(settings, name)
}

function formatProblem(settings: LogSettings, { has_lines }: Location): string | null {
  const format = logFormat(settings)
  const name = settings.logFormat ? '--log-format' : 'SVC_LOG_FORMAT'
  if (!logFormats.some((known) => known === format))
    return `${name} must be ${logFormats.join(' or ')}, found \`${format}\``
  if (format === 'behavior' || has_lines) return null
  return `${name} is \`${format}\`, which only stdout and file:PATH have, not \`${shownLocation(logLocation(settings))}\``
}

/** Opens the sink at the location of the settings, which must have no problem. Throws when it cannot be opened. */
export function openSink(settings: LogSettings, out: Writable, report: (line: string) => void): Sink {
  const location = logLocation(settings)
  const found = locations.find(({ matches }) => matches(location))
  if (found === undefined) throw new Error(`\`${shownLocation(location)}\` is not a log location`)
  const opened = found.open({ location, settings, out, report })
  const sink = logFormat(settings) === 'entry' ? inEntryFormat(opened, agentKeyOf(settings) || undefined) : opened
  if (payloadsIn(settings.env) === 'all') return sink
  // A history without payloads would lead to other decisions, so it is not read back.
  return { ...sink, recall: null, write: (line) => sink.write(withoutPayloads(line)) }
}

/** Notes whose queue this is, and reports the lines that wait for other locations. */
export function reportOtherSpools(settings: LogSettings, report: (line: string) => void): void {
  const { env } = settings
  const location = logLocation(settings)
  const parent = join(dataFolder(env), 'spool')
  const own = location.startsWith('otlp:')
    ? otlpSpool(endpointAt(location, env).href)
    : location === 'api'
      ? apiSpool(env.SVC_API_URL ?? '', agentKeyOf(settings))
      : null
  if (own !== null) noteOwner(parent, own)
  reportOthers(parent, own?.name ?? null, report)
}

function problemOfApi(settings: LogSettings, name: string): string | null {
  const { env } = settings
  const missing = [
    ...['SVC_API_URL', 'SVC_API_KEY'].filter((variable) => !env[variable]),
    ...(agentKeyOf(settings) === '' ? ['SVC_AGENT_KEY (or --agent-key)'] : []),
  ]
  if (missing.length > 0) return `${name} is \`api\`, which needs a platform: set ${missing.join(' and ')}`
  if (addressIn(env.SVC_API_URL ?? '') === null) return 'SVC_API_URL is not an http(s) address without a user name'
  const key_problem = keyProblem(env)
  if (key_problem !== null) return key_problem
  if (spoolMib(env) === null)
    return `SVC_SPOOL_MIB must be a whole number of MiB from ${minSpoolMib} to ${maxSpoolMib}, found \`${env.SVC_SPOOL_MIB}\``
  return null
}

/**
 * The memories of agents: a file in the data directory, unless neither a trace nor the environment names a folder. It
 * holds digests, so `metadata_only` does not change it. Throws when the file cannot be read.
 */
export function openMemoryStore(settings: LogSettings, report: (line: string) => void): MemoryStore {
  const folder = lastingFolder(settings)
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
