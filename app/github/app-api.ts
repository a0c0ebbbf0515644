// What the App asks GitHub about itself: its owner, its installations, and the deliveries of its webhook.
import type { Api } from './api.js'
import { type AppKey, appToken } from './app-token.js'
import { GithubError, orNull } from './errors.js'
import { listAll } from './pages.js'

export interface Installation {
  readonly installation_id: number
  /** The account that it is on. */
  readonly account: { readonly id: number; readonly login: string }
  readonly is_suspended: boolean
  /** The permissions that its account has granted. */
  readonly permissions: Readonly<Record<string, string>>
}

/** A repository of an installation. */
export interface InstalledRepository {
  readonly github_id: number
  readonly owner: string
  readonly name: string
  readonly default_branch: string
  readonly is_private: boolean
}

/** An attempt to deliver an event. Attempts of the same event have the same `guid`. */
export interface Attempt {
  readonly id: number
  readonly guid: string
  /** ms since 1970. */
  readonly at: number
  readonly is_delivered: boolean
  readonly event: string
  readonly action: string | null
}

export interface AppApi {
  /** The account that owns the App, in lower case, and the address of the App's page. */
  readonly self: () => Promise<{ readonly owner: string; readonly slug: string }>
  /** Null for one that is gone. */
  readonly installation: (id: number) => Promise<Installation | null>
  readonly installations: () => Promise<readonly Installation[]>
  /** The attempts since a time, ms since 1970, the newest first. */
  readonly attemptsSince: (since: number) => Promise<readonly Attempt[]>
  /** Asks GitHub to deliver an event again; without effect for one that it no longer has. */
  readonly deliverAgain: (attempt_id: number) => Promise<void>
}

const maxInstallations = 1000
const maxAttempts = 5000

/** Every method rejects with GithubError. */
export function createAppApi(api: Api, key: AppKey, clock: () => number): AppApi {
  const asApp = () => ({ token: appToken(key, clock()), as: 'app' as const })
  return {
    self: async () => {
      const { body } = await api({ method: 'GET', path: '/app', ...asApp() })
      const { owner, slug } = (body ?? {}) as Readonly<Record<string, unknown>>
      const login = (owner as { login?: unknown } | null | undefined)?.login
      if (typeof login !== 'string')
        throw new GithubError('unavailable', 'GitHub sent no App: check SVC_GITHUB_API_URL')
      return { owner: login.toLowerCase(), slug: typeof slug === 'string' ? slug : '' }
    },
    installation: async (id) => {
      const answer = await orNull(api({ method: 'GET', path: `/app/installations/${id}`, ...asApp() }))
      return answer === null ? null : installationIn(answer.body)
    },
    installations: async () => {
      const listing = { path: '/app/installations', member: null, max_items: maxInstallations, ...asApp() }
      return (await listAll(api, listing)).items.flatMap((item) => installationIn(item) ?? [])
    },
    attemptsSince: async (since) => {
      const isLast = (item: unknown) => (attemptIn(item)?.at ?? 0) < since
      const listing = { path: '/app/hook/deliveries', member: null, max_items: maxAttempts, isLast, ...asApp() }
      return (await listAll(api, listing)).items
        .flatMap((item) => attemptIn(item) ?? [])
        .filter(({ at }) => at >= since)
    },
    deliverAgain: async (attempt_id) => {
      await orNull(api({ method: 'POST', path: `/app/hook/deliveries/${attempt_id}/attempts`, ...asApp() }))
    },
  }
}

/** An installation as GitHub describes it; null for other values. */
export function installationIn(value: unknown): Installation | null {
  const { id, account, suspended_at, permissions } = (value ?? {}) as Readonly<Record<string, unknown>>
  const { id: account_id, login } = (account ?? {}) as Readonly<Record<string, unknown>>
  if (!isId(id) || !isId(account_id) || typeof login !== 'string') return null
  const granted = Object.entries((permissions ?? {}) as object).filter(([, level]) => typeof level === 'string')
  return {
    installation_id: id,
    account: { id: account_id, login },
    is_suspended: typeof suspended_at === 'string',
    permissions: Object.fromEntries(granted),
  }
}

function attemptIn(value: unknown): Attempt | null {
  const { id, guid, delivered_at, status_code, event, action } = (value ?? {}) as Readonly<Record<string, unknown>>
  const at = Date.parse(String(delivered_at))
  if (!isId(id) || typeof guid !== 'string' || Number.isNaN(at)) return null
  const is_delivered = typeof status_code === 'number' && status_code >= 200 && status_code < 300
  return {
    id,
    guid,
    at,
    is_delivered,
    event: typeof event === 'string' ? event : '',
    action: typeof action === 'string' ? action : null,
  }
}

/** Whether a value is an id of GitHub. */
export function isId(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0
}

/** A repository as GitHub describes it; null for other values. */
export function repositoryIn(value: unknown): InstalledRepository | null {
  const { id, name, owner, default_branch, private: isPrivate } = (value ?? {}) as Readonly<Record<string, unknown>>
  const { login } = (owner ?? {}) as Readonly<Record<string, unknown>>
  if (!isId(id) || typeof name !== 'string' || typeof login !== 'string' || typeof default_branch !== 'string')
    return null
  return { github_id: id, owner: login, name, default_branch, is_private: isPrivate !== false }
}
