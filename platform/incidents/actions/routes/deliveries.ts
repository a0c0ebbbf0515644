// Deliveries of actions.
import { withSnapshot } from '../../../db/db.js'
import { listReply, pageByIndex } from '../../../http/paging.js'
import { byAdmin, byReader, parameters, route, valuesOf } from '../../../http/route.js'
import { redeliver } from '../commands/redeliver.js'
import { unknownAction, unknownDelivery } from '../errors.js'
import type { ActionParts } from '../parts.js'
import { findPastAction } from '../store/actions.js'
import { findDelivery, listDeliveries, type PlacedDelivery } from '../store/deliveries.js'

const tag = 'Actions'

/** A delivery as callers see it: its position only orders lists. */
const shown = ({ position: _position, ...delivery }: PlacedDelivery) => delivery

export const deliveryRoutes = [
  route({
    method: 'get',
    path: '/api/v1/actions/deliveries/{id}',
    summary: 'Get a delivery with its body',
    tag,
    access: byReader,
    responses: { 200: 'delivery' },
    handle: async ({ scope, params }, { db }: ActionParts) => {
      const delivery = await withSnapshot(db, scope, (tx) => findDelivery(scope, tx, params.id))
      if (delivery === null) throw unknownDelivery()
      return { status: 200, body: shown(delivery) }
    },
  }),
  route({
    method: 'post',
    path: '/api/v1/actions/deliveries/{id}/redeliver',
    summary: 'Deliver again what was delivered or given up, under the same id',
    tag,
    access: byAdmin,
    responses: { 202: 'delivery' },
    handle: async ({ scope, params }, parts: ActionParts) => ({
      status: 202,
      body: shown(await redeliver(parts, scope, params.id)),
    }),
  }),
  route({
    method: 'get',
    path: '/api/v1/actions/{id}/deliveries',
    summary: 'List the deliveries of an action, also of a deleted one, newest first',
    tag,
    access: byReader,
    query: {
      state: parameters.choice('in this state', valuesOf('delivery', 'state')),
      limit: parameters.limit(200, 50),
      cursor: parameters.cursor,
    },
    responses: { 200: 'delivery-list' },
    handle: async ({ scope, params, query }, { db }: ActionParts) => {
      const page = pageByIndex(query)
      const listed = await withSnapshot(db, scope, async (tx) => {
        if ((await findPastAction(scope, tx, params.id)) === null) throw unknownAction()
        return listDeliveries(scope, tx, params.id, query, page)
      })
      const { status, body } = listReply('deliveries', listed, page, ({ position }) => position)
      return { status, body: { ...body, deliveries: listed.rows.map(shown) } }
    },
  }),
]
