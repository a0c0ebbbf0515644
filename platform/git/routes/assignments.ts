import type { JsonMap } from '@svc/schemas'
import { withSnapshot } from '../../db/db.js'
import { listHandler, pageByIndex } from '../../http/paging.js'
import { idIn } from '../../http/path-id.js'
import { byMember, byReader, parameters, route, valuesOf } from '../../http/route.js'
import { listAssignments } from '../../policies/store/assignments.js'
import { assignManifest, unassign } from '../commands/assign-manifest.js'
import { approve, assignmentOf, changePin, pinVersion, resyncByHand, unpin } from '../commands/change-assignment.js'
import { assignmentNotFound } from '../errors.js'
import type { GitParts } from '../parts.js'
import { diffOf, sourceOfVersion, versionsInForce } from '../versions.js'

const tag = 'Assignments'

const version = (description: string, words = ''): JsonMap => ({
  type: 'string',
  pattern: `^(${words}[0-9a-f]{40,64})$`,
  'x-must': `be ${words === '' ? '' : '`held`, `head`, or '}a blob SHA of 40 hex digits`,
  description,
})

export const assignmentRoutes = [
  route({
    method: 'get',
    path: '/api/v1/assignments',
    summary: 'List the manifests put on agents',
    tag,
    access: byReader,
    query: {
      agent_id: parameters.text('assignments of one agent'),
      repo_id: parameters.id('assignments from one repository'),
      manifest_path: { ...parameters.text('assignments of the manifests with this path'), maxLength: 1000 },
      status: parameters.choice('status', valuesOf('assignment', 'status')),
      held: parameters.flag('those with a version that waits for an approval, or with false the others'),
      limit: parameters.limit(200, 50),
      cursor: parameters.cursor,
    },
    responses: { 200: 'assignment-list' },
    handle: listHandler('assignments', listAssignments, ({ id }) => id, pageByIndex),
  }),
  route({
    method: 'post',
    path: '/api/v1/assignments',
    summary: 'Put a manifest on an agent; `repo_id` null puts the baseline back',
    tag,
    access: byMember,
    body: 'assignment-request',
    responses: { 201: 'made-assignment' },
    handle: async ({ scope, body }, parts: GitParts) => ({
      status: 201,
      body: await assignManifest(parts, scope, body),
    }),
  }),
  route({
    method: 'get',
    path: '/api/v1/assignments/{id}',
    summary: 'Get an assignment',
    tag,
    access: byReader,
    responses: { 200: 'assignment' },
    handle: async ({ scope, params }, parts: GitParts) => ({
      status: 200,
      body: await assignmentOf(parts, scope, idOf(params.id)),
    }),
  }),
  route({
    method: 'get',
    path: '/api/v1/assignments/{id}/diff',
    summary: 'Compare the version in force with another one, in words',
    tag,
    access: byReader,
    query: {
      to: version('`held`, `head`, or the blob SHA of a version; default: the held one, else the head', 'held|head|'),
    },
    responses: { 200: 'assignment-diff' },
    handle: async ({ scope, params, query }, parts: GitParts) => ({
      status: 200,
      body: await withSnapshot(parts.db, scope, (tx) => diffOf(parts, scope, tx, idOf(params.id), query.to)),
    }),
  }),
  route({
    method: 'get',
    path: '/api/v1/assignments/{id}/source',
    summary: 'Get the text of a version, with the line of each policy',
    tag,
    access: byReader,
    query: { sha: version('blob SHA of a version; default: the one in force') },
    responses: { 200: 'assignment-source' },
    handle: async ({ scope, params, query }, parts: GitParts) => ({
      status: 200,
      body: await withSnapshot(parts.db, scope, (tx) => sourceOfVersion(parts, scope, tx, idOf(params.id), query.sha)),
    }),
  }),
  route({
    method: 'get',
    path: '/api/v1/assignments/{id}/versions',
    summary: 'List the versions that were in force, the latest first',
    tag,
    access: byReader,
    responses: { 200: 'assignment-version-list' },
    handle: async ({ scope, params }, { db }: GitParts) => ({
      status: 200,
      body: await withSnapshot(db, scope, (tx) => versionsInForce(scope, tx, idOf(params.id))),
    }),
  }),
  route({
    method: 'patch',
    path: '/api/v1/assignments/{id}',
    summary: 'Set whether running tasks keep the version that they began with',
    tag,
    access: byMember,
    body: 'assignment-change',
    responses: { 200: 'assignment' },
    handle: async ({ scope, params, body }, parts: GitParts) => ({
      status: 200,
      body: await changePin(parts, scope, idOf(params.id), body.pin),
    }),
  }),
  route({
    method: 'delete',
    path: '/api/v1/assignments/{id}',
    summary: 'Take a manifest off an agent; its policies end at once',
    tag,
    access: byMember,
    responses: { 204: null },
    handle: async ({ scope, params }, parts: GitParts) => {
      await unassign(parts, scope, idOf(params.id))
      return { status: 204 }
    },
  }),
  route({
    method: 'post',
    path: '/api/v1/assignments/{id}/resync',
    summary: 'Put the version at the head of the branch in force, without guards',
    tag,
    access: byMember,
    responses: { 200: 'assignment' },
    handle: async ({ scope, params }, parts: GitParts) => ({
      status: 200,
      body: await resyncByHand(parts, scope, idOf(params.id)),
    }),
  }),
  route({
    method: 'post',
    path: '/api/v1/assignments/{id}/approve',
    summary: 'Put the version in force that a guard has held',
    tag,
    access: byMember,
    body: 'assignment-version',
    responses: { 200: 'assignment' },
    handle: async ({ scope, params, body }, parts: GitParts) => ({
      status: 200,
      body: await approve(parts, scope, idOf(params.id), body.manifest_sha ?? null),
    }),
  }),
  route({
    method: 'post',
    path: '/api/v1/assignments/{id}/pin',
    summary: 'Keep the version in force, or roll back to an earlier one',
    tag,
    access: byMember,
    body: 'assignment-version',
    responses: { 200: 'assignment' },
    handle: async ({ scope, params, body }, parts: GitParts) => ({
      status: 200,
      body: await pinVersion(parts, scope, idOf(params.id), body.manifest_sha ?? null),
    }),
  }),
  route({
    method: 'post',
    path: '/api/v1/assignments/{id}/unpin',
    summary: 'Let the assignment follow its branch again',
    tag,
    access: byMember,
    responses: { 200: 'assignment' },
    handle: async ({ scope, params }, parts: GitParts) => ({
      status: 200,
      body: await unpin(parts, scope, idOf(params.id)),
    }),
  }),
]

/** The id in a path. Throws NOT_FOUND. */
function idOf(text: string): number {
  const id = idIn(text)
  if (id === null) throw assignmentNotFound()
  return id
}
