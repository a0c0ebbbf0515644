// A route is data: Express serves it and the OpenAPI document describes it from the same definition.
import { documents, type JsonMap, type SchemaName, type SchemaTypes } from '@svc/schemas'
import type { Scope } from '../db/scope.js'
import { type Access, admins, allRoles, auditors, operators, type Principal, type Role } from './principal.js'

type ParameterIn<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParameterIn<Rest>
  : never

/** A request whose caller has access. */
export interface Call<Path extends string = string, Body = unknown> {
  readonly principal: Principal
  readonly scope: Scope
  /** The parameters that the path names. */
  readonly params: Readonly<Record<ParameterIn<Path>, string>>
  readonly query: Readonly<Record<string, string>>
  readonly header: (name: string) => string | undefined
  /** The body, checked against the schema that the route names. */
  readonly body: Body
  readonly raw: Uint8Array
  readonly request_id: string
  /** Aborted when the caller disconnects before the answer. */
  readonly gone: () => AbortSignal
  /** For an answer that was long in coming: rejects as the request would be now. */
  readonly authenticateAgain: () => Promise<void>
}

/** A file to send; `discard` is called afterwards, even after a failure. */
export interface ReplyFile {
  readonly path: string
  readonly type: string
  /** The file name for the caller. */
  readonly name: string
  readonly discard: () => Promise<void>
}

/** A file that is read while it is sent. */
export interface ReplyStream {
  readonly chunks: AsyncIterable<Uint8Array>
  /** The sum of all chunks. */
  readonly bytes: number
  readonly type: string
  /** The file name for the caller. */
  readonly name: string
}

export interface Reply {
  readonly status: number
  readonly body?: unknown
  readonly file?: ReplyFile
  readonly stream?: ReplyStream
  /** Sent as they are, instead of a body. */
  readonly bytes?: { readonly type: string; readonly content: Uint8Array }
  readonly headers?: Readonly<Record<string, string>>
}

/** A route without its handler: what OpenAPI describes. */
export interface Endpoint {
  readonly method: 'get' | 'post' | 'patch' | 'delete'
  /** OpenAPI spelling: `/api/v1/logs/{log_id}`. */
  readonly path: string
  readonly summary: string
  readonly tag: string
  readonly access: Access
  readonly body?: SchemaName
  /** An absent or empty body counts as `{}`. */
  readonly may_be_empty?: true
  /** Bodies up to 8 MiB, JSON or JSON lines; the handler reads `raw`. */
  readonly lines?: true
  /** A body with a policy, whose compound rules may be nested deeper than other requests. */
  readonly deep?: true
  /** The handler checks the body, because it knows more than the schema, which only describes it. */
  readonly checks_body?: true
  /** A body of any type up to 3 MiB, which the handler reads from `raw`: of a webhook, whose signature covers its bytes. */
  readonly signed?: true
  /** OTLP as JSON or protobuf, compressed or not, up to 20 MiB; the handler reads `raw`. */
  readonly otlp?: true
  /** An OAuth endpoint: takes forms as well as JSON, and answers errors in the format of RFC 6749 §5.2. */
  readonly oauth?: true
  /** Query parameters: schemas of strings; unknown parameters are rejected. */
  readonly query?: Readonly<Record<string, JsonMap>>
  /** Query parameters that are required. */
  readonly required?: readonly string[]
  /** The limit that counts anonymous requests; `by_address` by default, `none` where an answer costs less than counting it. */
  readonly limit?: 'by_poller' | 'none'
  /** True if the endpoint honours the header `Idempotency-Key`. */
  readonly idempotent?: true
  /** True if the endpoint honours the header `If-Match`. */
  readonly if_match?: true
  readonly responses: Readonly<Record<number, SchemaName | null>>
  /** Media types of the file, or of the body, that is answered with 200 instead of `application/json`, or next to its schema. */
  readonly file?: string | readonly string[]
}

/** An endpoint and its handler; `parts` is what the handler needs of the platform. */
export interface Route<Parts> extends Endpoint {
  readonly handle: (call: Call, parts: Parts) => Promise<Reply>
}

