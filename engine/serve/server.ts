// The local engine over HTTP. node:http alone: nothing stands between a step and its decision.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { EngineHealth, SchemaName } from '@svc/schemas'
import type { LoadedPolicies } from '../source/source.js'
import type { LocalEngine } from './engine.js'
import { problemOf, ServeError } from './errors.js'
import { type BodyReader, createBodyReader } from './read.js'

export interface ServerParts {
  readonly engine: LocalEngine
  readonly policies: LoadedPolicies
  readonly instance_id: string
  readonly newId: () => string
  readonly report: (error: unknown) => void
}

type Handler = (request: IncomingMessage) => Promise<unknown>

type Routes = Readonly<Record<string, readonly [method: string, handler: Handler]>>

/** Slow senders are cut off: 10 s for the head, 30 s for all of a request; looked at every 2 s. */
const patience = { headersTimeout: 10_000, requestTimeout: 30_000, connectionsCheckingInterval: 2_000 }

export interface LocalServer {
  /** Not listening yet. */
  readonly server: Server
  /** Does what the first request would otherwise wait for. */
  readonly warmUp: () => void
}

export function createLocalServer(parts: ServerParts): LocalServer {
  const bodies = createBodyReader()
  const routes = routesOf(parts, bodies)
  const server = createServer(patience, async (request, response) => {
    try {
      refuseStrangers(server, request)
      const body = await handlerFor(routes, request, response)(request)
      letGo(server, response)
      send(response, 200, 'application/json', body)
    } catch (error) {
      letGo(server, response)
      sendProblem(parts, response, error)
    }
  })
  return { server, warmUp: () => bodies.prepare('evaluate-request') }
}

function routesOf(parts: ServerParts, bodies: BodyReader): Routes {
  const { engine } = parts
  const post =
    <T>(schema: SchemaName, act: (body: T) => unknown): Handler =>
    async (request) =>
      act(await bodies.read<T>(request, schema))
  return {
    '/health': ['GET', async () => healthOf(parts)],
    '/evaluate': ['POST', post('evaluate-request', engine.evaluate)],
    '/record': ['POST', post('record-request', engine.record)],
    '/end_task': ['POST', post('end-task-request', engine.endTask)],
    '/register_agent': ['POST', post('agent-registration', engine.registerAgent)],
  }
}

function handlerFor(routes: Routes, request: IncomingMessage, response: ServerResponse): Handler {
  const path = (request.url ?? '/').split('?')[0] ?? '/'
  const [method, handle] = Object.hasOwn(routes, path) ? (routes[path] ?? []) : []
  if (method === undefined || handle === undefined) {
    throw new ServeError('NOT_FOUND', `there is nothing here; there is: ${Object.keys(routes).join(', ')}`)
  }
  if (request.method === method) return handle
  response.setHeader('allow', method)
  throw new ServeError('METHOD_NOT_ALLOWED', `use ${method} here`)
}

function healthOf({ policies, instance_id }: ServerParts): EngineHealth {
  const { set, offered, dropped, load_state, source, loaded_at } = policies
  return {
    loaded: set.count > 0,
    policy_count: set.count,
    policies_offered: offered,
    load_state,
    dropped: [...dropped],
    stale: false,
    source,
    last_fetch_at: new Date(loaded_at).toISOString(),
    last_fetch_succeeded: true,
    instance_id,
    // Files do not age: what was read stays in force until the engine is started again.
    ttl_remaining_seconds: 0,
  }
}

/**
 * A page in a browser can be pointed at this address by its name server, which its Host header gives away; or it can
 * send here without being allowed to read the answer, which its Origin header gives away.
 */
function refuseStrangers(server: Server, { headers }: IncomingMessage): void {
  const at = server.address()
  if (at === null || typeof at === 'string') return
  const own = at.family === 'IPv6' ? `[${at.address}]` : at.address
  const names = [own, 'localhost', '127.0.0.1', '[::1]']
  const hosts = names.flatMap((name) => [`${name}:${at.port}`, ...(at.port === 80 ? [name] : [])])
  if (!hosts.includes(headers.host?.toLowerCase() ?? ''))
    throw new ServeError('MISDIRECTED', 'the Host header names another server')
  const { origin } = headers
  if (origin !== undefined && !hosts.some((host) => origin === `http://${host}`))
    throw new ServeError('FOREIGN_ORIGIN', 'pages of other origins may not ask here')
}

/** While the server is stopping, a connection that stays open for more would keep it. */
function letGo(server: Server, response: ServerResponse): void {
  if (!server.listening) response.shouldKeepAlive = false
}

function send(response: ServerResponse, status: number, type: string, body: unknown): void {
  const bytes = Buffer.from(JSON.stringify(body))
  response.writeHead(status, { 'content-type': type, 'content-length': bytes.length, 'cache-control': 'no-store' })
  response.end(bytes)
}

function sendProblem({ newId, report }: ServerParts, response: ServerResponse, thrown: unknown): void {
  if (!(thrown instanceof ServeError)) report(thrown)
  const error = thrown instanceof ServeError ? thrown : new ServeError('INTERNAL', 'something went wrong here')
  const problem = problemOf(error, newId())
  // What was not read of a body cannot be told from the next request.
  if (error.code === 'TOO_LARGE') response.setHeader('connection', 'close')
  send(response, problem.status, 'application/problem+json', problem)
}
