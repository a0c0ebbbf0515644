// Why a database or a folder cannot be used, with the cure, for the operator.
import pg from 'pg'
import type { Config } from '../config.js'
import { PlatformError } from '../errors.js'

/** The cause of a failure: the disk, the connection to a server, or something else. */
type FailureKind = 'disk' | 'connection' | 'other'

const disk = /^(53100|ENOSPC|EDQUOT)$/
const connection =
  /^(08|28|3D000|57P0|53300|25006)|^(ECONN|EPIPE|ENOENT|ETIMEDOUT|EHOST|ENETUNREACH|ENOTFOUND|EAI_AGAIN)/

/** Causes are followed: the error that the server or the system reported decides. */
export function failureKind(error: unknown): FailureKind {
  if (error instanceof PlatformError) return error.cause === undefined ? 'other' : failureKind(error.cause)
  const { code } = originOf(error)
  if (disk.test(code)) return 'disk'
  // The driver reports a lost connection without a code.
  const isLost = code === '' && error instanceof Error
  return isLost || connection.test(code) ? 'connection' : 'other'
}

/** Cause and cure in one sentence; null for an error that is not one of the database or of a folder. */
export function failureText(error: unknown, config: Pick<Config, 'database_url' | 'data_dir'>): string | null {
  const origin = originOf(error)
  const { code, message, path } = origin
  const place = placeOf(config)
  if (disk.test(code) && path !== null) return `the disk of \`${path}\` is full: free space on it, or set SVC_DATA_DIR`
  const [, text] = sentences.find(([codes]) => codes.test(code)) ?? []
  if (text !== undefined && (config.database_url !== null || disk.test(code))) return text(place, message)
  if (/^(EACCES|EPERM|EROFS)$/.test(code) && path !== null)
    return `\`${path}\` cannot be used (${code}): give the user of this process the right to write there, or set SVC_DATA_DIR`
  const isAway = error instanceof PlatformError && error.code === 'UNAVAILABLE' && config.database_url !== null
  return isAway ? noAnswer(place) : null
}

type Sentence = (place: string, message: string) => string

const sentences: readonly (readonly [codes: RegExp, text: Sentence])[] = [
  [disk, (place) => `the disk of ${place} is full: free space on it, or make it larger`],
  [
    /^28/,
    (place, message) =>
      `${place} rejects the user (${message}): correct the user and the password in SVC_DATABASE_URL, or allow the user in pg_hba.conf of the server`,
  ],
  [
    /^3D000$/,
    (place, message) =>
      `${place} lacks the database (${message}): create it with \`createdb\`, or correct the name in SVC_DATABASE_URL`,
  ],
  [/^53300$/, (place) => `${place} has no free connection: raise \`max_connections\`, or start fewer processes`],
  [/^57P0/, (place) => `${place} is starting or stopping: try again once it accepts connections`],
  [/^25006$/, (place) => `${place} is read-only, as a standby is: name the primary server in SVC_DATABASE_URL`],
  [/^ECONNREFUSED$/, (place) => `${place} accepts no connections: start it, or correct SVC_DATABASE_URL`],
  [/^(ENOTFOUND|EAI_AGAIN)$/, (place) => `the host name of ${place} is unknown: correct SVC_DATABASE_URL`],
  [
    /^42501$/,
    (place, message) => `${place} denies a right (${message}): grant it to the user that SVC_DATABASE_URL names`,
  ],
  [connection, noAnswer],
]

function noAnswer(place: string): string {
  return `${place} does not answer: check the server and the network, or correct SVC_DATABASE_URL`
}

/** The database as an operator knows it, without the password. */
function placeOf({ database_url, data_dir }: Pick<Config, 'database_url' | 'data_dir'>): string {
  if (database_url === null) return `\`${data_dir}\``
  return URL.canParse(database_url) ? `the database server ${new URL(database_url).host}` : 'the database server'
}

interface Origin {
  readonly code: string
  readonly message: string
  readonly path: string | null
}

/** The innermost cause with a code of PostgreSQL or of the system. */
function originOf(error: unknown): Origin {
  const { code, message, path, cause } = (error ?? {}) as Partial<Record<keyof Origin | 'cause', unknown>>
  const inner = cause === undefined || cause === error ? null : originOf(cause)
  if (inner !== null && inner.code !== '') return inner
  return {
    code: typeof code === 'string' && /^([0-9A-Z]{5}|E[A-Z_]+)$/.test(code) ? code : '',
    message: typeof message === 'string' ? message : '',
    path: typeof path === 'string' ? path : null,
  }
}

/** The error UNAVAILABLE, which tells the caller whether the disk is full. */
export function unavailable(cause: unknown): PlatformError {
  if (cause instanceof PlatformError && cause.code === 'UNAVAILABLE') return cause
  const isFull = failureKind(cause) === 'disk'
  const message = isFull ? 'the disk of the database is full: retry later' : 'the database is unavailable: retry'
  return new PlatformError('UNAVAILABLE', message, { cause })
}

/** True if the code of an error means that the server is unreachable or overloaded, or that a lock was not granted. */
export function isUnavailable(error: unknown): boolean {
  const { code = '' } = error as { code?: string }
  return (
    /^(08|53|57P0|55P03|40P01|40001)/.test(code) || /^(ECONN|EPIPE|ENOENT|ETIMEDOUT|ENOTFOUND|EAI_AGAIN)/.test(code)
  )
}

/** The same for an error of a query. An error that the server did not send and no value caused is a connection error. */
export function isDriverUnavailable(error: unknown): boolean {
  return isUnavailable(error) || !(error instanceof pg.DatabaseError || error instanceof TypeError)
}
