import { withSnapshot } from '../../db/db.js'
import { byAdmin, route } from '../../http/route.js'
import { createApiKey, revokeApiKey, rollApiKey } from '../commands/api-keys.js'
import type { AccessParts } from '../parts.js'
import { readKeys } from '../store/api-keys.js'

const tag = 'API keys'

export const apiKeyRoutes = [
  route({
    method: 'get',
    path: '/auth/api-keys',
    summary: 'List the API keys of the workspace, without their secrets',
    tag,
    access: byAdmin,
    responses: { 200: 'api-key-list' },
    handle: async ({ scope }, parts: AccessParts) => ({
      status: 200,
      body: { api_keys: await withSnapshot(parts.db, scope, (tx) => readKeys(scope, tx)) },
    }),
  }),
  route({
    method: 'post',
    path: '/auth/api-keys',
    summary: 'Create an API key; the response is the only one with its secret',
    tag,
    access: byAdmin,
    body: 'api-key-request',
    responses: { 201: 'made-api-key' },
    handle: async ({ scope, body }, parts: AccessParts) => ({
      status: 201,
      body: await createApiKey(parts, scope, body),
    }),
  }),
  route({
    method: 'post',
    path: '/auth/api-keys/{key_id}/revoke',
    summary: 'Revoke an API key; all processes reject it within a second',
    tag,
    access: byAdmin,
    responses: { 200: 'api-key' },
    handle: async ({ scope, params }, parts: AccessParts) => ({
      status: 200,
      body: await revokeApiKey(parts, scope, params.key_id),
    }),
  }),
  route({
    method: 'post',
    path: '/auth/api-keys/{key_id}/roll',
    summary: 'Replace the secret of an API key; agents keep their ids',
    tag,
    access: byAdmin,
    responses: { 200: 'made-api-key' },
    handle: async ({ scope, params }, parts: AccessParts) => ({
      status: 200,
      body: await rollApiKey(parts, scope, params.key_id),
    }),
  }),
]
