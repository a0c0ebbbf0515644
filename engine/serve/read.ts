// From bytes to a checked body.
import type { IncomingMessage } from 'node:http'
import { lineAndColumn, parseStrictJson } from '@svc/proof'
import { documents, type SchemaName } from '@svc/schemas'
import { createNullRemoval, type NullRemoval } from '../check/null-members.js'
import { createChecker, problemSummary, type SchemaCheck } from '../check/schema-check.js'
import { ServeError } from './errors.js'

/** Largest body, bytes (docs/design/engine.md §7). */
const largest = 1024 * 1024
/** How much of a larger one is read before it is refused: who is cut off while sending does not see the answer. */
const mostDiscarded = 16 * largest
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export interface BodyReader {
  /** The body as its schema's type. Throws MALFORMED, INVALID, TOO_LARGE or UNSUPPORTED_MEDIA_TYPE. */
  readonly read: <T>(request: IncomingMessage, schema: SchemaName) => Promise<T>
  /** Compiles the schema now rather than at its first body. */
  readonly prepare: (schema: SchemaName) => void
}

/** Schemas are compiled when they are first needed, so that starting does not wait for them. */
export function createBodyReader(): BodyReader {
  let checker: ((id: string) => SchemaCheck) | undefined
  let nulls: ((id: string) => NullRemoval) | undefined
  const checkOf = (schema: SchemaName) => {
    checker ??= createChecker(Object.values(documents))
    return checker(`${schema}.json`)
  }
  const nullsOf = (schema: SchemaName) => {
    nulls ??= createNullRemoval(Object.values(documents))
    return nulls(`${schema}.json`)
  }
  return {
    read: async <T>(request: IncomingMessage, schema: SchemaName) => {
      refuseOtherTypes(request)
      const value = parse(await readBytes(request))
      nullsOf(schema)(value)
      refuseMisfit(checkOf(schema), value)
      return value as T
    },
    prepare: (schema) => {
      checkOf(schema)
      nullsOf(schema)
    },
  }
}

function refuseOtherTypes({ headers }: IncomingMessage): void {
  const type = (headers['content-type'] ?? 'application/json').split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/json') throw new ServeError('UNSUPPORTED_MEDIA_TYPE', 'send the body as `application/json`')
  if (headers['content-encoding'] !== undefined)
    throw new ServeError('UNSUPPORTED_MEDIA_TYPE', 'send the body uncompressed')
}

/** Listens for chunks itself: an async iterator costs a quarter of a whole decision. */
function readBytes(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const tooLarge = () => reject(new ServeError('TOO_LARGE', 'the body is larger than 1 MiB'))
    if (Number(request.headers['content-length'] ?? 0) > mostDiscarded) return tooLarge()
    const chunks: Buffer[] = []
    let size = 0
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size <= largest) chunks.push(chunk)
      else if (size > mostDiscarded) {
        request.pause()
        tooLarge()
      }
    })
    request.on('end', () => {
      if (size > largest) return tooLarge()
      const [only] = chunks
      resolve(only !== undefined && chunks.length === 1 ? only : Buffer.concat(chunks))
    })
    const cutOff = () => reject(new ServeError('MALFORMED', 'the request ended before its body did'))
    request.on('error', cutOff)
    request.on('close', () => {
      if (!request.complete) cutOff()
    })
  })
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

function refuseMisfit(check: SchemaCheck, value: unknown): void {
  const errors = check(value).map(({ path, message }) => ({ path: path.join('.'), message }))
  if (errors.length > 0) throw new ServeError('INVALID', problemSummary(errors), errors)
}
