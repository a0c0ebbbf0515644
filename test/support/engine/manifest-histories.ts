// Random histories of branches, deliveries and operators, from two processes on one database; checked against the model.
import { readConfig } from '@svc/platform'
import { seedWorkspace } from '../../../platform/access/commands/seed-workspace.js'
import { registerAgent } from '../../../platform/agents/commands/register-agent.js'
import { openDatabase, withSnapshot } from '../../../platform/db/db.js'
import { type Scope, scopeOf } from '../../../platform/db/scope.js'
import { PlatformError } from '../../../platform/errors.js'
import { assignManifest, unassign } from '../../../platform/git/commands/assign-manifest.js'
import { approve, pinVersion, resyncByHand, unpin } from '../../../platform/git/commands/change-assignment.js'
import { connectRepository, disconnectRepository } from '../../../platform/git/commands/connect-repository.js'
import { assignmentNotFound } from '../../../platform/git/errors.js'
import { noInstallations } from '../../../platform/git/installations.js'
import type { GitParts } from '../../../platform/git/parts.js'
import { createGitPlaces } from '../../../platform/git/places.js'
import { reconcile } from '../../../platform/git/reconcile.js'
import { createPlaces } from '../../../platform/jobs/places.js'
import { createManifestReader } from '../../../platform/policies/manifest-reader.js'
import { assignmentsFrom } from '../../../platform/policies/store/assignments.js'
import { policiesOf } from '../../../platform/policies/store/policies.js'
import { createSealer } from '../../../platform/secrets/seal.js'
import type { BranchHosts, HostedBranch } from '../git/branch-hosts.js'
import { type WrittenFile, writtenFile } from './manifest-files.js'
import { type ModelHead, problemsAfter, problemsOf, type Shown, type WrittenVersion } from './manifest-model.js'
import { numbers, pick, type Random } from './policy-pairs.js'

export interface Room {
  /** Two processes: each has its own connections and caches. */
  readonly processes: readonly GitParts[]
  readonly scope: Scope
  readonly agents: readonly string[]
  readonly hosts: BranchHosts
  readonly close: () => Promise<void>
}

export async function openRoom(database_url: string, folder: string, hosts: BranchHosts): Promise<Room> {
  const config = readConfig({ SVC_DATA_DIR: folder, SVC_DATABASE_URL: database_url }).value
  let now = Date.parse('2026-03-01T12:00:00Z')
  const clock = () => {
    now += 10
    return now
  }
  const databases = [await openDatabase(config), await openDatabase(config)]
  const processes = databases.map(
    (db): GitParts => ({
      db,
      clock,
      manifests: createManifestReader(100),
      sources: hosts.sources,
      sealer: createSealer([]),
      resync_seconds: 300,
      random: Math.random,
      installations: noInstallations,
      assertKeyKept: () => undefined,
      // All histories are in one workspace.
      places: createGitPlaces(createPlaces(100, 100)),
      send: async () => undefined,
    }),
  )
  const [first] = processes as [GitParts]
  const { org_id } = await seedWorkspace(first.db, config, clock(), async () => undefined)
  const scope = scopeOf(org_id, { kind: 'operator', id: 'operator' })
  const key = { key_id: 'key_1', first_key_hash: Buffer.alloc(32, 1), scopes: [] }
  const agents: string[] = []
  for (const agent_key of ['one', 'two']) {
    const body = { agent_key, environment: 'test' } as const
    agents.push((await registerAgent(first, scope, key, body)).answer.agent_id)
  }
  const close = async () => {
    for (const db of databases) await db.close()
    await hosts.close()
  }
  return { processes, scope, agents, hosts, close }
}

const paths = ['a.yaml', 'b.yaml', 'c.yaml']

/** A history in progress. */
interface History extends Room {
  readonly random: Random
  readonly branch: HostedBranch
  readonly repo_id: number
  /** Every version that was written, by blob SHA. */
  readonly versions: Map<string, WrittenFile>
  readonly commits: { readonly sha: string; readonly files: ReadonlyMap<string, WrittenFile> }[]
  files: ReadonlyMap<string, WrittenFile> | null
  isAway: boolean
  /** Deliveries of webhooks that wait, some of them twice. */
  deliveries: number
}

