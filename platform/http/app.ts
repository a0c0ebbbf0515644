// The platform over HTTP: the one place that sets the order in which a request is processed.
import { randomUUID } from 'node:crypto'
import type { Problem } from '@svc/schemas'
import express, { type Express, type NextFunction, type Request, type Response, type Router } from 'express'
import helmet from 'helmet'
import type { Logger } from 'pino'
import { failureKind } from '../db/failure.js'
import { PlatformError } from '../errors.js'
import { networkOf, rejectOtherOrigins } from './client.js'
import { disconnection, sendFile, sendStream } from './download.js'
import type { Meter } from './meter.js'
import { isForm, mediaTypeOf, oauthErrorOf, readForm } from './oauth.js'
import { isProtobuf, maxOtlpBytes, protobufType, rpcStatus } from './otlp.js'
import { rejectUnprintable } from './path-id.js'
import { type Authentication, assertSameWorkspace, type Principal } from './principal.js'
import { asPlatformError, problemOf } from './problem.js'
import { queryCheck } from './query.js'
import type { Endpoint, Reply, Route } from './route.js'
import type { SharedLimit } from './shared-limits.js'
import { readJson, readPolicyJson, validated } from './validate.js'

/** The routes and pages of the rooms, and the parts that every request needs. */
interface AppParts<Parts> {
  readonly clock: () => number
  readonly logger: Logger
  readonly meter: Meter
  readonly trusted_proxies: readonly string[]
  readonly public_url: string | null
  readonly limits: Readonly<Record<'by_address' | 'by_poller', SharedLimit>>
  readonly authenticate: Authentication['authenticate']
  /** Tried before the routes. */
  readonly pages: readonly Router[]
  readonly routes: readonly Route<Parts>[]
  /** Passed to the handlers of the routes. */
  readonly parts: Parts
  /** Shows a problem as a page in a browser; false when the caller is a program. */
  readonly showProblem: (request: Request, response: Response, problem: Problem) => boolean
}

export function createApp<Parts>(app_parts: AppParts<Parts>): Express {
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.set('query parser', 'simple')
  app.set('trust proxy', [...app_parts.trusted_proxies])
  app.use(identify(app_parts))
  app.use(helmet(headers))
  for (const page of app_parts.pages) app.use(page)
  for (const route of app_parts.routes) serve(app, app_parts, route)
  app.use(notFound(app_parts.routes))
  app.use(answerError(app_parts))
  return app
}

const none = ["'none'"]
const self = ["'self'"]
const headers = {
  // Under `no-referrer` forms would send no origin; other sites get no referrer with either policy.
  referrerPolicy: { policy: 'same-origin' as const },
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: none,
      scriptSrc: self,
      styleSrc: self,
      imgSrc: ["'self'", 'data:'],
      connectSrc: self,
      fontSrc: self,
      formAction: self,
      frameAncestors: none,
      baseUri: none,
    },
  },
}

/** Gives the request its id; when it is answered, counts it and logs one line without body, query or credential. */
function identify({ logger, clock, meter }: Pick<AppParts<never>, 'logger' | 'clock' | 'meter'>) {
  return (request: Request, response: Response, next: NextFunction) => {
    const request_id = `req_${randomUUID()}`
    response.locals.request_id = request_id
    response.setHeader('x-request-id', request_id)
    if (request.headers.upgrade !== undefined) response.setHeader('connection', 'close')
    const arrived = performance.now()
    response.on('finish', () => {
      const { method } = request
      const route = (response.locals.route as string | undefined) ?? null
      meter.answered({ method, route, status: response.statusCode, seconds: (performance.now() - arrived) / 1000 })
    })
    if (logger.isLevelEnabled('info')) {
      const started = clock()
      const { method, path } = request
      response.on('finish', () =>
        logger.info({ request_id, method, path, status: response.statusCode, ms: clock() - started }, 'request'),
      )
    }
    next()
  }
}

/** The time in which an authenticated caller needs no second authentication, ms. */
const maxAuthenticationAgeMs = 1000
const maxBodyBytes = 1024 * 1024
const maxBatchBytes = 8 * 1024 * 1024
const maxSignedBytes = 3 * 1024 * 1024
const maxAnonymousBytes = 10 * 1024
const readBody = express.raw({ type: () => true, limit: maxBodyBytes, inflate: false })
const readSmall = express.raw({ type: () => true, limit: maxAnonymousBytes, inflate: false })
const readSigned = express.raw({ type: () => true, limit: maxSignedBytes, inflate: false })
const readBatch = express.raw({ type: () => true, limit: maxBatchBytes, inflate: false })
// The limit counts bytes after decompression, and ends it.
const readOtlp = express.raw({ type: () => true, limit: maxOtlpBytes, inflate: true })

