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

/** Empty when none is set. */
export function agentKeyOf({ agentKey, env }: LogSettings): string {
  return agentKey || env.SVC_AGENT_KEY || ''
}

export function dataFolder({ SVC_DATA_DIR }: Environment): string {
  return SVC_DATA_DIR || 'data'
}

/** The folder for what must outlive the process; null when neither the trace nor the environment names one. */
export function lastingFolder(settings: LogSettings): string | null {
  const is_named = settings.env.SVC_DATA_DIR || !['stdout', 'none'].includes(logLocation(settings))
  return is_named ? dataFolder(settings.env) : null
}

const defaultSpoolMib = 512
/** Two for a step of the largest size beside what is reserved. */
export const minSpoolMib = 4
export const maxSpoolMib = 1024 * 1024

/** Null for a value that is not a number of MiB. */
export function spoolMib({ SVC_SPOOL_MIB: text = '' }: Environment): number | null {
  if (text.trim() === '') return defaultSpoolMib
  const mib = Number(text)
  return Number.isInteger(mib) && mib >= minSpoolMib && mib <= maxSpoolMib ? mib : null
}
