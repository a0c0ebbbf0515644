// The frame of the routes: a call, an answer, an error, and the rules of who may see and do what in a repository.
import { type Caller, covers, fullName, type Json, type Level, mayDo, type Repository, type World } from './world.js'

export interface Call {
  readonly world: World
  readonly method: string
  /** The path without `/api/v3`, not decoded. */
  readonly path: string
  readonly query: URLSearchParams
  readonly body: Json
  readonly caller: Caller
}

export interface Answer {
  readonly status: number
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export interface Route {
  readonly method: string
  readonly path: RegExp
  readonly run: (call: Call, ...parts: string[]) => Answer
}

/** An answer that ends a request early: GitHub's status and message. */
export class ApiError extends Error {
  readonly code = 'github'
  readonly status: number
  readonly more: Json
  readonly headers: Readonly<Record<string, string>>

  constructor(status: number, message: string, more: Json = {}, headers: Readonly<Record<string, string>> = {}) {
    super(message)
    this.status = status
    this.more = more
    this.headers = headers
  }
}

export const notFound = () => new ApiError(404, 'Not Found')
export const invalid = (message: string) => new ApiError(422, `Invalid request.\n\n${message}`)

/** A value of GitHub's own validation, after the form of the request was accepted. */
export function failedValidation(resource: string, field: string, message: string): ApiError {
  return new ApiError(422, 'Validation Failed', { errors: [{ resource, code: 'custom', field, message }] })
}

/** What a route of a repository needs: a permission, and for which repositories. */
export interface Need {
  readonly permission: string
  readonly level: Level
}

/** A route below `/repos/{owner}/{repo}` and `/repositories/{id}`. */
export function repositoryRoute(
  method: string,
  suffix: string,
  need: Need,
  run: (call: Call, repository: Repository, ...parts: string[]) => Answer,
): Route {
  return {
    method,
    path: new RegExp(`^/(?:repos/([^/]+/[^/]+)|repositories/(\\d+))${suffix}$`),
    run: (call, full, id, ...parts) => {
      const repository = findRepository(call, full, id)
      requirePermission(call.caller, repository, need)
      return run(call, repository, ...parts.map((part) => decodeURIComponent(part ?? '')))
    },
  }
}

/** The repository of this name or id, as far as the caller may see it; a former name is redirected. */
export function findRepository(call: Call, full: string | undefined, id: string | undefined): Repository {
  const { world, caller, method, path, query } = call
  const key = full === undefined ? '' : decodeURIComponent(full).toLowerCase()
  const all = [...world.repositories].filter(({ deleted }) => !deleted)
  const found = all.find((one) => (id === undefined ? fullName(one).toLowerCase() === key : String(one.id) === id))
  if (found !== undefined) {
    if (!maySee(caller, found)) throw notFound()
    return found
  }
  const former = all.find(({ former_names }) => former_names.has(key))
  if (former === undefined || !maySee(caller, former)) throw notFound()
  const rest = path.replace(/^\/repos\/[^/]+\/[^/]+/, '')
  const location = `${world.url}/repositories/${former.id}${rest}${query.size > 0 ? `?${query}` : ''}`
  const [status, text] =
    method === 'GET' ? ([301, 'Moved Permanently'] as const) : ([307, 'Temporary Redirect'] as const)
  throw new ApiError(status, text, { url: location }, { location })
}

function isInside(caller: Caller, repository: Repository): boolean {
  if (caller.kind !== 'installation') return false
  const { installation, repositories } = caller.token
  return covers(installation, repository) && (repositories === null || repositories.includes(repository))
}

function maySee(caller: Caller, repository: Repository): boolean {
  if (repository.visibility === 'public' || isInside(caller, repository)) return true
  return caller.kind === 'app'
}

/** Everybody may read what is public; all else needs an installation token with the permission. */
function requirePermission(caller: Caller, repository: Repository, { permission, level }: Need): void {
  if (caller.kind === 'app') throw new ApiError(403, 'Resource not accessible by integration')
  if (repository.visibility === 'public' && level === 'read') return
  if (caller.kind === 'anonymous') throw new ApiError(401, 'Requires authentication')
  if (isInside(caller, repository) && mayDo(caller.token.permissions, permission, level)) return
  const headers = { 'x-accepted-github-permissions': `${permission}=${level}` }
  throw new ApiError(403, 'Resource not accessible by integration', {}, headers)
}

/** One page of a list, with the header `Link`; at most 100 rows. */
export function page<T>(call: Call, rows: readonly T[], shape: (rows: readonly T[]) => unknown): Answer {
  const { world, path, query } = call
  const size = Math.min(100, Math.max(1, Number(query.get('per_page') ?? 30) || 30))
  const number = Math.max(1, Number(query.get('page') ?? 1) || 1)
  const last = Math.max(1, Math.ceil(rows.length / size))
  const link = (rel: string, to: number) => {
    const next = new URLSearchParams(query)
    next.set('page', String(to))
    return `<${world.url}${path}?${next}>; rel="${rel}"`
  }
  const links = [
    ...(number > 1 ? [link('prev', number - 1)] : []),
    ...(number < last ? [link('next', number + 1), link('last', last)] : []),
    ...(number > 1 ? [link('first', 1)] : []),
  ]
  const body = shape(rows.slice((number - 1) * size, number * size))
  return { status: 200, body, headers: links.length === 0 ? {} : { link: links.join(', ') } }
}