function serve<Parts>(app: Express, app_parts: AppParts<Parts>, route: Route<Parts>): void {
  const { authenticate, clock, limits, public_url, parts } = app_parts
  const checkQuery = queryCheck(route.query ?? {}, route.required)
  const path = route.path.replaceAll(/\{(\w+)\}/g, ':$1')
  const known = (request: Request) => {
    const { authorization, cookie } = request.headers
    const csrf = request.get('x-csrf-token')
    const sender = { authorization, cookie, csrf, changes: route.method !== 'get', network: networkOf(request) }
    return authenticate(sender, route.access)
  }
  const isOpen = route.access.kinds.includes('anonymous')
  const admit = async (request: Request, response: Response, next: NextFunction) => {
    response.locals.route = route.path
    response.locals.is_oauth = route.oauth === true
    response.locals.is_protobuf = route.otlp === true && isProtobuf(request.headers['content-type'])
    rejectUnprintable(request)
    if (isOpen && route.limit !== 'none') {
      // Before the body is read, so that rejected requests count as well.
      await limits[route.limit ?? 'by_address'].take(networkOf(request))
      rejectOtherOrigins(public_url, request)
    }
    response.locals.principal = await known(request)
    response.locals.known_at = clock()
    next()
  }
  const read = route.otlp ? readOtlp : route.lines ? readBatch : isOpen ? readSmall : readBody
  const unsigned = route.body === undefined ? [] : [mediaType(route), read]
  const steps = route.signed ? [readSigned] : unsigned
  app[route.method](path, admit, ...steps, async (request: Request, response: Response) => {
    // The credential may have been revoked while the body arrived slowly.
    const isLate = clock() - Number(response.locals.known_at) > maxAuthenticationAgeMs
    const first = response.locals.principal as Principal
    const principal = isLate ? assertSameWorkspace(first, await known(request)) : first
    const raw = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
    const isSentAsForm = route.oauth === true && isForm(request.headers['content-type'])
    const parse = isSentAsForm ? readForm : route.deep ? readPolicyJson : readJson
    const body = bodyOf(route, () => (route.may_be_empty === true && raw.length === 0 ? {} : parse(raw)))
    const call = {
      principal,
      scope: principal.scope,
      raw,
      body,
      params: request.params,
      query: checkQuery(request.query),
      header: (name: string) => request.get(name),
      request_id: String(response.locals.request_id),
      gone: disconnection(response),
      authenticateAgain: async () => void (await known(request)),
    }
    const reply = await route.handle(call, parts)
    if (reply.file !== undefined) await sendFile(response, reply.file)
    else if (reply.stream !== undefined) await sendStream(response, reply, reply.stream)
    else send(response, reply)
  })
}

function bodyOf({ body, lines, otlp, checks_body }: Endpoint, read: () => unknown): unknown {
  if (body === undefined || lines || otlp) return null
  return checks_body ? read() : validated(body, read())
}

function mediaType(route: Endpoint) {
  return (request: Request, _response: Response, next: NextFunction) => {
    const type = mediaTypeOf(request.headers['content-type'])
    const isOther =
      (route.lines && type === 'application/x-ndjson') ||
      (route.oauth && isForm(type)) ||
      (route.otlp && isProtobuf(type))
    // Programs name the type of a form for a body that they do not send.
    const isEmpty = route.may_be_empty && !(Number(request.headers['content-length'] ?? 0) > 0)
    const accepted = type === 'application/json' || isOther || (isEmpty && !request.headers['transfer-encoding'])
    if (accepted) next()
    else
      next(
        new PlatformError(
          'UNSUPPORTED_MEDIA_TYPE',
          `\`${type}\` is not supported: send the body as \`application/json\`${route.otlp ? ` or \`${protobufType}\`` : ''}`,
        ),
      )
  }
}

function send(response: Response, { status, body, bytes, headers: extra }: Reply): void {
  response.status(status)
  response.setHeader('cache-control', 'no-store')
  const json = body === undefined ? null : Buffer.from(JSON.stringify(body))
  const sent = json === null ? bytes : { type: 'application/json; charset=utf-8', content: json }
  if (sent !== undefined) response.setHeader('content-type', sent.type)
  for (const [name, value] of Object.entries(extra ?? {})) response.setHeader(name, value)
  if (sent === undefined) {
    response.end()
    return
  }
  response.setHeader('content-length', sent.content.length)
  response.end(sent.content)
}

function notFound(routes: readonly Endpoint[]) {
  return (request: Request, _response: Response, next: NextFunction): void => {
    const found = routes.filter((route) => toPattern(route.path).test(request.path))
    const allow = found.map((route) => route.method.toUpperCase()).join(', ')
    const wrongMethod = new PlatformError(
      'METHOD_NOT_ALLOWED',
      `${request.method} is not supported here: use ${allow}`,
      { headers: { allow } },
    )
    next(found.length > 0 ? wrongMethod : new PlatformError('NOT_FOUND', 'this path does not exist: see /docs'))
  }
}

function toPattern(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}/?$`)
}

function answerError({ logger, showProblem }: Pick<AppParts<never>, 'logger' | 'showProblem'>) {
  // Express recognizes an error handler by its four parameters.
  return (thrown: unknown, request: Request, response: Response, _next: NextFunction): void => {
    const error = asPlatformError(thrown)
    const request_id = String(response.locals.request_id)
    if (error.code === 'INTERNAL') logger.error({ request_id, err: thrown }, 'unexpected error')
    // An outage is one line of the log, which the database writes.
    if (error.code === 'UNAVAILABLE' && failureKind(error) === 'other')
      logger.warn({ request_id, err: error.cause ?? error }, 'unavailable')
    if (response.headersSent) {
      response.destroy()
      return
    }
    const problem = problemOf(error, request_id)
    response.setHeader('cache-control', 'no-store')
    for (const [name, value] of Object.entries(error.headers)) response.setHeader(name, value)
    const oauth = response.locals.is_oauth === true ? oauthErrorOf(error) : null
    if (response.locals.is_protobuf === true)
      response
        .status(problem.status)
        .type(protobufType)
        .send(Buffer.from(rpcStatus(error)))
    else if (oauth !== null) response.status(400).type('application/json').send(JSON.stringify(oauth))
    else if (!showProblem(request, response, problem))
      response.status(problem.status).type('application/problem+json').send(JSON.stringify(problem))
  }
}
