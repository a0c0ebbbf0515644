// Actions: their configuration, and a test of it.
import { withSnapshot } from '../../../db/db.js'
import { listHandler } from '../../../http/paging.js'
import { byAdmin, byReader, parameters, route, valuesOf } from '../../../http/route.js'
import { changeAction } from '../commands/change-action.js'
import { createAction } from '../commands/create-action.js'
import { deleteAction } from '../commands/delete-action.js'
import { rotateSecret } from '../commands/rotate-secret.js'
import { testAction } from '../commands/test-action.js'
import { unknownAction } from '../errors.js'
import type { ActionParts } from '../parts.js'
import { findAction, listActions } from '../store/actions.js'

const tag = 'Actions'

/** The route that enables or disables an action; repeating it changes nothing. */
function switchRoute(name: 'enable' | 'disable', summary: string) {
  return route({
    method: 'post',
    path: `/api/v1/actions/{id}/${name}`,
    summary,
    tag,
    access: byAdmin,
    responses: { 200: 'action' },
    handle: async ({ scope, params }, parts: ActionParts) => ({
      status: 200,
      body: await changeAction(parts, scope, params.id, { enabled: name === 'enable' }),
    }),
  })
}

export const actionRoutes = [
  route({
    method: 'get',
    path: '/api/v1/actions',
    summary: 'List actions, newest first',
    tag,
    access: byReader,
    query: {
      enabled: parameters.flag('only enabled or disabled ones'),
      kind: parameters.choice('of this kind', valuesOf('action', 'kind')),
      failing: parameters.flag('those whose receiver does not answer, or with false the others'),
      limit: parameters.limit(200, 50),
      cursor: parameters.cursor,
    },
    responses: { 200: 'action-list' },
    handle: listHandler('actions', listActions, ({ id }) => id),
  }),
  route({
    method: 'post',
    path: '/api/v1/actions',
    summary: 'Create an action; the response is the only one with the secret of a webhook',
    tag,
    access: byAdmin,
    body: 'action-request',
    responses: { 201: 'made-action' },
    handle: async ({ scope, body }, parts: ActionParts) => {
      const made = await createAction(parts, scope, body)
      return { status: 201, body: made, headers: { location: `/api/v1/actions/${made.action.id}` } }
    },
  }),
  route({
    method: 'get',
    path: '/api/v1/actions/{id}',
    summary: 'Get an action',
    tag,
    access: byReader,
    responses: { 200: 'action' },
    handle: async ({ scope, params }, { db }: ActionParts) => {
      const action = await withSnapshot(db, scope, (tx) => findAction(scope, tx, params.id))
      if (action === null) throw unknownAction()
      return { status: 200, body: action }
    },
  }),
  route({
    method: 'patch',
    path: '/api/v1/actions/{id}',
    summary: 'Change an action; its receiver is then tried at once',
    tag,
    access: byAdmin,
    body: 'action-change',
    responses: { 200: 'action' },
    handle: async ({ scope, params, body }, parts: ActionParts) => ({
      status: 200,
      body: await changeAction(parts, scope, params.id, body),
    }),
  }),
  route({
    method: 'delete',
    path: '/api/v1/actions/{id}',
    summary: 'Delete an action; pending deliveries are cancelled, and past ones can be read',
    tag,
    access: byAdmin,
    responses: { 204: null },
    handle: async ({ scope, params }, parts: ActionParts) => {
      await deleteAction(parts, scope, params.id)
      return { status: 204 }
    },
  }),
  switchRoute('enable', 'Enable an action; deliveries that waited are sent'),
  switchRoute('disable', 'Disable an action; its pending deliveries wait'),
  route({
    method: 'post',
    path: '/api/v1/actions/{id}/test',
    summary: 'Send one test delivery now, and return what the receiver answers',
    tag,
    access: byAdmin,
    responses: { 200: 'action-test' },
    handle: async ({ scope, params }, parts: ActionParts) => ({
      status: 200,
      body: await testAction(parts, scope, params.id),
    }),
  }),
  route({
    method: 'post',
    path: '/api/v1/actions/{id}/rotate-secret',
    summary: 'Make a new secret of a webhook; the previous one signs as well for 24 hours',
    tag,
    access: byAdmin,
    responses: { 201: 'action-secret' },
    handle: async ({ scope, params }, parts: ActionParts) => ({
      status: 201,
      body: await rotateSecret(parts, scope, params.id),
    }),
  }),
]
