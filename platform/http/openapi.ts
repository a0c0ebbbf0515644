// The OpenAPI 3.1 document, made from the routes and the schemas that the platform serves and checks.
import { documents, type JsonMap, type SchemaName } from '@svc/schemas'
import { errorTable } from '../errors.js'
import { protobufType } from './otlp.js'
import type { Principal } from './principal.js'
import type { Endpoint } from './route.js'

/** The document for these routes. */
export function openapiDocument(routes: readonly Endpoint[], version: string): JsonMap {
  const paths: Record<string, Record<string, JsonMap>> = { ...probes }
  for (const route of routes) paths[route.path] = { ...paths[route.path], [route.method]: operation(route) }
  return {
    openapi: '3.1.0',
    info: {
      title: 'svc platform',
      version,
      description: 'Registration, log, incidents and policies of governed agents.',
    },
    paths,
    components: {
      schemas: Object.fromEntries(
        Object.entries(documents).map(([name, document]) => [name, component(name, document)]),
      ),
      securitySchemes: {
        api_key: { type: 'http', scheme: 'bearer', description: 'An API key, `SvcKey-…`' },
        person: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: 'The access token of a person who has signed in',
        },
        browser: { type: 'apiKey', in: 'cookie', name: 'svc_access', description: cookieText },
        operator: { type: 'http', scheme: 'bearer', description: 'The operator token of a local installation' },
      },
    },
  }
}

const cookieText =
  'Set when a person signs in with a browser; over HTTPS its name is `__Host-svc_access`. Changes also need the header X-CSRF-Token'

const schemesOf: Readonly<Record<Principal['kind'], readonly string[]>> = {
  key: ['api_key'],
  person: ['person', 'browser'],
  operator: ['operator'],
  anonymous: [],
}

function operation(route: Endpoint): JsonMap {
  const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
  const inPath = names.map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } }))
  const inQuery = Object.entries(route.query ?? {}).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    description,
    ...(route.required?.includes(name) && { required: true }),
    schema: published(schema),
  }))
  const parameters = [
    ...inPath,
    ...inQuery,
    ...(route.idempotent ? [idempotencyKey] : []),
    ...(route.if_match ? [ifMatch] : []),
  ]
  return {
    summary: route.summary,
    tags: [route.tag],
    operationId: `${route.method}${route.path.replace(/[^A-Za-z0-9]+/g, '_')}`,
    security: route.access.kinds.flatMap((kind) => schemesOf[kind].map((scheme) => ({ [scheme]: [] }))),
    ...(parameters.length > 0 && { parameters }),
    ...(route.body !== undefined && {
      requestBody: { required: route.may_be_empty !== true, content: requestContent(route, route.body) },
    }),
    responses: {
      ...successes(route),
      ...(route.file !== undefined && { 200: withFile(route, route.file) }),
      default: {
        description: problemTitles,
        content: { 'application/problem+json': { schema: reference('problem') } },
      },
    },
  }
}

/** An answer that is a file, or in another of its forms the body of the schema. */
function withFile({ summary, responses: { 200: name } }: Endpoint, file: string | readonly string[]): JsonMap {
  return { description: summary, content: { ...(name != null && json(name)), ...filesOf(file) } }
}

function filesOf(types: string | readonly string[]): JsonMap {
  return Object.fromEntries([types].flat().map((type) => [type, { schema: {} }]))
}

const idempotencyKey: JsonMap = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'A repeated request with the same key gets the answer of the first, for 24 hours',
  schema: { type: 'string', pattern: '^[!-~]{1,200}$' },
}

const ifMatch: JsonMap = {
  name: 'If-Match',
  in: 'header',
  description: 'The ETag that was read; 412 when it is another one now. Without the header nothing is compared',
  schema: { type: 'string' },
}