/** Plays one history, and returns what differs from the model. */
export async function playHistory(room: Room, seed: number, steps: number): Promise<string[]> {
  const random = numbers(seed * 7919 + 1)
  const branch = room.hosts.add(`history-${seed}`)
  const versions = new Map<string, WrittenFile>()
  const begun = { ...room, random, branch, versions, commits: [], files: null, isAway: false, deliveries: 0 }
  const first: History = { ...begun, repo_id: 0 }
  push(first, (path) => written(first, path !== ''))
  const [parts] = room.processes as [GitParts]
  const request = { url: branch.url, owner: 'acme', name: `history-${seed}`, branch: 'main' }
  const { id: repo_id } = await connectRepository(parts, room.scope, request)
  const history: History = { ...first, repo_id }
  for (const path of paths) await assign(history, pick(random, room.agents), path)
  const problems: string[] = []
  for (let step = 0; step < steps && problems.length === 0; step += 1) {
    const acts = Array.from({ length: random() < 0.4 ? 1 : 1 + Math.floor(random() * 4) }, () => pick(random, actions))
    const found = await Promise.all([...acts.map(([, act]) => tolerant(act(history))), look(history)])
    problems.push(...found.flat(), ...(await look(history)))
    if (random() < 0.1) problems.push(...(await resyncAll(history)))
    if (problems.length > 0) problems.push(`in step ${step}: ${acts.map(([name]) => name).join(', ')}`)
  }
  if (problems.length > 0) return problems
  if (random() < 0.7) setOutage(history, false)
  const outcome = await reconcile(parts, room.scope, repo_id)
  const after = (await shown(history)).flatMap((one) => problemsAfter(one, headOf(history), versions))
  if (after.length > 0) return [...after, `after the last reading: ${outcome}`]
  await disconnect(history)
  return []
}

/** A workspace has a limit of repositories, and all histories are in one. */
async function disconnect({ processes, scope, repo_id }: History): Promise<void> {
  const [parts] = processes as [GitParts]
  const assignments = await withSnapshot(parts.db, scope, (tx) => assignmentsFrom(scope, tx, repo_id))
  for (const { id } of assignments) await unassign(parts, scope, id)
  await disconnectRepository(parts, scope, repo_id)
}

function headOf({ isAway, files, branch }: History): ModelHead {
  return isAway ? branch.outage : (files ?? 'branch_missing')
}

async function shown({ processes, scope, repo_id }: History): Promise<Shown[]> {
  const [{ db }] = processes as [GitParts]
  return withSnapshot(db, scope, async (tx) => {
    const all: Shown[] = []
    for (const assignment of await assignmentsFrom(scope, tx, repo_id))
      all.push({ assignment, enabled: (await policiesOf(scope, tx, assignment.id)).filter(({ enabled }) => enabled) })
    return all
  })
}

async function look(history: History): Promise<string[]> {
  return (await shown(history)).flatMap((one) => problemsOf(one, history.versions))
}

/** Operators resync every assignment at the same time: whatever could be put in force is. */
async function resyncAll(history: History): Promise<string[]> {
  const all = await shown(history)
  const parts = () => pick(history.random, history.processes)
  await Promise.all(all.map(({ assignment: { id } }) => resyncByHand(parts(), history.scope, id)))
  const head = headOf(history)
  if (typeof head === 'string') return []
  const isHidden = ({ assignment: { pinned_sha, manifest_path, manifest_sha } }: Shown) => {
    const at: WrittenVersion | undefined = head.get(manifest_path)
    return pinned_sha === null && at !== undefined && at.policies !== null && at.blob_sha !== manifest_sha
  }
  const left = (await shown(history)).filter(isHidden)
  return left.map(({ assignment: { id } }) => `${id} was resynced by hand, and its head is not in force`)
}

/** What the API rejects is part of a history. */
async function tolerant(work: Promise<unknown>): Promise<string[]> {
  try {
    await work
    return []
  } catch (error) {
    if (error instanceof PlatformError && error.code !== 'INTERNAL') return []
    return [String(error)]
  }
}

