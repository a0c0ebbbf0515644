// The fields of an export request of traces that steps and the list of unmapped spans need, as opentelemetry.io publishes them
// (opentelemetry-proto 1, trace_service.proto). Read, they have the form of OTLP JSON.
import type { Field, Message } from '../../http/protobuf.js'

const text = (name: string): Field => ({ name, kind: 'text' })
const list = (name: string, kind: Message): Field => ({ name, kind, repeated: true })

const anyValue: Message = () => anyValueFields
const keyValue: Message = () => keyValueFields

const anyValueFields: ReturnType<Message> = {
  1: text('stringValue'),
  2: { name: 'boolValue', kind: 'bool' },
  3: { name: 'intValue', kind: 'int64' },
  4: { name: 'doubleValue', kind: 'double' },
  5: { name: 'arrayValue', kind: () => arrayFields },
  6: { name: 'kvlistValue', kind: () => kvlistFields },
  7: { name: 'bytesValue', kind: 'base64' },
}
const arrayFields = { 1: list('values', anyValue) }
const kvlistFields = { 1: list('values', keyValue) }
const keyValueFields: ReturnType<Message> = { 1: text('key'), 2: { name: 'value', kind: anyValue } }
const attributes = (number: number) => ({ [number]: list('attributes', keyValue) })

const event: ReturnType<Message> = { 2: text('name'), ...attributes(3) }
const status: ReturnType<Message> = { 2: text('message'), 3: { name: 'code', kind: 'enum' } }

const span: ReturnType<Message> = {
  1: { name: 'traceId', kind: 'hex' },
  2: { name: 'spanId', kind: 'hex' },
  4: { name: 'parentSpanId', kind: 'hex' },
  5: text('name'),
  6: { name: 'kind', kind: 'enum' },
  7: { name: 'startTimeUnixNano', kind: 'fixed64' },
  8: { name: 'endTimeUnixNano', kind: 'fixed64' },
  ...attributes(9),
  11: list('events', () => event),
  15: { name: 'status', kind: () => status },
}

const scope = { 1: text('name') }
const scopeSpans: ReturnType<Message> = {
  1: { name: 'scope', kind: () => scope },
  2: { ...list('spans', () => span), later: true },
}

const resource = attributes(1)
const resourceSpans: ReturnType<Message> = {
  1: { name: 'resource', kind: () => resource },
  2: list('scopeSpans', () => scopeSpans),
}

const request = { 1: list('resourceSpans', () => resourceSpans) }
export const exportRequest: Message = () => request
