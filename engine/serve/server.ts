// The local engine over HTTP. It uses node:http alone: a framework would add latency to each decision.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { isMap } from '@svc/proof'
import type { EngineHealth, EvaluateRequest, RecordRequest, SchemaName } from '@svc/schemas'
import { withOutputObject } from '../convert/output-value.js'
import type { PolicySource } from '../source/source.js'
import { isGoverned } from '../source/state.js'
import type { Access } from './access.js'
import { type EvaluationWriter, evaluationWriter } from './answer.js'
import type { Decisions } from './decisions/decisions.js'
import type { LocalEngine } from './engine.js'
import { problemOf, ServeError } from './errors.js'
import { healthOf } from './health.js'
import type { Memory } from './memory.js'
import type { Meter } from './metrics.js'
import { type BodyReader, createBodyReader } from './read.js'

export interface ServerParts {
  readonly engine: LocalEngine
  readonly source: PolicySource
  readonly access: Access
  readonly memory: Memory
  readonly decisions: Decisions
  readonly trace: () => EngineHealth['trace']
  readonly meter: Meter
  readonly fail_closed: boolean
  readonly instance_id: string
  readonly clock: () => number
  readonly newId: () => string
  readonly report: (error: unknown) => void
}

/** An answer as it is sent. */
interface Answer {
  readonly status: number
  readonly type: string
  readonly text: string
  readonly headers?: Readonly<Record<string, string>>
}

type Handler = (request: IncomingMessage) => Answer | Promise<Answer>

type Routes = Readonly<Record<string, readonly [method: string, handler: Handler]>>

/** Time-outs for slow callers, ms: for the head and for the whole request, checked every 2 s. */
const timeouts = { headersTimeout: 10_000, requestTimeout: 30_000, connectionsCheckingInterval: 2_000 }

export interface LocalServer {
  /** Not listening yet. */
  readonly server: Server
  /** Prepares what the first request needs. */
  readonly warmUp: () => void
}

export function createLocalServer(parts: ServerParts): LocalServer {
  const bodies = createBodyReader()
  const routes = routesOf(parts, bodies, () => server.listening)
  const server = createServer(timeouts, async (request, response) => {
    try {
      parts.access(server, request)
      const answer = await handlerFor(routes, request, response)(request)
      closeWhenStopping(server, response)
      send(response, answer)
    } catch (error) {
      closeWhenStopping(server, response)
      sendProblem(parts, response, error)
    }
  })
  return { server, warmUp: () => bodies.prepare('evaluate-request') }
}

function routesOf(parts: ServerParts, bodies: BodyReader, isListening: () => boolean): Routes {
  const { engine, source, meter, clock, decisions } = parts
  const write = evaluationWriter()
  const post =
    <T>(schema: SchemaName, act: (body: T) => unknown): Handler =>
    async (request) =>
      json(await act(await bodies.read<T>(request, schema)))
  const health = () => {
    const known = { memory: parts.memory.counts(), trace: parts.trace() }
    return json(healthOf(source.current(), known, parts.instance_id, clock()))
  }
  const metrics = () => {
    const counted = { decisions: decisions.counts(), trace: parts.trace(), now: clock() }
    return { status: 200, type: metricsType, text: meter.text(source.current(), engine.tasks(), counted) }
  }
  return {
    '/health': ['GET', health],
    '/readyz': ['GET', () => readiness(parts, isListening())],
    '/metrics': ['GET', metrics],
    '/evaluate': ['POST', evaluation(parts, bodies, write)],
    '/record': ['POST', recording(parts, bodies)],
    '/release': ['POST', post('release-request', engine.release)],
    '/end_task': ['POST', post('end-task-request', engine.endTask)],
    '/register_agent': [
      'POST',
      async (request) => jsonText(write.whole(engine.registerAgent(await bodies.read(request, 'agent-registration')))),
    ],
    '/reload': [
      'POST',
      async () => {
        await source.reload()
        return health()
      },
    ],
  }
}

const metricsType = 'text/plain; version=0.0.4; charset=utf-8'

function json(value: unknown, status = 200): Answer {
  return jsonText(JSON.stringify(value), status)
}

