// A route is data: Express serves it and the OpenAPI document describes it from the same definition.
import type { JsonMap, SchemaName, SchemaTypes } from '@svc/schemas'
import type { Scope } from '../db/scope.js'
import { type Access, admins, allRoles, operators, type Principal, type Role } from './principal.js'

type ParameterIn<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParameterIn<Rest>
  : never

/** A request that may be answered. */
export interface Call<Path extends string = string, Body = unknown> {
  readonly principal: Principal
  readonly scope: Scope
  /** The parameters that the path names. */
  readonly params: Readonly<Record<ParameterIn<Path>, string>>
  readonly query: Readonly<Record<string, string>>
  readonly header: (name: string) => string | undefined
  /** The body, checked against the route's schema where it names one. */
  readonly body: Body
  readonly raw: Uint8Array
  readonly request_id: string
}

/** A file to be sent, and what to do once it was, or could not be. */
export interface ReplyFile {
  readonly path: string
  readonly type: string
  /** What whoever downloads it may call it. */
  readonly name: string
  readonly discard: () => Promise<void>
}

export interface Reply {
  readonly status: number
  readonly body?: unknown
  readonly file?: ReplyFile
  readonly headers?: Readonly<Record<string, string>>
}

/** What is described of a route. */
export interface Endpoint {
  readonly method: 'get' | 'post' | 'patch' | 'delete'
  /** OpenAPI spelling: `/api/v1/logs/{log_id}`. */
  readonly path: string
  readonly summary: string
  readonly tag: string
  readonly access: Access
  readonly body?: SchemaName
  /** Bodies up to 8 MiB, JSON or a JSON value a line; the handler reads `raw`. */
  readonly lines?: true
  /** An OAuth endpoint: takes forms as well as JSON, and answers errors as RFC 6749 §5.2 has them. */
  readonly oauth?: true
  /** Query parameters: schemas of strings; any other is refused. */
  readonly query?: Readonly<Record<string, JsonMap>>
  /** Query parameters that must be there. */
  readonly required?: readonly string[]
  /** What counts requests of nobody in particular; `by_address` unless said otherwise. */
  readonly limit?: 'by_poller'
  /** True where the header `Idempotency-Key` is honoured. */
  readonly idempotent?: true
  readonly responses: Readonly<Record<number, SchemaName | null>>
  /** Media type of what is answered with 200, where that is no JSON. */
  readonly file?: string
}

/** An endpoint and how it is answered; `parts` is what the handler needs of the platform. */
export interface Route<Parts> extends Endpoint {
  readonly handle: (call: Call, parts: Parts) => Promise<Reply>
}

/** The type of a body whose schema has this name. */
export type BodyOf<Name> = Name extends SchemaName ? SchemaTypes[Name] : unknown

/** A route whose handler's parameters and body have the types that its path and its schema give. */
export function route<const Path extends string, Parts, const Name extends SchemaName | undefined = undefined>(
  definition: Omit<Endpoint, 'path' | 'body'> & {
    readonly path: Path
    readonly body?: Name
    readonly handle: (call: Call<Path, BodyOf<Name>>, parts: Parts) => Promise<Reply>
  },
): Route<Parts> {
  return definition as Route<Parts>
}

/** What members of a workspace may do, by role (docs/design/platform.md §4). */
const people = (roles: readonly Role[] | null): Access => ({ kinds: ['operator', 'person'], key_scope: 'read', roles })

export const byKey: Access = { kinds: ['key'], key_scope: 'ingest', roles: null }
export const byReadingKey: Access = { kinds: ['key'], key_scope: 'read', roles: null }
export const byReader = people(allRoles)
export const byMember = people(operators)
export const byAuditor = people(['owner', 'admin', 'auditor'])
export const byAdmin = people(admins)
/** A person about themselves, whatever they are in their workspace. */
export const byPerson: Access = { kinds: ['person'], key_scope: 'read', roles: null }
/** Whoever reads, or an API key. */
export const byEither: Access = { kinds: ['operator', 'person', 'key'], key_scope: 'read', roles: allRoles }
export const byAnonymous: Access = { kinds: ['anonymous'], key_scope: 'read', roles: null }

const whole = (description: string, max: number): JsonMap => {
  const digits = String(max).length
  return { type: 'string', pattern: `^\\d{1,${digits}}$`, description, maximum: max }
}

/** The database cannot hold the character NUL, and nothing is called by any other that cannot be seen. */
const printable: JsonMap = { type: 'string', pattern: '^[^\\u0000-\\u001f]*$' }

/** Query parameters that several lists share. */
export const parameters = {
  limit: (max: number, fallback: number) => ({
    ...whole(`1 to ${max}, default ${fallback}`, max),
    minimum: 1,
    default: fallback,
  }),
  skip: { ...whole('how many to pass over', 1_000_000_000), minimum: 0 },
  index: (description: string): JsonMap => ({ ...whole(description, 999_999_999_999_999), minimum: 0 }),
  id: (description: string): JsonMap => ({ ...whole(description, 999_999_999_999_999), minimum: 1 }),
  cursor: { type: 'string', maxLength: 200, description: '`next_cursor` of the page before' },
  text: (description: string): JsonMap => ({ ...printable, minLength: 1, maxLength: 200, description }),
  time: (description: string): JsonMap => ({ type: 'string', format: 'date-time', description }),
  flag: (description: string): JsonMap => ({ type: 'string', enum: ['true', 'false'], description }),
  choice: (description: string, values: readonly string[]): JsonMap => ({ type: 'string', enum: values, description }),
} as const