/** The type of a query parameter as callers see it; the platform checks the text that it receives. */
function published({ pattern, 'x-must': must, ...schema }: JsonMap): JsonMap {
  if (typeof schema.maximum === 'number') return { ...schema, type: 'integer' }
  if (Array.isArray(schema.enum) && schema.enum.every((value) => value === 'true' || value === 'false'))
    return { type: 'boolean' }
  return { ...schema, ...(pattern !== undefined && { pattern }), ...(must !== undefined && { 'x-must': must }) }
}

function requestContent(route: Endpoint, body: SchemaName): JsonMap {
  const lines = { 'application/x-ndjson': { schema: { type: 'string', description: 'One entry per line' } } }
  const otlp = { [protobufType]: { schema: { type: 'string', format: 'binary' } } }
  const form = { 'application/x-www-form-urlencoded': { schema: reference(body) } }
  const examples = examplesOf(documents[body].examples)
  return {
    ...(route.oauth && form),
    'application/json': { schema: reference(body), ...examples },
    ...(route.lines && lines),
    ...(route.otlp && otlp),
  }
}

/** The examples of a body's schema. API pages show the first one, or invent one if there is none. */
function examplesOf(examples: unknown): JsonMap {
  if (!Array.isArray(examples)) return {}
  return { examples: Object.fromEntries(examples.map((value, index) => [`example_${index + 1}`, { value }])) }
}

/** These are not in the list of routes: they need no credential and answer while the database is unavailable. */
const probes: Record<string, Record<string, JsonMap>> = {
  '/health': {
    get: {
      summary: 'Health of the platform; with a credential also its versions',
      tags: ['Health'],
      operationId: 'get_health',
      security: [{}, { api_key: [] }, { person: [] }, { operator: [] }],
      responses: {
        200: { description: 'The database is available', content: json('platform-health') },
        503: { description: 'The database is unavailable', content: json('platform-health') },
      },
    },
  },
  '/livez': {
    get: {
      summary: 'Liveness of the process',
      tags: ['Health'],
      operationId: 'get_livez',
      security: [],
      responses: { 200: { description: 'The process runs', content: json('liveness') } },
    },
  },
  '/readyz': {
    get: {
      summary: 'Readiness for requests',
      tags: ['Health'],
      operationId: 'get_readyz',
      security: [],
      responses: {
        200: { description: 'The platform accepts requests', content: json('platform-readiness') },
        503: { description: 'The database is unavailable', content: json('platform-readiness') },
      },
    },
  },
  '/metrics': {
    get: {
      summary: 'Counters of this process, for Prometheus',
      tags: ['Health'],
      operationId: 'get_metrics',
      security: [],
      responses: {
        200: { description: 'Text exposition format 0.0.4', content: { 'text/plain': { schema: { type: 'string' } } } },
      },
    },
  },
}

const problemTitles = `A problem: ${Object.keys(errorTable).join(', ')}`

function successes(route: Endpoint): JsonMap {
  const entries = Object.entries(route.responses).map(([status, name]) => [
    status,
    {
      description: name === null ? 'No body' : (documents[name].description ?? name),
      ...(name !== null && { content: { ...json(name), ...(route.otlp && filesOf(protobufType)) } }),
    },
  ])
  return Object.fromEntries(entries)
}

function json(name: SchemaName): JsonMap {
  return { 'application/json': { schema: reference(name) } }
}

function reference(name: SchemaName): JsonMap {
  return { $ref: `#/components/schemas/${name}` }
}

/** A schema as a component: without its identity, and with references that point into this document. */
function component(name: string, document: JsonMap): JsonMap {
  const { $id: _id, $schema: _schema, ...rest } = document
  const target = (ref: string) => (ref.startsWith('#') ? name + ref.slice(1) : ref.replace(/\.json$/, ''))
  const text = JSON.stringify(rest, (key, value) =>
    key === '$ref' && typeof value === 'string' ? `#/components/schemas/${target(value)}` : value,
  )
  return JSON.parse(text) as JsonMap
}