function jsonText(text: string, status = 200): Answer {
  return { status, type: 'application/json', text }
}

/** Takes any output: a tool that ran must not be refused its record for the shape of its answer. */
function recording({ engine }: ServerParts, bodies: BodyReader): Handler {
  return async (request) => {
    let warnings: readonly string[] = []
    const body = await bodies.read<RecordRequest>(request, 'record-request', (sent) => {
      if (!isMap(sent)) return sent
      const kept = withOutputObject(sent.step)
      warnings = kept.warnings
      return warnings.length === 0 ? sent : { ...sent, step: kept.step }
    })
    const recorded = await engine.record(body)
    return json(warnings.length === 0 ? recorded : { ...recorded, warnings })
  }
}

/** The hot path: evaluates, measures the time, and writes the answer from prepared parts. */
function evaluation({ engine, meter }: ServerParts, bodies: BodyReader, write: EvaluationWriter): Handler {
  return async (request) => {
    const body = await bodies.read<EvaluateRequest>(request, 'evaluate-request')
    const start = performance.now()
    const evaluation = await engine.evaluate(body)
    const minimal = prefersMinimal(request.headers.prefer)
    const text = minimal ? write.minimal(evaluation) : write.whole(evaluation)
    meter.took((performance.now() - start) / 1000)
    return minimal ? { ...jsonText(text), headers: { 'preference-applied': 'return=minimal' } } : jsonText(text)
  }
}

/** True if a Prefer header asks for `return=minimal` (RFC 7240 §2); the first of several values counts. */
function prefersMinimal(header: string | string[] | undefined): boolean {
  if (header === undefined) return false
  const preferences = String(header).split(',')
  const [, value] =
    preferences.map((one) => /^\s*return\s*=\s*"?([^\s;"]*)/i.exec(one)).find((one) => one !== null) ?? []
  return value?.toLowerCase() === 'minimal'
}

/** Not ready while stopping, or while a missing policy blocks every step (docs/design/engine.md §7). */
function readiness({ source, fail_closed }: ServerParts, listening: boolean): Answer {
  const { load_state } = source.current()
  const ready = listening && !(fail_closed && !isGoverned(load_state))
  return json({ ready, load_state, enforcing: isGoverned(load_state) }, ready ? 200 : 503)
}

function handlerFor(routes: Routes, request: IncomingMessage, response: ServerResponse): Handler {
  const path = (request.url ?? '/').split('?')[0] ?? '/'
  const [method, handle] = Object.hasOwn(routes, path) ? (routes[path] ?? []) : []
  if (method === undefined || handle === undefined) {
    throw new ServeError('NOT_FOUND', `no endpoint at this path: use ${Object.keys(routes).join(', ')}`)
  }
  if (request.method === method) return handle
  response.setHeader('allow', method)
  throw new ServeError('METHOD_NOT_ALLOWED', `use ${method} for this path`)
}

/** A kept-alive connection would delay the stop. */
function closeWhenStopping(server: Server, response: ServerResponse): void {
  if (!server.listening) response.shouldKeepAlive = false
}

function send(response: ServerResponse, { status, type, text, headers }: Answer): void {
  const length = Buffer.byteLength(text)
  response.writeHead(status, {
    'content-type': type,
    'content-length': length,
    'cache-control': 'no-store',
    ...headers,
  })
  // ASCII text, as nearly every answer is, has the same bytes as Latin-1, which is copied faster.
  response.end(text, length === text.length ? 'latin1' : 'utf8')
}

function sendProblem({ newId, report }: ServerParts, response: ServerResponse, thrown: unknown): void {
  if (!(thrown instanceof ServeError)) report(thrown)
  const error = thrown instanceof ServeError ? thrown : new ServeError('INTERNAL', 'internal error')
  const problem = problemOf(error, newId())
  // The unread part of a body would be taken for the next request.
  if (error.code === 'TOO_LARGE' || error.code === 'UNAUTHENTICATED') response.setHeader('connection', 'close')
  if (error.code === 'UNAUTHENTICATED') response.setHeader('www-authenticate', 'Bearer')
  send(response, { status: problem.status, type: 'application/problem+json', text: JSON.stringify(problem) })
}
