import type { ErasureRequest } from '@svc/schemas'
import { erase } from '../commands/erase.js'
import { byAdmin, byReader, parameters, type Route } from '../../../http/route.js'
import { withSnapshot } from '../../../db/db.js'
import { listErasures } from '../../../db/lists.js'
import { listReply, pageOf } from '../../../http/paging.js'

const tag = 'Erasures'

export const erasureRoutes: readonly Route[] = [
  {
    method: 'post',
    path: '/api/v1/erasures',
    summary: 'Erase what the steps of a task carried, or those that name a subject; chains and proofs stay whole',
    tag,
    access: byAdmin,
    body: 'erasure-request',
    responses: { 201: 'erasure-result' },
    handle: async ({ platform, scope, body }) => ({
      status: 201,
      body: await erase(platform, scope, body as ErasureRequest),
    }),
  },
  {
    method: 'get',
    path: '/api/v1/erasures',
    summary: 'What has been erased, by whom, and why',
    tag,
    access: byReader,
    query: {
      task_id: parameters.text('of one task'),
      ...{ limit: parameters.limit(200, 50), cursor: parameters.cursor },
    },
    responses: { 200: 'erasure-list' },
    handle: async ({ platform, scope, query }) => {
      const page = pageOf(query)
      const listed = await withSnapshot(platform.db, scope, (tx) => listErasures(scope, tx, query, page))
      return listReply('erasures', listed, page, ({ id }) => id)
    },
  },
]
