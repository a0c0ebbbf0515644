// The published document: complete, valid, and equal to the routes.

import { createChecker, fieldProblem, lazyCheck } from '@svc/engine/parts'
import { documents, type JsonMap } from '@svc/schemas'
import { describe, expect, it } from 'vitest'
import { openapiDocument } from '../../../platform/http/openapi.js'
import type { Endpoint } from '../../../platform/http/route.js'
import { routes } from '../../../platform/routes.js'

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly schema: JsonMap
}

interface Operation {
  readonly summary: string
  readonly tags: readonly string[]
  readonly operationId: string
  readonly security: readonly Readonly<Record<string, readonly string[]>>[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly required: boolean; readonly content: Readonly<Record<string, { schema: JsonMap }>> }
  readonly responses: Readonly<Record<string, { description: string; content?: Record<string, { schema: JsonMap }> }>>
}

// Through JSON, as clients get it.
const document = JSON.parse(JSON.stringify(openapiDocument(routes, '1.2.3'))) as {
  openapi: string
  info: { title: string; version: string }
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, JsonMap>; securitySchemes: Record<string, JsonMap> }
}
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ at: `${method} ${path}`, path, operation })),
)
const parametersOf = (at: string) => operations.find((found) => found.at === at)?.operation.parameters ?? []
const schemaOf = (at: string, name: string) => parametersOf(at).find((parameter) => parameter.name === name)?.schema

/** Served apart from the routes. */
const probes = ['/health', '/livez', '/readyz', '/metrics']

/** Every reference anywhere in a value. */
function references(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) =>
    key === '$ref' && typeof inner === 'string' ? [inner] : references(inner),
  )
}

describe('the document', () => {
  it('is OpenAPI 3.1 of this version', () => {
    expect(document).toMatchObject({ openapi: '3.1.0', info: { version: '1.2.3' } })
    expect(Object.keys(document.components.schemas).sort()).toEqual(Object.keys(documents).sort())
  })

  it('has no unresolved references', () => {
    const found = [...new Set(references(document))]
    const missing = found.filter((reference) => {
      const [, name = '', definition] = /^#\/components\/schemas\/([^/]+)(?:\/\$defs\/([^/]+))?$/.exec(reference) ?? []
      const { $defs = {} } = (document.components.schemas[name] ?? {}) as { $defs?: object }
      return (
        !Object.hasOwn(document.components.schemas, name) ||
        (definition !== undefined && !Object.hasOwn($defs, definition))
      )
    })
    expect(found.length).toBeGreaterThan(20)
    expect(missing).toEqual([])
  })

  it.each(Object.keys(documents))('contains the schema `%s` with references that resolve', (name) => {
    const check = lazyCheck({ $ref: `#/components/schemas/${name}`, components: document.components })
    expect(check(0).map((problem) => problem.path)).toContainEqual([])
  })

  it('describes every route and nothing else', () => {
    const served = routes.map(({ method, path }) => `${method} ${path}`)
    expect(new Set(served).size).toBe(served.length)
    expect(operations.map(({ at }) => at).sort()).toEqual([...served, ...probes.map((path) => `get ${path}`)].sort())
  })

  it('has unique operation ids', () => {
    const names = operations.map(({ operation }) => operation.operationId)
    expect(new Set(names).size).toBe(names.length)
  })
})

/** Operations without a credential: they lead to one, or are probes. */
const open = [
  ...probes,
  '/auth/device/code',
  '/auth/device/token',
  '/auth/magic-link',
  '/auth/magic-link/verify',
  '/auth/invitation/accept',
  '/auth/refresh',
  '/api/v1/schemas/manifest.json',
  '/api/v1/schemas/manifest-tests.json',
  '/api/v1/repos/{id}/webhook',
]