function written({ versions, random }: History, isUsable?: boolean): WrittenFile {
  const made = writtenFile(random, versions.size + 1, isUsable)
  versions.set(made.blob_sha, made)
  return made
}

/** Pushes a commit with a file at each path for which `choose` returns one, and announces it never, once or twice. */
function push(history: History, choose: (path: string) => WrittenFile | null, others: readonly string[] = []): void {
  const files = new Map<string, WrittenFile>()
  for (const path of [...paths, ...others]) {
    const file = choose(path)
    if (file !== null) files.set(path, file)
  }
  const sha = history.branch.commit({
    README: String(history.commits.length),
    ...Object.fromEntries([...files].map(([path, { file }]) => [path, file])),
  })
  history.commits.push({ sha, files })
  history.files = files
  history.deliveries += Math.floor(history.random() * 3)
}

function setOutage(history: History, isOn: boolean): void {
  history.isAway = isOn
  history.branch.setOutage(isOn)
}

function assign({ processes, scope, repo_id, random }: History, agent_id: string, manifest_path: string) {
  return assignManifest(pick(random, processes), scope, { agent_id, repo_id, manifest_path })
}

async function poll({ processes, scope, repo_id, random }: History): Promise<void> {
  await reconcile(pick(random, processes), scope, repo_id)
}

/** An assignment of the history. */
async function one(history: History) {
  const all = await shown(history)
  if (all.length === 0) throw assignmentNotFound()
  return pick(history.random, all).assignment
}

type Action = (history: History) => Promise<unknown>

/** Changes of the branch. */
const pushes: Readonly<Record<string, Action>> = {
  push: async (history) => push(history, (path) => (history.random() < 0.6 ? written(history) : at(history, path))),
  delete_files: async (history) => push(history, () => (history.random() < 0.3 ? null : written(history, true))),
  push_earlier_files: async (history) => push(history, () => pick(history.random, [...history.versions.values()])),
  rename: async (history) =>
    push(history, (path) => (path === 'moved.yaml' ? at(history, 'a.yaml') : null), ['moved.yaml']),
  force_push: async (history) => {
    const { sha, files } = pick(history.random, history.commits)
    history.branch.move(sha)
    history.files = files
    history.deliveries += 1
  },
  delete_branch: async (history) => {
    if (history.files !== null) history.branch.move(null)
    history.files = null
  },
}

function at({ files, commits }: History, path: string): WrittenFile | null {
  return (files ?? commits.at(-1)?.files)?.get(path) ?? null
}

const anyParts = ({ random, processes }: History) => pick(random, processes)

const byHand: Readonly<Record<string, Action>> = {
  resync: async (history) => resyncByHand(anyParts(history), history.scope, (await one(history)).id),
  approve: async (history) => approve(anyParts(history), history.scope, (await one(history)).id, null),
  pin: async (history) => pinVersion(anyParts(history), history.scope, (await one(history)).id, null),
  roll_back: async (history) => {
    const wanted = pick(history.random, [...history.versions.keys()])
    return pinVersion(anyParts(history), history.scope, (await one(history)).id, wanted)
  },
  unpin: async (history) => unpin(anyParts(history), history.scope, (await one(history)).id),
  assign_again: async (history) => {
    const { id, agent_id, manifest_path } = await one(history)
    await unassign(anyParts(history), history.scope, id)
    return assign(history, agent_id, manifest_path)
  },
  assign: async (history) => assign(history, pick(history.random, history.agents), pick(history.random, paths)),
}

const deliver: Action = async (history) => {
  const wanted = Math.min(history.deliveries, 1 + Math.floor(history.random() * 3))
  history.deliveries -= wanted
  await Promise.all(Array.from({ length: wanted }, () => poll(history)))
}

const outage: Action = async (history) => setOutage(history, history.random() < 0.4)

const actions = [pushes, pushes, byHand, { deliver, poll, outage }, { deliver, poll }, { deliver, poll }].flatMap(
  (some) => Object.entries(some),
)
