// The API from within the process: pages read and change through the same routes as programs, with the same checks.
import type { SchemaName, SchemaTypes } from '@svc/schemas'
import { assertAllowed } from '../access/permission.js'
import { PlatformError } from '../errors.js'
import type { PersonPrincipal } from '../http/principal.js'
import { type Query, queryCheck } from '../http/query.js'
import type { Call, Reply, Route } from '../http/route.js'
import { validated } from '../http/validate.js'

export type Method = Route<never>['method']

/** The API as one person may use it. All rejects with the errors of the API. */
export interface Api {
  /** The body of a GET, whose type is that of the schema `name`. */
  readonly read: <Name extends SchemaName>(name: Name, path: string, query?: Query) => Promise<SchemaTypes[Name]>
  /** The body of a request that changes something; null for an answer without a body. */
  readonly change: <Name extends SchemaName>(
    name: Name | null,
    method: Exclude<Method, 'get'>,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<SchemaTypes[Name]>
  /** True if the role of the person allows the request. */
  readonly may: (method: Method, path: string) => boolean
  /** Throws FORBIDDEN as the request would, for a form that leads to it. */
  readonly assertMay: (method: Method, path: string) => void
}

/** The part of a request that does not depend on the route. */
export type Caller = Pick<Call, 'request_id' | 'gone' | 'authenticateAgain'> & { readonly principal: PersonPrincipal }

interface Found<Parts> {
  readonly route: Route<Parts>
  readonly params: Readonly<Record<string, string>>
}

/** A function that returns the API of a caller. */
export function createApi<Parts>(routes: readonly Route<Parts>[], parts: Parts): (caller: Caller) => Api {
  const known = routes.map((route) => {
    let check: ReturnType<typeof queryCheck> | null = null
    const checkQuery = (query: Query) => {
      check ??= queryCheck(route.query ?? {}, route.required)
      return check(query)
    }
    return { route, checkQuery, pattern: patternOf(route.path) }
  })
  const find = (method: Method, path: string): Found<Parts> & { readonly checkQuery: (query: Query) => Query } => {
    for (const { route, checkQuery, pattern } of known) {
      const match = route.method === method ? pattern.exec(path) : null
      if (match !== null) return { route, checkQuery, params: decoded(match.groups ?? {}) }
    }
    // An id from a form or an address can be empty.
    if (/\/(\/|$)/.test(path)) throw new PlatformError('NOT_FOUND', 'this address is not valid')
    throw new Error(`the API has no route ${method} ${path}`)
  }
  return (caller) => {
    const call = async (method: Method, path: string, sent: Sent): Promise<Reply> => {
      const { route, params, checkQuery } = find(method, path)
      assertAllowed(caller.principal, route.access)
      const { query = {}, body = {}, headers = {} } = sent
      return route.handle(
        {
          ...caller,
          scope: caller.principal.scope,
          params,
          query: checkQuery(query),
          header: (name) => headers[name.toLowerCase()],
          raw: Buffer.from(JSON.stringify(body)),
          body: route.body === undefined ? null : route.checks_body ? body : validated(route.body, body),
        },
        parts,
      )
    }
    return {
      read: async (name, path, query) => bodyOf(name, await call('get', path, { query })),
      change: async (name, method, path, body, headers) => bodyOf(name, await call(method, path, { body, headers })),
      may: (method, path) => mayCall(caller.principal, find(method, path)),
      assertMay: (method, path) => {
        const { access } = find(method, path).route
        assertAllowed(caller.principal, { ...access, roles: access.within ?? access.roles })
      },
    }
  }
}

interface Sent {
  readonly query?: Query | undefined
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** The callers know the schema that the route answers with; OpenAPI and the tests of the API hold the route to it. */
function bodyOf<Name extends SchemaName>(_name: Name | null, { body }: Reply): SchemaTypes[Name] {
  return body as SchemaTypes[Name]
}

function mayCall({ role }: PersonPrincipal, { route }: Found<never>): boolean {
  const { kinds, roles, within } = route.access
  const allowed = within ?? roles
  return kinds.includes('person') && (allowed === null || (role !== null && allowed.includes(role)))
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`)
}

function decoded(groups: Readonly<Record<string, string>>): Record<string, string> {
  try {
    return Object.fromEntries(Object.entries(groups).map(([name, value]) => [name, decodeURIComponent(value)]))
  } catch {
    throw new PlatformError('NOT_FOUND', 'this address is not valid')
  }
}
