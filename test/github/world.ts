// What the fake GitHub holds: plain records, and how they are found.
import type { Bare } from './bare.js'
import type { Delivery } from './webhooks.js'

export type Json = Readonly<Record<string, unknown>>
export type Level = 'read' | 'write' | 'admin'
export type Permissions = Readonly<Record<string, Level>>

export interface Account {
  readonly id: number
  readonly login: string
  readonly type: 'User' | 'Bot' | 'Organization'
  readonly email: string
}

export interface App {
  readonly id: number
  readonly client_id: string
  readonly slug: string
  readonly name: string
  readonly owner: Account
  /** The account in whose name the App acts. */
  readonly bot: Account
  /** PEM */
  readonly private_key: string
  readonly public_key: string
  /** Settings of the webhook; a test may change them. */
  webhook_url: string | null
  webhook_secret: string | null
  permissions: Permissions
  events: readonly string[]
}

export interface Installation {
  readonly id: number
  readonly app: App
  readonly account: Account
  repository_selection: 'all' | 'selected'
  /** The selected ones; unused when all repositories of the account are chosen. */
  readonly selected: Set<Repository>
  permissions: Permissions
  readonly created_at: string
  suspended_at: string | null
  deleted: boolean
  /** Requests since the window of the rate limit began, and its end in ms since 1970. */
  readonly rate: { used: number; resets: number }
}

export interface Token {
  readonly value: string
  readonly installation: Installation
  /** null: all that the installation covers. */
  readonly repositories: readonly Repository[] | null
  readonly permissions: Permissions
  /** ms since 1970 */
  readonly expires: number
  revoked: boolean
}

export interface Repository {
  readonly id: number
  owner: Account
  name: string
  visibility: 'public' | 'private' | 'internal'
  default_branch: string
  readonly fork_of: Repository | null
  readonly created_at: string
  readonly bare: Bare
  /** Lower-case `owner/name`. */
  readonly former_names: Set<string>
  /** Branch to commit, as the last push left them. */
  heads: ReadonlyMap<string, string>
  readonly pulls: Pull[]
  /** Accounts that may read only; other accounts may push. */
  readonly readers: Set<Account>
  deleted: boolean
}

export interface Review {
  readonly id: number
  readonly user: Account
  readonly body: string
  state: 'approved' | 'changes_requested' | 'commented' | 'dismissed'
  readonly commit_id: string
  readonly submitted_at: string
}

export interface Pull {
  readonly id: number
  readonly number: number
  readonly repository: Repository
  readonly user: Account
  readonly head_repository: Repository
  readonly head_branch: string
  head_sha: string
  base_branch: string
  /** The head of the base branch at the last change of the pull request; it does not follow the base branch. */
  base_sha: string
  title: string
  body: string | null
  draft: boolean
  state: 'open' | 'closed'
  readonly created_at: string
  updated_at: string
  closed_at: string | null
  merged_at: string | null
  merged_by: Account | null
  merge_commit_sha: string | null
  readonly reviews: Review[]
  /** Of the timeline: changes of the base branch only. */
  readonly events: Json[]
}

export interface Annotation {
  readonly path: string
  readonly start_line: number
  readonly end_line: number
  readonly start_column: number | null
  readonly end_column: number | null
  readonly annotation_level: 'notice' | 'warning' | 'failure'
  readonly title: string | null
  readonly message: string
  readonly raw_details: string | null
}

export interface CheckSuite {
  readonly id: number
  readonly app: App
  readonly repository: Repository
  readonly head_sha: string
  readonly head_branch: string | null
  readonly created_at: string
}

export interface CheckRun {
  readonly id: number
  readonly suite: CheckSuite
  name: string
  external_id: string
  details_url: string
  status: string
  conclusion: string | null
  started_at: string | null
  completed_at: string | null
  title: string | null
  summary: string | null
  text: string | null
  actions: readonly Json[]
  readonly annotations: Annotation[]
}

/** Who sent a request. */
export type Caller =
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'app'; readonly app: App }
  | { readonly kind: 'installation'; readonly token: Token }

