import type { Scope } from '../../db/scope.js'
import { isProtobuf, protobufType } from '../../http/otlp.js'
import { listHandler, pageByIndex } from '../../http/paging.js'
import { type KeyIdentity, keyOf } from '../../http/principal.js'
import { createWriter } from '../../http/protobuf.js'
import { byKey, byReader, parameters, type Reply, route } from '../../http/route.js'
import { type SpanParts, type TakenSpans, takeSpans } from '../commands/take-spans.js'
import { readExportRequest } from '../otlp/read-request.js'
import { listUnmapped } from '../store/unmapped-spans.js'

const tag = 'OpenTelemetry'

export const otlpRoutes = [
  route({
    method: 'post',
    path: '/v1/traces',
    summary: 'Take spans of OpenTelemetry (OTLP over HTTP); those that are acts of an agent become steps',
    tag,
    access: byKey,
    body: 'otlp-request',
    otlp: true,
    responses: { 200: 'otlp-answer' },
    handle: async ({ raw, scope, principal, header }, parts: SpanParts) => {
      const type = header('content-type')
      const take = () => takeExported(parts, scope, keyOf(principal), raw, type)
      const { taken, total } = await (raw.length > largeBytes ? parts.conversions(scope.org_id, take) : take())
      return isProtobuf(type) ? protobufReply(taken, total) : jsonReply(taken, total)
    },
  }),
  route({
    method: 'get',
    path: '/api/v1/traces/unmapped',
    summary: 'List the spans that are not acts of an agent, counted by name',
    tag,
    access: byReader,
    query: { limit: parameters.limit(200, 50), cursor: parameters.cursor },
    responses: { 200: 'unmapped-span-list' },
    handle: listHandler('spans', listUnmapped, ({ id }) => id, pageByIndex),
  }),
]

/** Larger requests wait for each other. */
const largeBytes = 1024 * 1024

async function takeExported(
  parts: SpanParts,
  scope: Scope,
  key: KeyIdentity,
  raw: Uint8Array,
  type: string | undefined,
): Promise<{ readonly taken: TakenSpans; readonly total: number }> {
  const exported = await readExportRequest(parts.pace, raw, type)
  const taken = await takeSpans(parts, scope, key, exported)
  return { taken, total: exported.spans.length + exported.problems.length }
}

function jsonReply(taken: TakenSpans, total: number): Reply {
  const { rejected } = taken
  const partialSuccess = { rejectedSpans: String(rejected), errorMessage: messageOf(taken, total) }
  return { status: 200, body: rejected === 0 ? {} : { partialSuccess } }
}

/** An ExportTraceServiceResponse: its field 1 has the number of rejected spans and the message. */
function protobufReply(taken: TakenSpans, total: number): Reply {
  const { rejected } = taken
  const writer = createWriter()
  if (rejected > 0)
    writer.uint32(10).fork().uint32(8).int64(rejected).uint32(18).string(messageOf(taken, total)).ldelim()
  return { status: 200, bytes: { type: protobufType, content: writer.finish() } }
}

/** Reasons that an answer names. */
const maxReasons = 3

function messageOf({ rejected, reasons }: TakenSpans, total: number): string {
  const shown = reasons.slice(0, maxReasons).join('; ')
  const more = reasons.length > maxReasons ? '; …' : ''
  return `${rejected} of ${total} spans ${rejected === 1 ? 'was' : 'were'} rejected: ${shown}${more}`
}
