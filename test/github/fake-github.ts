// A GitHub for tests and for a demonstration by hand: real bare repositories, GitHub's documented rules, real webhooks.
import { generateKeyPairSync } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createBare, type Files } from './bare.js'
import { rerequestRun, rerequestSuite } from './check-routes.js'
import * as installing from './installing.js'
import * as pulls from './pulls.js'
import { noticePushes } from './pushes.js'
import { createFakeServer } from './server.js'
import { permissionOfEvent } from './webhooks.js'
import {
  type Account,
  type AnswerFault,
  type App,
  isoTime,
  mayDo,
  newWorld,
  type Permissions,
  type Repository,
  type World,
} from './world.js'

export interface NewApp {
  readonly slug: string
  readonly owner: Account
  readonly webhook_url?: string
  readonly webhook_secret?: string
  readonly permissions?: Permissions
  readonly events?: readonly string[]
}

export interface NewRepository {
  readonly visibility?: Repository['visibility']
  readonly default_branch?: string
  /** The first commit; without it the repository is empty. */
  readonly files?: Files
}

export interface FakeStart {
  /** ms since 1970; default: the time of the machine. `advance` adds to it. */
  readonly clock?: () => number
  readonly port?: number
  /** For the bare repositories; default: a temporary folder that `close` removes. */
  readonly folder?: string
}

export type FakeGithub = Awaited<ReturnType<typeof startFakeGithub>>

/** Starts a GitHub on this machine, without any account. Rejects with `EADDRINUSE` for a port that is in use. */
export async function startFakeGithub({ clock = Date.now, port = 0, folder: given }: FakeStart = {}) {
  const folder = given ?? mkdtempSync(join(tmpdir(), 'svc-fake-github-'))
  mkdirSync(folder, { recursive: true })
  let ahead = 0
  const server = createFakeServer(() => world)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve)
  }).catch((error: unknown) => {
    if (given === undefined) rmSync(folder, { recursive: true, force: true })
    throw error
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const world = newWorld({ url, folder, now: () => clock() + ahead })
  return {
    url,
    world,
    deliveries: world.deliveries,
    requests: world.requests,
    runs: world.runs,
    faults: world.faults,
    now: world.now,
    /** Moves the clock by so many ms. */
    advance: (ms: number) => {
      ahead += ms
    },
    ...peopleAndRepositories(world),
    ...bound(world, pulls),
    ...bound(world, installing),
    ...bound(world, { rerequestRun, rerequestSuite, noticePushes }),
    /** Revokes the tokens that exist. */
    revokeTokens: () => {
      for (const token of world.tokens.values()) token.revoked = true
    },
    /** Waits until all deliveries that are under way have an answer, those that follow from them included. */
    idle: async () => {
      while (world.sending.size > 0) await Promise.all(world.sending)
    },
    /** Sends the deliveries that were held, in the order that `order` returns; further ones are sent at once. */
    release: async (order: (held: World['held'][number][]) => World['held'][number][] = (held) => held) => {
      world.faults.hold = false
      for (const start of order(world.held.splice(0))) await start()
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      if (given === undefined) rmSync(folder, { recursive: true, force: true })
    },
  }
}

type Bound<T> = {
  readonly [K in keyof T]: T[K] extends (world: World, ...rest: infer A) => infer R ? (...rest: A) => R : never
}

/** The functions without their first parameter. */
function bound<T extends object>(world: World, functions: T): Bound<T> {
  const entries = Object.entries(functions) as [string, (world: World, ...rest: unknown[]) => unknown][]
  return Object.fromEntries(
    entries.map(([name, run]) => [name, (...rest: unknown[]) => run(world, ...rest)]),
  ) as Bound<T>
}

function peopleAndRepositories(world: World) {
  const account = (login: string, type: Account['type'] = 'User') => {
    const id = world.nextId()
    const made: Account = { id, login, type, email: `${id}+${login}@users.noreply.github.com` }
    world.accounts.set(login.toLowerCase(), made)
    return made
  }
  const add = (owner: Account, name: string, more: Partial<Repository>, source: Repository | null) => {
    const id = world.nextId()
    const bare = createBare(join(world.folder, `${id}.git`), source?.bare)
    const repository: Repository = {
      id,
      owner,
      name,
      visibility: 'private',
      default_branch: 'main',
      fork_of: source,
      created_at: isoTime(world.now()),
      bare,
      former_names: new Set(),
      heads: bare.branches(),
      pulls: [],
      readers: new Set(),
      deleted: false,
      ...more,
    }
    world.repositories.add(repository)
    return repository
  }
  return {
    account,
    /** Registers an App with a new key. An event without its permission is an error, as in GitHub's form. */
    app: (given: NewApp): App => newApp(world, given, account(`${given.slug}[bot]`, 'Bot')),
    repository: (owner: Account, name: string, { files, ...more }: NewRepository = {}) => {
      const repository = add(owner, name, more, null)
      if (files !== undefined) pulls.push(world, repository, { files, message: 'Start' })
      return repository
    },
    fork: (source: Repository, owner: Account) =>
      add(owner, source.name, { visibility: source.visibility, default_branch: source.default_branch }, source),
  }
}

function newApp(world: World, given: NewApp, bot: Account): App {
  const { slug, owner, webhook_url = null, webhook_secret = null, events = [] } = given
  const permissions: Permissions = { ...given.permissions, metadata: 'read' }
  for (const event of events) {
    const permission = permissionOfEvent[event] ?? `an event that the fake knows, not ${event}`
    if (!mayDo(permissions, permission, 'read'))
      throw new Error(`event \`${event}\` needs the permission ${permission}`)
  }
  const key = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  })
  const id = world.nextId()
  const app: App = {
    id,
    client_id: `Iv23li${id}`,
    slug,
    name: slug,
    owner,
    bot,
    private_key: key.privateKey,
    public_key: key.publicKey,
    webhook_url,
    webhook_secret,
    permissions,
    events,
  }
  world.apps.push(app)
  return app
}

/** The answer to a caller that sends too much at once. */
export function secondaryLimit(seconds: number, status: 403 | 429 = 403): AnswerFault {
  const body = { message: 'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.' }
  return { kind: 'answer', status, body, headers: { 'retry-after': String(seconds) } }
}

/** An error of GitHub's servers. */
export function serverError(status = 502): AnswerFault {
  return { kind: 'answer', status, body: { message: 'Server Error' } }
}