describe.each(operations)('$at', ({ path, operation }) => {
  it('has a summary, security and responses', () => {
    expect(operation.summary).not.toBe('')
    expect(operation.tags.length).toBe(1)
    const schemes = operation.security.flatMap((choice) => Object.keys(choice))
    expect(schemes.every((scheme) => Object.hasOwn(document.components.securitySchemes, scheme))).toBe(true)
    expect(schemes.length > 0 || open.includes(path)).toBe(true)
    const successes = Object.entries(operation.responses).filter(([status]) => /^2\d\d$/.test(status))
    expect(successes.length).toBeGreaterThan(0)
    for (const [, { content }] of successes.filter(([status]) => !['202', '204'].includes(status)))
      expect(content?.['application/json']?.schema.$ref ?? Object.keys(content ?? {})).not.toEqual([])
    if (!probes.includes(path)) {
      const problem = { 'application/problem+json': { schema: { $ref: '#/components/schemas/problem' } } }
      expect(operation.responses.default?.content).toEqual(problem)
    }
  })

  it('declares each parameter once, and path parameters as required', () => {
    const declared = operation.parameters ?? []
    const places = declared.map((parameter) => `${parameter.in} ${parameter.name}`)
    expect(new Set(places).size).toBe(places.length)
    const inPath = declared.filter((parameter) => parameter.in === 'path')
    expect(inPath.map((parameter) => `{${parameter.name}}`)).toEqual(path.match(/\{\w+\}/g) ?? [])
    expect(inPath.every((parameter) => parameter.required === true)).toBe(true)
    for (const { schema } of declared) expect(['string', 'integer', 'boolean']).toContain(schema.type)
  })
})

describe('the description for client generators', () => {
  it('types numbers and flags, with their limits', () => {
    const tasks = 'get /api/v1/logs/tasks'
    expect(schemaOf(tasks, 'limit')).toEqual({ type: 'integer', minimum: 1, maximum: 100, default: 20 })
    expect(schemaOf(tasks, 'skip')).toMatchObject({ type: 'integer', minimum: 0 })
    expect(schemaOf(tasks, 'unfinished')).toEqual({ type: 'boolean' })
    expect(schemaOf('get /api/v1/logs', 'from')).toEqual({ type: 'string', format: 'date-time' })
  })

  it('lists required parameters and media types', () => {
    const [agent_key] = parametersOf('get /api/v1/policies/effective')
    expect(agent_key).toMatchObject({ name: 'agent_key', required: true })
    const batch = operations.find(({ at }) => at === 'post /api/v1/logs/batch')?.operation
    expect(Object.keys(batch?.requestBody?.content ?? {})).toEqual(['application/json', 'application/x-ndjson'])
    for (const at of ['post /api/v1/logs', 'post /api/v1/logs/batch'])
      expect(parametersOf(at).map((parameter) => `${parameter.in} ${parameter.name}`)).toEqual([
        'header Idempotency-Key',
      ])
  })
})

describe('the example of a request', () => {
  const bodies = operations.flatMap(({ at, operation }) => {
    const content = operation.requestBody?.content['application/json']
    return content === undefined ? [] : [{ at, content }]
  })

  it.each(bodies)('exists and is valid: $at', ({ content }) => {
    const { schema, examples = {} } = content as { schema: JsonMap; examples?: Record<string, { value: unknown }> }
    const check = lazyCheck({ ...schema, components: document.components })
    const shown = Object.values(examples).map(({ value }) => value)
    expect(shown.length).toBeGreaterThan(0)
    for (const value of shown) expect([value, check(value)]).toEqual([value, []])
  })

  it('of a batch contains valid entries', () => {
    const check = lazyCheck({ $ref: '#/components/schemas/log-request', components: document.components })
    const [batch] = (documents['batch-request'] as { examples?: { entries: unknown[] }[] }).examples ?? []
    expect(batch?.entries.length).toBeGreaterThan(1)
    for (const entry of batch?.entries ?? []) expect([entry, check(entry)]).toEqual([entry, []])
  })
})

describe('an empty body', () => {
  const bodies = [...new Set((routes as readonly Endpoint[]).flatMap(({ body }) => body ?? []))]
  const checker = createChecker(Object.values(documents) as JsonMap[])
  it.each(bodies)('of %s has errors that name the members that are missing', (name) => {
    const problems = checker(`${name}.json`)({}).map(fieldProblem)
    const unnamed = problems.filter(({ path }) => path === '').map(({ message }) => message)
    // A body that needs any member, or is a list, lacks no certain member.
    expect(unnamed.filter((message) => !/^must (not be empty|be an array)/.test(message))).toEqual([])
  })

  it('is told apart from one with two members that exclude each other', () => {
    const body = { legal_basis: 'x', task_id: 't', subject_id: 's' }
    expect(checker('erasure-request.json')(body).map(fieldProblem)).toEqual([
      { path: 'subject_id', message: 'cannot be given together with `task_id`' },
    ])
  })
})
