// Reads and checks a request body.
import type { IncomingMessage } from 'node:http'
import { lineAndColumn, parseStrictJson } from '@svc/proof'
import { documents, type SchemaName } from '@svc/schemas'
import { createNullRemoval, type NullRemoval } from '../check/null-members.js'
import { createChecker, fieldProblem, problemSummary, type SchemaCheck } from '../check/schema-check.js'
import { ServeError } from './errors.js'

/** docs/design/engine.md §7. */
const maxBodyBytes = 1024 * 1024
/** A larger body is read up to this size before it is rejected: a caller that is cut off does not see the answer. */
const maxDiscardedBytes = 16 * maxBodyBytes
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export interface BodyReader {
  /** The body as its schema's type; `prepare` changes it before it is checked. Throws MALFORMED, INVALID, TOO_LARGE or UNSUPPORTED_MEDIA_TYPE. */
  readonly read: <T>(request: IncomingMessage, schema: SchemaName, prepare?: (body: unknown) => unknown) => Promise<T>
  /** Compiles the schema before its first body. */
  readonly prepare: (schema: SchemaName) => void
}

/** Schemas are compiled at their first use, so that the start does not wait for them. */
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
    read: async <T>(request: IncomingMessage, schema: SchemaName, prepare = (body: unknown) => body) => {
      assertJson(request)
      const value = prepare(parse(await readBytes(request)))
      nullsOf(schema)(value)
      assertValid(checkOf(schema), value)
      return value as T
    },
    prepare: (schema) => {
      checkOf(schema)
      nullsOf(schema)
    },
  }
}

function assertJson({ headers }: IncomingMessage): void {
  const type = (headers['content-type'] ?? 'application/json').split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/json') throw new ServeError('UNSUPPORTED_MEDIA_TYPE', 'send the body as `application/json`')
  if (headers['content-encoding'] !== undefined)
    throw new ServeError('UNSUPPORTED_MEDIA_TYPE', 'send the body uncompressed')
}

/** Listens for chunks itself: an async iterator costs a quarter of a whole decision. */
function readBytes(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const tooLarge = () => reject(new ServeError('TOO_LARGE', 'the body is larger than 1 MiB'))
    if (Number(request.headers['content-length'] ?? 0) > maxDiscardedBytes) return tooLarge()
    const chunks: Buffer[] = []
    let size = 0
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size <= maxBodyBytes) chunks.push(chunk)
      else if (size > maxDiscardedBytes) {
        request.pause()
        tooLarge()
      }
    })
    request.on('end', () => {
      if (size > maxBodyBytes) return tooLarge()
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

function assertValid(check: SchemaCheck, value: unknown): void {
  const errors = check(value).map(fieldProblem)
  if (errors.length > 0) throw new ServeError('INVALID', problemSummary(errors), errors)
}
