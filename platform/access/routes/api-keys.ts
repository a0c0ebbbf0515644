import type { ApiKeyRequest } from '@svc/schemas'
import { endKey, makeKey, renewKey } from '../commands/api-keys.js'
import { byAdmin, type Route } from '../../http/route.js'
import { readKeys } from '../store/api-keys.js'
import { withSnapshot } from '../../db/db.js'

const tag = 'API keys'

export const apiKeyRoutes: readonly Route[] = [
  {
    method: 'get',
    path: '/auth/api-keys',
    summary: 'The API keys of the workspace, without their secrets',
    tag,
    access: byAdmin,
    responses: { 200: 'api-key-list' },
    handle: async ({ platform, scope }) => ({
      status: 200,
      body: { api_keys: await withSnapshot(platform.db, scope, (tx) => readKeys(scope, tx)) },
    }),
  },
  {
    method: 'post',
    path: '/auth/api-keys',
    summary: 'Make an API key; its secret is shown this once',
    tag,
    access: byAdmin,
    body: 'api-key-request',
    responses: { 201: 'made-api-key' },
    handle: async ({ platform, scope, body }) => ({
      status: 201,
      body: await makeKey(platform, scope, body as ApiKeyRequest),
    }),
  },
  {
    method: 'post',
    path: '/auth/api-keys/{key_id}/revoke',
    summary: 'Revoke an API key; it is refused at once, by other processes within a second',
    tag,
    access: byAdmin,
    responses: { 200: 'api-key' },
    handle: async ({ platform, scope, params }) => ({
      status: 200,
      body: await endKey(platform, scope, params.key_id ?? ''),
    }),
  },
  {
    method: 'post',
    path: '/auth/api-keys/{key_id}/roll',
    summary: 'Give an API key another secret; agents keep their ids',
    tag,
    access: byAdmin,
    responses: { 200: 'made-api-key' },
    handle: async ({ platform, scope, params }) => ({
      status: 200,
      body: await renewKey(platform, scope, params.key_id ?? ''),
    }),
  },
]
