// From bytes to a checked body.
import type { IncomingMessage } from 'node:http'
import { documents, type SchemaName } from '@svc/schemas'
import { lineAndColumn, parseStrictJson } from '../log/strict-json.js'
import { createChecker } from '../schema-check.js'
import { ServeError } from './errors.js'

/** Largest body, bytes (engine.md §7). */
const largest = 1024 * 1024
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const checker = createChecker(Object.values(documents))

/** The request's body as its schema's type. Throws MALFORMED, INVALID, TOO_LARGE or UNSUPPORTED_MEDIA_TYPE. */
export async function readBody<T>(request: IncomingMessage, schema: SchemaName): Promise<T> {
  const type = (request.headers['content-type'] ?? 'application/json').split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/json') throw new ServeError('UNSUPPORTED_MEDIA_TYPE', 'send the body as `application/json`')
  if (request.headers['content-encoding'] !== undefined)
    throw new ServeError('UNSUPPORTED_MEDIA_TYPE', 'send the body uncompressed')
  const value = parse(await readBytes(request))
  const problems = checker(`${schema}.json`)(value)
  if (problems.length === 0) return value as T
  const errors = problems.map(({ path, message }) => ({ path: path.join('.'), message }))
  const [first] = errors
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : ''
  throw new ServeError(
    'INVALID',
    `${first?.path === '' ? 'body' : `\`${first?.path}\``}: ${first?.message}${more}`,
    errors,
  )
}

async function readBytes(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    chunks.push(chunk as Buffer)
    size += (chunk as Buffer).length
    if (size > largest) throw new ServeError('TOO_LARGE', 'the body is larger than 1 MiB')
  }
  return Buffer.concat(chunks)
}

function parse(bytes: Buffer): unknown {
  let text: string
  try {
    text = utf8.decode(bytes)
  } catch {
    throw new ServeError('MALFORMED', 'the body is not UTF-8')
  }
  const reading = parseStrictJson(text)
  if (reading.problem === null) return reading.value
  const { message, offset } = reading.problem
  if (offset === null) throw new ServeError('MALFORMED', message)
  const { line, column } = lineAndColumn(text, offset)
  throw new ServeError('MALFORMED', `${message} at line ${line}, column ${column}`)
}
