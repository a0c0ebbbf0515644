// The settings of the trace, checked before the start: a wrong one must not write what was to be left out.

import { payloadChoices, payloadsIn } from './metadata.js'
import { endpointProblem } from './otlp-endpoint.js'

export type Environment = Readonly<Record<string, string | undefined>>

export interface TraceOptions {
  readonly logLocation?: string
  readonly logFormat?: string
  readonly agentKey?: string
}

export const logFormats = ['behavior', 'entry'] as const

/** Options take precedence over variables; an empty variable counts as absent. */
export function locationOf({ logLocation }: TraceOptions, env: Environment): string {
  return logLocation ?? (env.SVC_LOG_LOCATION || 'auto')
}

export function isEntryFormat({ logFormat }: TraceOptions, env: Environment): boolean {
  return (logFormat ?? env.SVC_LOG_FORMAT)?.toLowerCase() === 'entry'
}

/** The problem with the settings, which names the variable and the choices; null when they can be used. */
export function traceProblem(options: TraceOptions, env: Environment): string | null {
  if (payloadsIn(env) === null)
    return `SVC_LOG_PAYLOADS must be ${payloadChoices.join(' or ')}, found \`${env.SVC_LOG_PAYLOADS}\``
  const location = locationOf(options, env)
  const format = options.logFormat ?? (env.SVC_LOG_FORMAT || 'behavior')
  const name = options.logFormat === undefined ? 'SVC_LOG_FORMAT' : '--log-format'
  if (!logFormats.some((known) => known === format.toLowerCase()))
    return `${name} must be ${logFormats.join(' or ')}, found \`${format}\``
  if (isEntryFormat(options, env) && !/^(auto|stdout|none|file:.*)$/s.test(location))
    return `${name} is \`entry\`, which only stdout and file:PATH have, not \`${location}\``
  return location.startsWith('otlp:') ? endpointProblem(location, env) : null
}
