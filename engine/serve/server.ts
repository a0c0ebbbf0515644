// The local engine over HTTP. node:http alone: nothing stands between a step and its decision.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { EngineHealth, SchemaName } from '@svc/schemas'
import type { LoadedPolicies } from '../source/source.js'
import type { LocalEngine } from './engine.js'
import { problemOf, ServeError } from './errors.js'
import { readBody } from './read.js'

export interface ServerParts {
  readonly engine: LocalEngine
  readonly policies: LoadedPolicies
  readonly instance_id: string
  readonly newId: () => string
  readonly report: (error: unknown) => void
}

type Handler = (request: IncomingMessage) => Promise<unknown>

/** The server, not listening yet. Slow senders are cut off: 10 s for the head, 30 s for all of a request. */
export function createLocalServer(parts: ServerParts): Server {
  const { engine } = parts
  const post =
    <T>(schema: SchemaName, act: (body: T) => unknown): Handler =>
    async (request) =>
      act(await readBody<T>(request, schema))
  const routes: Readonly<Record<string, readonly [method: string, handler: Handler]>> = {
    '/health': ['GET', async () => healthOf(parts)],
    '/evaluate': ['POST', post('evaluate-request', engine.evaluate)],
    '/record': ['POST', post('record-request', engine.record)],
    '/end_task': ['POST', post('end-task-request', engine.endTask)],
    '/register_agent': ['POST', post('agent-registration', engine.registerAgent)],
  }
  const server = createServer({ headersTimeout: 10_000, requestTimeout: 30_000 }, async (request, response) => {
    try {
      refuseOtherHosts(server, request)
      const path = (request.url ?? '/').split('?')[0] ?? '/'
      const [method, handle] = Object.hasOwn(routes, path) ? (routes[path] ?? []) : []
      if (method === undefined || handle === undefined) {
        throw new ServeError('NOT_FOUND', `there is nothing here; there is: ${Object.keys(routes).join(', ')}`)
      }
      if (request.method !== method) throw new ServeError('METHOD_NOT_ALLOWED', `use ${method} here`)
      send(response, 200, 'application/json', await handle(request))
    } catch (error) {
      sendProblem(parts, response, error)
    }
  })
  return server
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

/** A page in a browser can be pointed at this address by its name server; its Host header gives it away. */
function refuseOtherHosts(server: Server, request: IncomingMessage): void {
  const at = server.address()
  if (at === null || typeof at === 'string') return
  const own = at.family === 'IPv6' ? `[${at.address}]` : at.address
  const names = [own, 'localhost', '127.0.0.1', '[::1]']
  const host = request.headers.host?.toLowerCase() ?? ''
  if (!names.some((name) => host === `${name}:${at.port}` || (at.port === 80 && host === name))) {
    throw new ServeError('MISDIRECTED', 'the Host header names another server')
  }
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