/** The type of a body, by the name of its schema. */
export type BodyOf<Name> = Name extends SchemaName ? SchemaTypes[Name] : unknown

/** A route. The types of the handler's parameters and body follow from its path and its schema. */
export function route<const Path extends string, Parts, const Name extends SchemaName | undefined = undefined>(
  definition: Omit<Endpoint, 'path' | 'body'> & {
    readonly path: Path
    readonly body?: Name
    readonly handle: (call: Call<Path, BodyOf<Name>>, parts: Parts) => Promise<Reply>
  },
): Route<Parts> {
  return definition as Route<Parts>
}

/** Access for members of a workspace, by role (docs/design/platform.md §4). */
const people = (roles: readonly Role[] | null): Access => ({ kinds: ['operator', 'person'], key_scope: 'read', roles })

export const byKey: Access = { kinds: ['key'], key_scope: 'ingest', roles: null }
export const byReadingKey: Access = { kinds: ['key'], key_scope: 'read', roles: null }
export const byReader = people(allRoles)
export const byMember = people(operators)
export const byAuditor = people(auditors)
export const byAdmin = people(admins)
/** A person, with any role or none. */
export const byPerson: Access = { kinds: ['person'], key_scope: 'read', roles: null }
/** A member with any role, the operator, or an API key. */
export const byReaderOrKey: Access = { kinds: ['operator', 'person', 'key'], key_scope: 'read', roles: allRoles }
export const byAnonymous: Access = { kinds: ['anonymous'], key_scope: 'read', roles: null }

const whole = (description: string, min: number, max: number): JsonMap => ({
  type: 'string',
  pattern: `^\\d{1,${String(max).length}}$`,
  'x-must': `be a whole number from ${min} to ${max}`,
  description,
  minimum: min,
  maximum: max,
})

/** PostgreSQL rejects the character NUL, and no name contains other control characters. */
const printable: JsonMap = { type: 'string', pattern: '^[^\\u0000-\\u001f]*$' }

/** The values that a schema lists for a member, or that the schema of the member lists. */
export function valuesOf(name: SchemaName, member: string): readonly string[] {
  const { properties = {} } = documents[name] as { readonly properties?: Readonly<Record<string, JsonMap>> }
  const { $ref = '' } = properties[member] ?? {}
  const shared = documents[String($ref).replace(/\.json$/, '') as SchemaName] as JsonMap | undefined
  const { enum: values } = shared ?? properties[member] ?? {}
  if (!Array.isArray(values)) throw new Error(`the schema \`${name}\` lists no values of \`${member}\``)
  return values
}

/** Query parameters that several lists share. */
export const parameters = {
  limit: (max: number, fallback: number) => ({
    ...whole(`1 to ${max}, default ${fallback}`, 1, max),
    default: fallback,
  }),
  skip: whole('number of rows to skip', 0, 1_000_000_000),
  index: (description: string): JsonMap => whole(description, 0, 999_999_999_999_999),
  id: (description: string): JsonMap => whole(description, 1, 999_999_999_999_999),
  cursor: { type: 'string', maxLength: 200, description: '`next_cursor` of the previous page' },
  text: (description: string): JsonMap => ({ ...printable, minLength: 1, maxLength: 200, description }),
  time: (description: string): JsonMap => ({ type: 'string', format: 'date-time', description }),
  flag: (description: string): JsonMap => ({ type: 'string', enum: ['true', 'false'], description }),
  choice: (description: string, values: readonly string[]): JsonMap => ({ type: 'string', enum: values, description }),
  /** Several of the values, in one parameter with commas or in repeated ones; the handler gets them with commas. */
  choices: (description: string, values: readonly string[]): JsonMap => ({
    type: 'string',
    pattern: `^(${values.join('|')})(,(${values.join('|')}))*$`,
    'x-must': `be one or more of ${values.join(', ')}, with commas between them`,
    'x-list': true,
    description: `${description}; several: separated by commas, or the parameter repeated`,
  }),
} as const