/** A request of the API as it was answered. */
export interface SeenRequest {
  readonly method: string
  /** With the query. */
  readonly path: string
  readonly caller: Caller | { readonly kind: 'invalid' }
  readonly body: unknown
  /** null until it is answered; a request that hangs keeps it. */
  status: number | null
}

/** What happens to a request instead of GitHub's answer. */
export type AnswerFault =
  | {
      readonly kind: 'answer'
      readonly status: number
      readonly body?: unknown
      readonly headers?: Readonly<Record<string, string>>
    }
  | { readonly kind: 'hang' }
  /** Half of the body, then the end of the connection. */
  | { readonly kind: 'cut' }
  /** Half of the body, and the rest after so many ms. */
  | { readonly kind: 'slow'; readonly ms: number }

export interface Faults {
  /** Requests of an installation an hour. */
  rate_limit: number
  /** Entries beyond which a recursive listing of a tree is truncated. */
  tree_limit: number
  /** Bytes beyond which a blob is not given. */
  blob_limit: number
  /** Called before each request of the API; null leaves it to GitHub. It may change the fake: revoke a token, push. */
  answer: (request: SeenRequest) => AnswerFault | null
  /** `drop`: recorded as failed; `lose`: not even recorded; `double`: sent twice under one GUID. */
  deliver: (delivery: Pick<Delivery, 'event' | 'action' | 'guid'>) => 'send' | 'drop' | 'lose' | 'double'
  /** Deliveries wait until `release`. */
  hold: boolean
  webhook_timeout_ms: number
}

export interface World {
  readonly url: string
  /** ms since 1970 */
  readonly now: () => number
  readonly folder: string
  readonly nextId: () => number
  readonly accounts: Map<string, Account>
  readonly apps: App[]
  readonly installations: Installation[]
  readonly tokens: Map<string, Token>
  readonly repositories: Set<Repository>
  readonly suites: CheckSuite[]
  readonly runs: CheckRun[]
  readonly deliveries: Delivery[]
  readonly held: (() => Promise<void>)[]
  readonly sending: Set<Promise<void>>
  readonly requests: SeenRequest[]
  readonly faults: Faults
}

export function newWorld(given: Pick<World, 'url' | 'now' | 'folder'>): World {
  let last = 1000
  return {
    ...given,
    nextId: () => {
      last += 1
      return last
    },
    accounts: new Map(),
    apps: [],
    installations: [],
    tokens: new Map(),
    repositories: new Set(),
    suites: [],
    runs: [],
    deliveries: [],
    held: [],
    sending: new Set(),
    requests: [],
    faults: noFaults(),
  }
}

/** GitHub as it is on a good day. */
export function noFaults(): Faults {
  return {
    rate_limit: 5000,
    tree_limit: 100_000,
    blob_limit: 100 * 1024 * 1024,
    answer: () => null,
    deliver: () => 'send',
    hold: false,
    webhook_timeout_ms: 10_000,
  }
}

/** A time as GitHub writes it: RFC 3339, whole seconds. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+/, '')
}

export const fullName = ({ owner, name }: Repository) => `${owner.login}/${name}`

export function covers(installation: Installation, repository: Repository): boolean {
  return (
    !repository.deleted &&
    repository.owner === installation.account &&
    (installation.repository_selection === 'all' || installation.selected.has(repository))
  )
}

export function repositoriesOf(world: World, installation: Installation): Repository[] {
  return [...world.repositories].filter((repository) => covers(installation, repository))
}

export function mayDo(permissions: Permissions, name: string, level: Level): boolean {
  const rank = { read: 1, write: 2, admin: 3 }
  const has = permissions[name]
  return has !== undefined && rank[has] >= rank[level]
}

/** The repositories of one network: a source and its forks share their objects. */
export function networkOf(world: World, repository: Repository): Repository[] {
  const root = (one: Repository): Repository => (one.fork_of === null ? one : root(one.fork_of))
  return [...world.repositories].filter((one) => !one.deleted && root(one) === root(repository))
}
