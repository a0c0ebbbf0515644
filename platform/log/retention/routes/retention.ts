import { type Resources, withSnapshot } from '../../../db/db.js'
import { listHandler } from '../../../http/paging.js'
import { byAdmin, byReader, type Call, parameters, route } from '../../../http/route.js'
import { placeHold, releaseHold } from '../commands/hold.js'
import { setRetention } from '../commands/set-retention.js'
import type { Retention } from '../retention.js'
import { listHolds } from '../store/holds.js'
import { readPrunes, retentionDays } from '../store/retention.js'

export interface RetentionParts extends Resources {
  readonly retention: Retention
}

const tag = 'Retention'

export const retentionRoutes = [
  route({
    method: 'get',
    path: '/api/v1/retention',
    summary: 'Get the retention period and all prunes',
    tag,
    access: byReader,
    responses: { 200: 'retention' },
    handle: (call, parts: RetentionParts) => retentionReply(call, parts),
  }),
  route({
    method: 'post',
    path: '/api/v1/retention',
    summary: 'Set the retention period: 184 days or more',
    tag,
    access: byAdmin,
    body: 'retention-request',
    responses: { 200: 'retention' },
    handle: async (call, parts: RetentionParts) => {
      await setRetention(parts, call.scope, call.body.retention_days)
      return retentionReply(call, parts)
    },
  }),
  route({
    method: 'post',
    path: '/api/v1/retention/prune',
    summary: 'Archive and delete older entries now; an hourly job does the same for whole months',
    tag,
    access: byAdmin,
    responses: { 200: 'retention' },
    handle: async (call, parts: RetentionParts) => {
      await parts.retention.prune(call.scope)
      return retentionReply(call, parts)
    },
  }),
  route({
    method: 'get',
    path: '/api/v1/holds',
    summary: 'List legal holds, active and released',
    tag,
    access: byReader,
    query: {
      task_id: parameters.text('one task'),
      on: parameters.flag('only active holds (`true`), or only released ones (`false`)'),
      limit: parameters.limit(200, 50),
      cursor: parameters.cursor,
    },
    responses: { 200: 'hold-list' },
    handle: listHandler('holds', listHolds, ({ id }) => id),
  }),
  route({
    method: 'post',
    path: '/api/v1/holds',
    summary: 'Place a legal hold on a task or on the whole log: held entries are neither erased nor pruned',
    tag,
    access: byAdmin,
    body: 'hold-request',
    responses: { 201: 'hold' },
    handle: async ({ scope, body }, parts: RetentionParts) => ({
      status: 201,
      body: await placeHold(parts, scope, body),
    }),
  }),
  route({
    method: 'post',
    path: '/api/v1/holds/{hold_id}/release',
    summary: 'Release a legal hold',
    tag,
    access: byAdmin,
    responses: { 200: 'hold' },
    handle: async ({ scope, params }, parts: RetentionParts) => ({
      status: 200,
      body: await releaseHold(parts, scope, params.hold_id),
    }),
  }),
]

async function retentionReply({ scope }: Call, { db }: RetentionParts) {
  const body = await withSnapshot(db, scope, async (tx) => ({
    retention_days: await retentionDays(scope, tx),
    prunes: await readPrunes(scope, tx),
  }))
  return { status: 200, body }
}
