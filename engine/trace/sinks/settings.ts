// The settings of the trace, as options and variables give them.
import { join } from 'node:path'

export type Environment = Readonly<Record<string, string | undefined>>

/** Options take precedence over variables; an empty one counts as absent. */
export interface LogSettings {
  readonly logLocation?: string | undefined
  readonly logFormat?: string | undefined
  readonly agentKey?: string | undefined
  /** True if the policies come from a platform. */
  readonly from_platform: boolean
  readonly env: Environment
}

/** The address of a receiver; null for another text, and for one with a user name. */
export function addressIn(text: string): URL | null {
  if (!URL.canParse(text)) return null
  const url = new URL(text)
  return /^https?:$/.test(url.protocol) && url.username === '' && url.password === '' ? url : null
}

/** A location for messages: an address without what may be a credential in it. */
export function shownLocation(location: string): string {
  if (!location.includes('://')) return location
  return location.replace(/\/\/.*@/s, '//…@').replace(/[?#].*$/s, '?…')
}

/** The problem with the key of the platform, without it; null when it can be sent. */
export function keyProblem({ SVC_API_KEY = '' }: Environment): string | null {
  const is_sendable = /^[\x20-\x7e]*$/.test(SVC_API_KEY.trim())
  return is_sendable ? null : 'SVC_API_KEY has a character that no key has, such as a line break: copy the key again'
}

export const logFormats = ['behavior', 'entry'] as const

/** The location without `auto`, which is the platform when the policies come from it, and a file otherwise. */
export function logLocation({ logLocation, from_platform, env }: LogSettings): string {
  const given = logLocation || env.SVC_LOG_LOCATION || 'auto'
  if (given !== 'auto') return given
  return from_platform ? 'api' : `file:${join(dataFolder(env), 'traces.jsonl')}`
}

export function logFormat({ logFormat, env }: LogSettings): string {
  return (logFormat || env.SVC_LOG_FORMAT || 'behavior').toLowerCase()
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
