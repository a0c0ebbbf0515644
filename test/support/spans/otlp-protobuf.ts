// OTLP as protocol buffers, written and read with the messages as OpenTelemetry publishes them: not with our own tables.
import protobuf from 'protobufjs'

const messages = `
syntax = "proto3";
message Request { repeated ResourceSpans resource_spans = 1; }
message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; string schema_url = 3; }
message Resource { repeated KeyValue attributes = 1; uint32 dropped_attributes_count = 2; }
message ScopeSpans { Scope scope = 1; repeated Span spans = 2; string schema_url = 3; }
message Scope { string name = 1; string version = 2; repeated KeyValue attributes = 3; }
message Span {
  bytes trace_id = 1; bytes span_id = 2; string trace_state = 3; bytes parent_span_id = 4; string name = 5; int32 kind = 6;
  fixed64 start_time_unix_nano = 7; fixed64 end_time_unix_nano = 8; repeated KeyValue attributes = 9;
  uint32 dropped_attributes_count = 10; repeated Event events = 11; Status status = 15; fixed32 flags = 16;
}
message Event { fixed64 time_unix_nano = 1; string name = 2; repeated KeyValue attributes = 3; }
message Status { string message = 2; int32 code = 3; }
message KeyValue { string key = 1; AnyValue value = 2; }
message AnyValue {
  oneof value {
    string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4; ArrayValue array_value = 5;
    KeyValueList kvlist_value = 6; bytes bytes_value = 7;
  }
}
message ArrayValue { repeated AnyValue values = 1; }
message KeyValueList { repeated KeyValue values = 1; }
message Response { PartialSuccess partial_success = 1; }
message PartialSuccess { int64 rejected_spans = 1; string error_message = 2; }
message RpcStatus { int32 code = 1; string message = 2; }
`
const { root } = protobuf.parse(messages)

export const protobufType = { 'content-type': 'application/x-protobuf' }

/** A request of OTLP JSON as protocol buffers. */
export function toProtobuf(request: object): Uint8Array {
  const type = root.lookupType('Request')
  return type.encode(type.fromObject(binaryIds(request) as object)).finish()
}

/** Ids in JSON are hexadecimal; the library takes bytes as base64. */
function binaryIds(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(binaryIds)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      /^(traceId|spanId|parentSpanId)$/.test(name) ? Buffer.from(String(member), 'hex') : binaryIds(member),
    ]),
  )
}

/** A request with one span, which has an attribute of lists in lists; the library writes no value that is so deep. */
export function toDeepProtobuf(span: object, levels: number): Uint8Array {
  const type = root.lookupType('Span')
  const field = (tag: number, bytes: Uint8Array) =>
    Buffer.concat([protobuf.Writer.create().uint32(tag).uint32(bytes.length).finish(), bytes])
  let value = field(0x0a, Buffer.from('deep'))
  for (let level = 0; level < levels; level++) value = field(0x2a, field(0x0a, value))
  const attribute = Buffer.concat([field(0x0a, Buffer.from('deep')), field(0x12, value)])
  const fields = [type.encode(type.fromObject(binaryIds(span) as object)).finish(), field(0x4a, attribute)]
  return field(0x0a, field(0x12, field(0x12, Buffer.concat(fields))))
}

export function fromProtobuf(type: 'Response' | 'RpcStatus', bytes: Uint8Array): object {
  const message = root.lookupType(type)
  return message.toObject(message.decode(Buffer.from(bytes)), { longs: Number })
}
