import type { HoldRequest, RetentionRequest } from '@svc/schemas'
import { placeHold, releaseHold } from '../commands/hold.js'
import { setRetention } from '../commands/set-retention.js'
import { byAdmin, byReader, type Call, parameters, type Route } from '../../../http/route.js'
import { withSnapshot } from '../../../db/db.js'
import { listHolds } from '../../../db/lists.js'
import { readPrunes, retentionDays } from '../store/retention.js'
import { listReply, pageOf } from '../../../http/paging.js'

const tag = 'Retention'

export const keepingRoutes: readonly Route[] = [
  {
    method: 'get',
    path: '/api/v1/retention',
    summary: 'How long entries are kept, and what has been pruned',
    tag,
    access: byReader,
    responses: { 200: 'retention' },
    handle: (call) => retention(call),
  },
  {
    method: 'post',
    path: '/api/v1/retention',
    summary: 'Set how long entries are kept: 184 days or more',
    tag,
    access: byAdmin,
    body: 'retention-request',
    responses: { 200: 'retention' },
    handle: async (call) => {
      await setRetention(call.platform, call.scope, (call.body as RetentionRequest).retention_days)
      return retention(call)
    },
  },
  {
    method: 'post',
    path: '/api/v1/retention/prune',
    summary: 'Archive and take out now what is older; it happens by itself within the hour',
    tag,
    access: byAdmin,
    responses: { 200: 'retention' },
    handle: async (call) => {
      await call.platform.retention.prune(call.scope)
      return retention(call)
    },
  },
  {
    method: 'get',
    path: '/api/v1/holds',
    summary: 'What may neither be erased nor pruned, and what was released',
    tag,
    access: byReader,
    query: {
      task_id: parameters.text('of one task'),
      on: parameters.flag('only those that are still on, or only those that are not'),
      ...{ limit: parameters.limit(200, 50), cursor: parameters.cursor },
    },
    responses: { 200: 'hold-list' },
    handle: async ({ platform, scope, query }) => {
      const page = pageOf(query)
      const listed = await withSnapshot(platform.db, scope, (tx) => listHolds(scope, tx, query, page))
      return listReply('holds', listed, page, ({ id }) => id)
    },
  },
  {
    method: 'post',
    path: '/api/v1/holds',
    summary: 'Hold a task, or everything: nothing of it is erased or pruned meanwhile',
    tag,
    access: byAdmin,
    body: 'hold-request',
    responses: { 201: 'hold' },
    handle: async ({ platform, scope, body }) => ({
      status: 201,
      body: await placeHold(platform, scope, body as HoldRequest),
    }),
  },
  {
    method: 'post',
    path: '/api/v1/holds/{hold_id}/release',
    summary: 'Release a hold',
    tag,
    access: byAdmin,
    responses: { 200: 'hold' },
    handle: async ({ platform, scope, params }) => ({
      status: 200,
      body: await releaseHold(platform, scope, params.hold_id ?? ''),
    }),
  },
]

async function retention({ platform, scope }: Call) {
  const body = await withSnapshot(platform.db, scope, async (tx) => ({
    retention_days: await retentionDays(scope, tx),
    prunes: await readPrunes(scope, tx),
  }))
  return { status: 200, body }
}
