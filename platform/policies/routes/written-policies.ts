// Policies that people write through the API.
import type { Policy } from '@svc/schemas'
import type { Resources } from '../../db/db.js'
import { PlatformError } from '../../errors.js'
import { idIn } from '../../http/path-id.js'
import { byMember, route } from '../../http/route.js'
import {
  changePolicy,
  createPolicy,
  deletePolicy,
  type Expected,
  policyNotFound,
  switchPolicy,
} from '../commands/write-policy.js'
import { readNewPolicy } from '../given/read-policy.js'

const tag = 'Policies'

export const writtenPolicyRoutes = [
  route({
    method: 'post',
    path: '/api/v1/policies',
    summary: 'Write a policy, for all agents, one agent, or agents of one risk level',
    tag,
    access: byMember,
    body: 'policy-request',
    deep: true,
    checks_body: true,
    responses: { 201: 'policy' },
    handle: async ({ scope, body }, parts: Resources) =>
      replyWith(201, await createPolicy(parts, scope, readNewPolicy(body))),
  }),
  route({
    method: 'patch',
    path: '/api/v1/policies/{id}',
    summary: 'Change a policy; of one from a manifest only `enabled` and `mode`',
    tag,
    access: byMember,
    body: 'policy-change',
    deep: true,
    checks_body: true,
    if_match: true,
    responses: { 200: 'policy' },
    handle: async ({ scope, params, body, header }, parts: Resources) =>
      replyWith(200, await changePolicy(parts, scope, idOf(params.id), body, expectedIn(header('if-match')))),
  }),
  route({
    method: 'delete',
    path: '/api/v1/policies/{id}',
    summary: 'Delete a policy; it can still be read, because incidents refer to it',
    tag,
    access: byMember,
    if_match: true,
    responses: { 200: 'policy' },
    handle: async ({ scope, params, header }, parts: Resources) =>
      replyWith(200, await deletePolicy(parts, scope, idOf(params.id), expectedIn(header('if-match')))),
  }),
  switchRoute('enable', 'Enable a policy'),
  switchRoute('disable', 'Disable a policy; it is evaluated on nothing until it is enabled'),
]

function switchRoute(move: 'enable' | 'disable', summary: string) {
  return route({
    method: 'post',
    path: `/api/v1/policies/{id}/${move}`,
    summary,
    tag,
    access: byMember,
    if_match: true,
    responses: { 200: 'policy' },
    handle: async ({ scope, params, header }, parts: Resources) =>
      replyWith(200, await switchPolicy(parts, scope, idOf(params.id), move, expectedIn(header('if-match')))),
  })
}

/** The version of a policy as an entity tag. */
export function tagOf({ version }: Policy): string {
  return `"${version}"`
}

function replyWith(status: number, body: Policy) {
  return { status, body, headers: { etag: tagOf(body) } }
}

function idOf(text: string): number {
  const id = idIn(text)
  if (id === null) throw policyNotFound()
  return id
}

/** If-Match: one or several tags, with or without quotes, also weak ones, because proxies weaken tags. Throws INVALID. */
function expectedIn(header: string | undefined): Expected {
  if (header === undefined || header.trim() === '*') return () => true
  const versions = header.split(',').map((tag) => /^\s*(?:W\/)?("?)(\d{1,15})\1\s*$/.exec(tag)?.[2])
  if (versions.includes(undefined))
    throw new PlatformError('INVALID', '`If-Match` is invalid: send the `version` of the policy in quotes, such as "3"')
  return (version) => versions.includes(String(version))
}
