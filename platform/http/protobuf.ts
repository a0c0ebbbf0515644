// Protocol buffers: messages of untrusted senders as plain values, by a table of their fields. The library's compiled
// decoders recurse without a limit on the number of values, and need code generation.
import protobuf from 'protobufjs/minimal.js'

/** A field that the reader keeps; all others are skipped. */
export interface Field {
  readonly name: string
  /** Integers of 64 bits become decimal text, bytes become text in the named encoding. */
  readonly kind: 'text' | 'hex' | 'base64' | 'bool' | 'int64' | 'fixed64' | 'double' | 'enum' | Message
  readonly repeated?: true
  /** A message that is read later: a `LaterMessage` is in its place. */
  readonly later?: true
}

/** The fields of a message by their numbers. A function, because messages may contain themselves. */
export type Message = () => Readonly<Record<number, Field>>

interface MessageLimits {
  readonly depth: number
  /** Messages in all, also empty ones: two bytes of a request become an object of 100 bytes. */
  readonly messages: number
}

export interface LaterMessage {
  /** In bytes. */
  readonly length: number
  /** Throws UnreadableMessage. */
  readonly read: () => Readonly<Record<string, unknown>>
}

type Code = 'malformed' | 'too_deep' | 'too_many'

/** Bytes that are not the message, or more than the limits allow. */
export class UnreadableMessage extends Error {
  readonly code: Code

  constructor(code: Code, message: string) {
    super(message)
    this.code = code
  }
}

export const createWriter = (): protobuf.Writer => protobuf.Writer.create()

/** Reads a message. Throws UnreadableMessage. */
export function readMessage(
  bytes: Uint8Array,
  message: Message,
  limits: MessageLimits,
): Readonly<Record<string, unknown>> {
  const reader = protobuf.Reader.create(bytes)
  return readFields({ reader, bytes, limits, count: { left: limits.messages } }, message, bytes.length, 1)
}

interface Reading {
  readonly reader: protobuf.Reader
  readonly limits: MessageLimits
  readonly bytes: Uint8Array
  /** Messages that may still come. */
  readonly count: { left: number }
}

function readFields(reading: Reading, message: Message, end: number, depth: number): Record<string, unknown> {
  if (depth > reading.limits.depth)
    throw new UnreadableMessage('too_deep', `values are nested more than ${reading.limits.depth} levels deep`)
  if (reading.count.left-- <= 0)
    throw new UnreadableMessage('too_many', `the request has more than ${reading.limits.messages} values`)
  const { reader } = reading
  const fields = message()
  const found: Record<string, unknown> = {}
  while (reader.pos < end) {
    const tag = guarded(() => reader.uint32())
    const field = fields[tag >>> 3]
    const type = tag & 7
    if (tag >>> 3 === 0) throw malformed()
    if (field === undefined || type !== typeOf(field)) skip(reader, type)
    else put(found, field, readField(reading, field, end, depth))
    if (reader.pos > end) throw malformed()
  }
  return found
}

function put(found: Record<string, unknown>, { name, repeated }: Field, value: unknown): void {
  if (!repeated) found[name] = value
  else if (Array.isArray(found[name])) found[name].push(value)
  else found[name] = [value]
}

function readField(reading: Reading, field: Field, end: number, depth: number): unknown {
  const { reader, bytes } = reading
  const { kind } = field
  if (typeof kind !== 'function') return guarded(() => scalars[kind](reader))
  const length = guarded(() => reader.uint32())
  const inner = reader.pos + length
  if (inner > end) throw malformed()
  if (!field.later) return readFields(reading, kind, inner, depth + 1)
  const own = bytes.subarray(reader.pos, inner)
  reader.pos = inner
  const read = () =>
    readFields({ ...reading, bytes: own, reader: protobuf.Reader.create(own) }, kind, own.length, depth + 1)
  return { length: own.length, read } satisfies LaterMessage
}

const scalars: Readonly<Record<Exclude<Field['kind'], Message>, (reader: protobuf.Reader) => unknown>> = {
  // Always well-formed: wrong bytes become U+FFFD.
  text: (reader) => bufferOf(reader).toString('utf8'),
  hex: (reader) => bufferOf(reader).toString('hex'),
  base64: (reader) => bufferOf(reader).toString('base64'),
  bool: (reader) => reader.bool(),
  int64: (reader) => reader.int64().toString(),
  fixed64: (reader) => reader.fixed64().toString(),
  // As in JSON, which has no number for these values.
  double: (reader) => finite(reader.double()),
  enum: (reader) => reader.int32(),
}

function finite(value: number): number | string {
  return Number.isFinite(value) ? value : String(value)
}

function bufferOf(reader: protobuf.Reader): Buffer {
  const bytes = reader.bytes()
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** The wire type of a field. */
function typeOf({ kind }: Field): number {
  if (kind === 'fixed64' || kind === 'double') return 1
  return kind === 'bool' || kind === 'int64' || kind === 'enum' ? 0 : 2
}

/** Groups, which nothing uses since proto2, would nest without a limit. */
function skip(reader: protobuf.Reader, type: number): void {
  if (type === 3 || type === 4) throw malformed()
  guarded(() => reader.skipType(type))
}

function guarded<T>(read: () => T): T {
  try {
    return read()
  } catch {
    throw malformed()
  }
}

function malformed(): UnreadableMessage {
  return new UnreadableMessage('malformed', 'the bytes are not a message of protocol buffers')
}
