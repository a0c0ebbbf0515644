// Delivery of incidents: in the trace, or apart from it (docs/design/engine.md §8).
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import { requestJson } from '@svc/proof'
import { endpointOf } from '../../source/fetch.js'
import type { Receiver } from '../delivery/post.js'
import { postLines } from '../delivery/post-lines.js'
import { orDropped, spooled, spoolOf } from '../delivery/spooled.js'
import { openLines } from './file.js'
import { withoutPayloads } from './metadata.js'
import { addressIn, dataFolder, type Environment, keyProblem, shownLocation } from './settings.js'
import type { Sink, TraceLine } from './sink.js'

type IncidentLine = Extract<TraceLine, { kind: 'incident' }>
type StepLine = Extract<TraceLine, { kind: 'step' }>

export interface IncidentOptions {
  readonly incidentLocation?: string
  readonly incidentFormat?: string
  readonly agentKey?: string
}

/** Options take precedence over variables; an empty variable counts as absent. */
function settingsOf({ incidentLocation, incidentFormat }: IncidentOptions, env: Environment) {
  return {
    location: incidentLocation ?? (env.SVC_INCIDENT_LOCATION || 'trace'),
    format: incidentFormat ?? (env.SVC_INCIDENT_FORMAT || 'incident'),
    location_name: incidentLocation === undefined ? 'SVC_INCIDENT_LOCATION' : '--incident-location',
    format_name: incidentFormat === undefined ? 'SVC_INCIDENT_FORMAT' : '--incident-format',
  }
}

/** The problem with the settings, which names the variable and the choices; null when they can be used. */
export function incidentProblem(options: IncidentOptions, env: Environment): string | null {
  const { location, format, location_name, format_name } = settingsOf(options, env)
  const missing = ['SVC_API_URL', 'SVC_API_KEY'].filter((name) => !env[name])
  if (location === 'api' && missing.length > 0)
    return `${location_name} is \`api\`, which needs a platform: set ${missing.join(' and ')}`
  if (location === 'api' && addressIn(env.SVC_API_URL ?? '') === null)
    return 'SVC_API_URL is not an http(s) address without a user name'
  if (location === 'api' && keyProblem(env) !== null) return keyProblem(env)
  const is_known =
    ['trace', 'stdout', 'api'].includes(location) || /^file:./.test(location) || addressIn(location) !== null
  if (!is_known)
    return `${location_name} must be trace, stdout, file:PATH, api, or an http(s) address without a user name, found \`${shownLocation(location)}\``
  if (format !== 'incident' && format !== 'behavior')
    return `${format_name} must be incident or behavior, found \`${format}\``
  if (format === 'behavior' && location === 'trace')
    return `${format_name} is \`behavior\`, which the trace does not have: set ${location_name} to stdout, file:PATH, api or an http(s) address`
  return null
}

/** The sink with incidents delivered as the settings say, which must have no problem. Throws when a file cannot be opened. */
export function withIncidents(
  sink: Sink,
  options: IncidentOptions,
  env: Environment,
  out: Writable,
  report: (line: string) => void,
): Sink {
  const { location, format } = settingsOf(options, env)
  if (location === 'trace') return sink
  const lines = openOutput(location, env, out, report)
  const agent_key = options.agentKey ?? env.SVC_AGENT_KEY
  // INVARIANT (step first): the line of a step is written right before those of its incidents.
  let last: StepLine | null = null
  return {
    ...sink,
    on_stdout: sink.on_stdout || location === 'stdout',
    write: (line) => {
      if (line.kind !== 'incident') {
        if (line.kind === 'step') last = line
        sink.write(line)
        return
      }
      const delivered = { ...line, ...(agent_key && { agent_key }) }
      lines.write(requestJson(format === 'behavior' ? stepWith(delivered, last) : delivered))
    },
    settled: async () => {
      await Promise.all([sink.settled(), lines.settled()])
    },
    flush: async () => {
      await Promise.all([sink.flush(), lines.flush()])
    },
    close: async () => {
      await lines.close()
      await sink.close()
    },
  }
}

/** The step of the incident without its payloads, with the incident in `meta`. */
function stepWith(incident: IncidentLine, last: StepLine | null): object {
  const { agent_id, task_id, step, recorded_at: timestamp } = incident
  const meta = { 'svc.incident': incident }
  if (last !== null && step !== null && last.task_id === task_id && last.step === step) {
    const { kind: _kind, recorded_at: _at, ...rest } = withoutPayloads(last) as StepLine
    return { ...rest, meta: { ...rest.meta, ...meta } }
  }
  const ids = { ...(agent_id !== null && { agent_id }), ...(task_id !== null && { task_id }), timestamp }
  if (task_id !== null) return { ...ids, step_type: 'task.end', meta }
  return { ...ids, step_type: 'step.unknown', step_name: 'agent_registration', meta }
}

interface Output {
  readonly write: (line: string) => void
  /** As of a sink. */
  readonly settled: () => Promise<void>
  readonly flush: () => Promise<void>
  readonly close: () => Promise<void>
}

function openOutput(location: string, env: Environment, out: Writable, report: (line: string) => void): Output {
  const none = async () => undefined
  if (location === 'stdout')
    return { write: (line) => void out.write(`${line}\n`), settled: none, flush: none, close: none }
  if (location.startsWith('file:'))
    return { ...openLines(location.slice('file:'.length), report), settled: none, flush: none }
  const { SVC_API_URL: url = '', SVC_API_KEY: api_key = '' } = env
  const is_api = location === 'api'
  const receiver: Receiver = is_api
    ? { href: endpointOf(url, 'api/v1/incidents').href, api_key }
    : { href: location, api_key: null }
  const folder = env.SVC_CACHE_DIR || join(dataFolder(env), 'cache')
  const name = `incidents-${createHash('sha256').update(receiver.href).digest('hex').slice(0, 32)}`
  const { spool, sender } = spooled({
    folder,
    name,
    noun: 'incidents',
    limits: spoolOf(16 * 1024 * 1024),
    // A request of the platform takes a hundred.
    max_lines: 100,
    deliver: (lines, signal) => postLines(receiver, lines, signal),
    report,
  })
  const { write } = orDropped(spool, sender, 'incidents', report)
  return { write, settled: spool.settled, flush: spool.flush, close: sender.close }
}
