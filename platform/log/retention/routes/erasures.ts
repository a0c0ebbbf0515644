import type { Resources } from '../../../db/db.js'
import { listHandler } from '../../../http/paging.js'
import { byAdmin, byReader, parameters, route } from '../../../http/route.js'
import type { Sealer } from '../../../secrets/seal.js'
import { listErasures } from '../../read/store/erasures.js'
import { erase } from '../commands/erase.js'

interface ErasureParts extends Resources {
  readonly sealer: Sealer
}

const tag = 'Erasures'

export const erasureRoutes = [
  route({
    method: 'post',
    path: '/api/v1/erasures',
    summary: 'Erase the payloads of a task, or of the steps that name a subject; chains and proofs stay valid',
    tag,
    access: byAdmin,
    body: 'erasure-request',
    responses: { 201: 'erasure-result' },
    handle: async ({ scope, body }, parts: ErasureParts) => ({
      status: 201,
      body: await erase(parts, scope, body),
    }),
  }),
  route({
    method: 'get',
    path: '/api/v1/erasures',
    summary: 'List erasures, with their actors and legal bases',
    tag,
    access: byReader,
    query: {
      task_id: parameters.text('one task'),
      limit: parameters.limit(200, 50),
      cursor: parameters.cursor,
    },
    responses: { 200: 'erasure-list' },
    handle: listHandler('erasures', listErasures, ({ id }) => id),
  }),
]
