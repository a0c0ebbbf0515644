// The HTTP server: the API (also below `/api/v3`), Git's smart protocol, and pages for people.
import { createHash, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { backend } from '../support/git/git-host.js'
import { type Answer, ApiError, type Call, type Route } from './api.js'
import { appRoutes } from './app-routes.js'
import { checkRoutes } from './check-routes.js'
import { callerOf, validToken } from './credentials.js'
import { deliveryRoutes } from './delivery-routes.js'
import { gitRoutes } from './git-routes.js'
import { pageOf } from './pages/pages.js'
import { pullRoutes } from './pull-routes.js'
import { noticePushes } from './pushes.js'
import {
  type Account,
  type AnswerFault,
  type Caller,
  fullName,
  type Json,
  type Repository,
  type SeenRequest,
  type World,
} from './world.js'

const routes: readonly Route[] = [...appRoutes, ...deliveryRoutes, ...gitRoutes, ...pullRoutes, ...checkRoutes]
const apiPath = /^\/(app|repos|repositories|installation|users)(\/|$)/
const hour = 3_600_000

/** Answers for the world that `world()` returns once the port is known. */
export function createFakeServer(world: () => World): Server {
  return createServer((request, response) => {
    void answerRequest(world(), request, response).catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(500, { 'content-type': 'text/plain' })
      response.end(`the fake failed: ${(error as Error).stack}`)
    })
  })
}

