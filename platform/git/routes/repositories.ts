import { listHandler, pageByIndex } from '../../http/paging.js'
import { idIn } from '../../http/path-id.js'
import { byAdmin, byAnonymous, byMember, byReader, parameters, route, valuesOf } from '../../http/route.js'
import {
  changeToken,
  connectRepository,
  disconnectRepository,
  makeWebhookSecret,
  repositoryOf,
} from '../commands/connect-repository.js'
import { takeWebhook } from '../commands/take-webhook.js'
import { repositoryNotFound } from '../errors.js'
import type { GitParts } from '../parts.js'
import { reconcileNow } from '../reconcile.js'
import { listRepositories } from '../store/repositories.js'

const tag = 'Repositories'

export const repositoryRoutes = [
  route({
    method: 'get',
    path: '/api/v1/repos',
    summary: 'List the connected repositories',
    tag,
    access: byReader,
    query: {
      provider: parameters.choice('provider', valuesOf('repository', 'provider')),
      status: parameters.choice('status', valuesOf('repository', 'status')),
      limit: parameters.limit(200, 50),
      cursor: parameters.cursor,
    },
    responses: { 200: 'repository-list' },
    handle: listHandler('repos', listRepositories, ({ id }) => id, pageByIndex),
  }),
  route({
    method: 'post',
    path: '/api/v1/repos',
    summary: 'Connect a branch of a repository and read its manifests',
    tag,
    access: byAdmin,
    body: 'repository-request',
    responses: { 201: 'repository' },
    handle: async ({ scope, body }, parts: GitParts) => ({
      status: 201,
      body: await connectRepository(parts, scope, body),
    }),
  }),
  route({
    method: 'get',
    path: '/api/v1/repos/{id}',
    summary: 'Get a connected repository',
    tag,
    access: byReader,
    responses: { 200: 'repository' },
    handle: async ({ scope, params }, parts: GitParts) => ({
      status: 200,
      body: await repositoryOf(parts, scope, repoIdOf(params.id)),
    }),
  }),
  route({
    method: 'patch',
    path: '/api/v1/repos/{id}',
    summary: 'Replace the access token of a repository',
    tag,
    access: byAdmin,
    body: 'repository-change',
    responses: { 200: 'repository' },
    handle: async ({ scope, params, body }, parts: GitParts) => ({
      status: 200,
      body: await changeToken(parts, scope, repoIdOf(params.id), body.token),
    }),
  }),
  route({
    method: 'delete',
    path: '/api/v1/repos/{id}',
    summary: 'Disconnect a repository; 409 while a manifest of it is assigned',
    tag,
    access: byAdmin,
    responses: { 204: null },
    handle: async ({ scope, params }, parts: GitParts) => {
      await disconnectRepository(parts, scope, repoIdOf(params.id))
      return { status: 204 }
    },
  }),
  route({
    method: 'post',
    path: '/api/v1/repos/{id}/resync',
    summary: 'Read the branch now, as the timer does',
    tag,
    access: byMember,
    responses: { 200: 'repository' },
    handle: async ({ scope, params }, parts: GitParts) => {
      const id = repoIdOf(params.id)
      await reconcileNow(parts, scope, id)
      return { status: 200, body: await repositoryOf(parts, scope, id) }
    },
  }),
  route({
    method: 'post',
    path: '/api/v1/repos/{id}/webhook-secret',
    summary: 'Make the secret of the webhook; the response is the only one with it',
    tag,
    access: byAdmin,
    responses: { 201: 'webhook-secret' },
    handle: async ({ scope, params }, parts: GitParts & { readonly url: () => string }) => ({
      status: 201,
      body: await makeWebhookSecret(parts, scope, repoIdOf(params.id), parts.url()),
    }),
  }),
  route({
    method: 'post',
    path: '/api/v1/repos/{id}/webhook',
    summary: 'Announce a push, as a Git host does; signed with the secret of the webhook',
    tag,
    access: byAnonymous,
    limit: 'none',
    signed: true,
    query: { workspace: parameters.text('id of the workspace, as in the address that the secret came with') },
    required: ['workspace'],
    responses: { 202: 'webhook-receipt' },
    handle: async ({ params, query, raw, header }, parts: GitParts) => {
      await takeWebhook(parts, { org_id: query.workspace ?? '', repo_id: repoIdOf(params.id), raw, header })
      return { status: 202, body: { accepted: true } }
    },
  }),
]

/** The id in a path. Throws NOT_FOUND. */
export function repoIdOf(text: string): number {
  const id = idIn(text)
  if (id === null) throw repositoryNotFound()
  return id
}
