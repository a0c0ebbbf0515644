// Requests of the App to GitHub about itself: its owner, its installations, and the deliveries of its webhook.
import { type AskGithub, orNull, SourceError } from '@svc/platform'
import { idIn, membersOf, objectIn, textIn } from './members.js'
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
interface InstalledRepository {
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
  /** The account that owns the App, in lower case. */
  readonly owner: () => Promise<string>
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

/** Every method rejects with SourceError. `asApp` makes requests of the App itself. */
export function createAppApi(asApp: AskGithub): AppApi {
  return {
    owner: async () => {
      const { body } = await asApp({ path: '/app' })
      const login = textIn(objectIn(membersOf(body), 'owner'), 'login')
      if (login === null) throw new SourceError('fetch_failed', 'GitHub sent no App: check SVC_GITHUB_API_URL')
      return login.toLowerCase()
    },
    installation: async (id) => {
      const answer = await orNull(asApp({ path: `/app/installations/${id}` }))
      return answer === null ? null : installationIn(answer.body)
    },
    installations: async () => {
      const { items } = await listAll(asApp, { path: '/app/installations', max_items: maxInstallations })
      return items.flatMap((item) => installationIn(item) ?? [])
    },
    attemptsSince: async (since) => {
      const isLast = (item: unknown) => (attemptIn(item)?.at ?? 0) < since
      const { items } = await listAll(asApp, { path: '/app/hook/deliveries', max_items: maxAttempts, isLast })
      return items.flatMap((item) => attemptIn(item) ?? []).filter(({ at }) => at >= since)
    },
    deliverAgain: async (attempt_id) => {
      await orNull(asApp({ method: 'POST', path: `/app/hook/deliveries/${attempt_id}/attempts` }))
    },
  }
}

/** An installation as GitHub describes it; null for other values. */
function installationIn(value: unknown): Installation | null {
  const found = membersOf(value)
  const account = objectIn(found, 'account')
  const [installation_id, id, login] = [idIn(found), idIn(account), textIn(account, 'login')]
  if (installation_id === null || id === null || login === null) return null
  const granted = Object.entries(objectIn(found, 'permissions')).filter(([, level]) => typeof level === 'string')
  return {
    installation_id,
    account: { id, login },
    is_suspended: textIn(found, 'suspended_at') !== null,
    permissions: Object.fromEntries(granted) as Installation['permissions'],
  }
}

function attemptIn(value: unknown): Attempt | null {
  const found = membersOf(value)
  const [id, guid, at] = [idIn(found), textIn(found, 'guid'), Date.parse(textIn(found, 'delivered_at') ?? '')]
  if (id === null || guid === null || Number.isNaN(at)) return null
  const status = idIn(found, 'status_code') ?? 0
  const is_delivered = status >= 200 && status < 300
  return { id, guid, at, is_delivered, event: textIn(found, 'event') ?? '', action: textIn(found, 'action') }
}

/** A repository as GitHub describes it; null for other values. */
export function repositoryIn(value: unknown): InstalledRepository | null {
  const found = membersOf(value)
  const [github_id, owner] = [idIn(found), textIn(objectIn(found, 'owner'), 'login')]
  const [name, default_branch] = [textIn(found, 'name'), textIn(found, 'default_branch')]
  if (github_id === null || owner === null || name === null || default_branch === null) return null
  return { github_id, owner, name, default_branch, is_private: found.private !== false }
}