async function answerRequest(world: World, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL((request.url ?? '/').replace(/^\/api\/v3(?=\/)/, ''), world.url)
  const repository = /^\/([^/]+\/[^/]+)\.git\//.exec(pathname)?.[1]
  if (repository !== undefined) return answerGit(world, repository, request, response)
  const text = await bodyOf(request)
  const method = request.method ?? 'GET'
  if (apiPath.test(pathname)) return answerApi(world, { method, pathname, searchParams, text }, request, response)
  const { status, html, location } = pageOf(world, method, pathname)
  const headers = { 'content-type': 'text/html; charset=utf-8', ...(location === undefined ? {} : { location }) }
  // As strict as GitHub's own: what a text smuggles in cannot run.
  const policy = { 'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'" }
  response.writeHead(status, { ...headers, ...policy }).end(html)
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

interface Received {
  readonly method: string
  readonly pathname: string
  readonly searchParams: URLSearchParams
  readonly text: string
}

function answerApi(world: World, received: Received, request: IncomingMessage, response: ServerResponse): void {
  const { method, pathname, searchParams, text } = received
  const body = parsed(text)
  const path = `${pathname}${searchParams.size > 0 ? `?${searchParams}` : ''}`
  const known = attempt(() => callerOf(world, request.headers.authorization))
  const caller = known instanceof ApiError ? ({ kind: 'invalid' } as const) : known
  const seen: SeenRequest = { method, path, caller, body, status: null }
  world.requests.push(seen)
  const fault = world.faults.answer(seen)
  if (fault?.kind === 'hang') return
  const answer = fault?.kind === 'answer' ? fault : answerCall(world, received, body, request)
  const output = answer.body === undefined ? '' : JSON.stringify(answer.body)
  const etag = `W/"${createHash('sha256').update(output).digest('hex')}"`
  const isSame = answer.status === 200 && method === 'GET' && request.headers['if-none-match'] === etag
  // What did not change costs an authenticated caller nothing.
  if (isSame && caller.kind === 'installation') caller.token.installation.rate.used -= 1
  seen.status = isSame ? 304 : answer.status
  response.writeHead(seen.status, {
    'content-type': 'application/json; charset=utf-8',
    date: new Date(world.now()).toUTCString(),
    'x-github-request-id': randomUUID(),
    ...rateHeaders(world, caller),
    ...(answer.status < 300 && method === 'GET' ? { etag } : {}),
    ...answer.headers,
  })
  finish(response, isSame ? '' : output, fault)
}

function finish(response: ServerResponse, output: string, fault: AnswerFault | null): void {
  if (fault?.kind !== 'cut' && fault?.kind !== 'slow') {
    response.end(output)
    return
  }
  const half = Math.floor(output.length / 2)
  response.write(output.slice(0, half), () => {
    if (fault.kind === 'cut') response.destroy()
    else setTimeout(() => response.end(output.slice(half)), fault.ms)
  })
}

function parsed(text: string): unknown {
  try {
    return text === '' ? undefined : (JSON.parse(text) as unknown)
  } catch {
    return text
  }
}

function attempt<T>(run: () => T): T | ApiError {
  try {
    return run()
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
}

function answerCall(world: World, received: Received, body: unknown, request: IncomingMessage): Answer {
  const { method, pathname, searchParams } = received
  const answer = attempt(() => {
    if (request.headers['user-agent'] === undefined) {
      throw new ApiError(
        403,
        'Request forbidden by administrative rules. Please make sure your request has a User-Agent.',
      )
    }
    const caller = callerOf(world, request.headers.authorization)
    takeRate(world, caller)
    if (typeof body === 'string') throw new ApiError(400, 'Problems parsing JSON')
    const call: Call = { world, method, path: pathname, query: searchParams, body: Object(body ?? {}) as Json, caller }
    for (const route of routes) {
      const parts = route.method === method ? route.path.exec(pathname)?.slice(1) : undefined
      if (parts !== undefined) return route.run(call, ...parts)
    }
    throw new ApiError(404, 'Not Found')
  })
  if (!(answer instanceof ApiError)) return answer
  const { status, message, more, headers } = answer
  const documentation_url = 'https://docs.github.com/rest'
  return { status, body: { message, ...more, documentation_url, status: String(status) }, headers }
}

/** The primary limit: requests of an installation in an hour. */
function takeRate(world: World, caller: Caller): void {
  if (caller.kind !== 'installation') return
  const { id, rate } = caller.token.installation
  if (rate.resets <= world.now()) Object.assign(rate, { used: 0, resets: world.now() + hour })
  if (rate.used >= world.faults.rate_limit) {
    throw new ApiError(403, `API rate limit exceeded for installation ID ${id}.`)
  }
  rate.used += 1
}

function rateHeaders({ faults }: World, caller: SeenRequest['caller']): Record<string, string> {
  if (caller.kind !== 'installation') return {}
  const { used, resets } = caller.token.installation.rate
  return {
    'x-ratelimit-limit': String(faults.rate_limit),
    'x-ratelimit-remaining': String(Math.max(0, faults.rate_limit - used)),
    'x-ratelimit-used': String(used),
    'x-ratelimit-reset': String(Math.ceil(resets / 1000)),
    'x-ratelimit-resource': 'core',
  }
}

/** Git over HTTP: a user is their login with any password; a token is `x-access-token` with the token. */
function answerGit(world: World, name: string, request: IncomingMessage, response: ServerResponse): void {
  const repository = [...world.repositories].find(
    (one) => !one.deleted && fullName(one).toLowerCase() === decodeURIComponent(name).toLowerCase(),
  )
  const isPush = /git-receive-pack/.test(request.url ?? '')
  const user = userOf(world, request.headers.authorization, repository, isPush)
  if (repository === undefined) response.writeHead(404).end()
  else if (user === null && (isPush || repository.visibility !== 'public'))
    response.writeHead(401, { 'www-authenticate': 'Basic realm="GitHub"' }).end()
  else {
    // After the answer of a push its references are there.
    if (isPush) response.on('close', () => noticePushes(world, repository, user ?? repository.owner))
    const path = (request.url ?? '').replace(/^\/[^/]+\/[^/]+\.git/, `/${repository.id}.git`)
    void backend(world.folder, request, response, path)
  }
}

function userOf(
  world: World,
  authorization: string | undefined,
  repository: Repository | undefined,
  isPush: boolean,
): Account | null {
  const [login = '', password = ''] = Buffer.from(authorization?.replace('Basic ', '') ?? '', 'base64')
    .toString()
    .split(':')
  if (login !== 'x-access-token') return world.accounts.get(login.toLowerCase()) ?? null
  const token = attempt(() => validToken(world, password))
  if (token instanceof ApiError || repository === undefined) return null
  const level = token.permissions.contents
  const isCovered =
    token.installation.account === repository.owner && token.repositories?.includes(repository) !== false
  const isAllowed = isCovered && (level === 'write' || (level === 'read' && !isPush))
  return isAllowed ? token.installation.app.bot : null
}
