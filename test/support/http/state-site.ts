// The platform on which state tables are checked (test/cases/states/README.md), and what several subjects begin with.
import type { MemberList, OfferList } from '@svc/schemas'
import { expect, vi } from 'vitest'
import {
  type Connected,
  type ManifestsInGit,
  manifestPath,
  openManifestsInGit,
  refunds,
} from '../git/manifests-in-git.js'
import { startMailServer } from '../people/mail.js'
import { type SignedIn, signedIn } from '../people/people.js'
import { type Receiver, startReceiver } from '../people/receiver.js'
import { soon } from '../server/soon.js'
import type { Subject } from './states.js'

export const minute = 60_000

/** A platform with a mailbox, a Git host and a receiver of webhooks, whose clock the tables move on. */
export interface StateSite {
  readonly git: ManifestsInGit
  readonly receiver: Receiver
  readonly callers: Record<'default' | 'key' | 'anonymous', Subject['callers']['default']>
  /** A name that was not used before. */
  readonly name: (of: string) => string
  readonly clock: () => number
  readonly wait: (ms: number) => void
  readonly newPerson: (email?: string) => Promise<SignedIn>
  /**
   * The owner of a shared workspace and another person, who is not a member and has no pending offer. All tables share them,
   * because an account has a workspace with a log and a library of its own.
   */
  readonly pair: () => Promise<{ readonly owner: SignedIn; readonly other: SignedIn; readonly org_id: string }>
  /** A manifest of its own in a repository that all share, and what commits another text of it and reads the branch. */
  readonly manifest: () => Promise<{
    readonly repo_id: number
    readonly manifest_path: string
    readonly push: (text: string) => Promise<void>
  }>
  /** Two agents with a manifest that no other agent has. */
  readonly governed: () => Promise<{ readonly manifest_id: string; readonly agent_ids: readonly string[] }>
  /** The secret of the newest link to the address. */
  readonly linkFor: (email: string) => Promise<string>
  readonly close: () => Promise<void>
}

export async function openStateSite(database_url: string | null): Promise<StateSite> {
  const mails = await startMailServer()
  const receiver = await startReceiver()
  let ahead = 0
  let count = 0
  const env = {
    SVC_SMTP_URL: mails.url,
    SVC_CHECKPOINT_SECONDS: '2',
    SVC_LOG_HOST: 'log.example',
    SVC_RATE_LIMIT_ADDRESS: '100000',
    SVC_RATE_LIMIT_MAILBOX: '100000',
    // Only the operations read the branch.
    SVC_RESYNC_SECONDS: '86400',
  }
  const clock = () => Date.now() + ahead
  const git = await openManifestsInGit({ database_url, env, clock })
  const { platform } = git
  const as =
    (caller: 'operator' | 'key' | null): Subject['callers']['default'] =>
    (method, path, body) =>
      platform.call(method, path, { as: caller, ...(body !== undefined && { body }) })
  // Other names than those of the Git host, whose agents must not be deactivated by a table.
  const name = (of: string) => `${of}-of-table-${count++}`
  const newPerson = (email = `${name('person')}@example.org`) => signedIn(platform, mails, email)
  let people: readonly SignedIn[] = []
  let org_id = ''
  let isSignedIn = false
  const texts = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`${index}.yaml`, critical]))
  let shared: Connected | null = null
  let used = 0
  let governed: ReturnType<StateSite['governed']> | null = null
  return {
    git,
    receiver,
    callers: { default: as('operator'), key: as('key'), anonymous: as(null) },
    name,
    clock,
    wait: (ms) => {
      ahead += ms
      isSignedIn = false
    },
    newPerson,
    pair: async () => {
      if (people.length === 0) {
        people = [await newPerson(), await newPerson()]
        org_id = people[0]?.org_id ?? ''
        await people[0]?.call('POST', `/auth/workspaces/${org_id}/promote`, { name: 'Acme' })
      } else if (!isSignedIn) people = await Promise.all(people.map(({ email }) => newPerson(email)))
      isSignedIn = true
      return separated(people, org_id)
    },
    manifest: async () => {
      shared ??= await git.connect(texts)
      const { id: repo_id, repository } = shared
      const manifest_path = Object.keys(texts)[used++] ?? 'every manifest is used'
      const push = async (text: string) => {
        texts[manifest_path] = text
        repository.commit(texts)
        // The timer may read the branch meanwhile, which then moved while it was read: it has to be read again.
        await vi.waitFor(async () => {
          const { body } = await git.tick(repo_id)
          expect([body.status, body.conditions]).toEqual(['synced', []])
        }, soon)
      }
      return { repo_id, manifest_path, push }
    },
    governed: () => {
      governed ??= twoGoverned(git)
      return governed
    },
    linkFor: async (email) => {
      await platform.call('POST', '/auth/magic-link', { as: null, body: { email } })
      return mails.tokenFor(email)
    },
    close: async () => {
      await git.close()
      await mails.close()
      await receiver.stop()
    },
  }
}

const critical = refunds([{ name: 'amount', severity: 'critical' }])

async function twoGoverned(git: ManifestsInGit) {
  const { id } = await git.connect({ [manifestPath]: refunds([{ name: 'amount' }]) })
  const agents = [await git.register(), await git.register()]
  let manifest_id = ''
  for (const { agent_id } of agents) {
    const { status, body } = await git.assign(agent_id, id)
    if (status !== 201) throw new Error(`answered ${status}: ${JSON.stringify(body)}`)
    manifest_id = body.manifest_id
  }
  return { manifest_id, agent_ids: agents.map(({ agent_id }) => agent_id) }
}

export type Make = (site: StateSite) => Promise<Subject>

export async function registered({ callers, name }: StateSite, more: object = {}) {
  const body = { agent_key: name('agent'), ...more }
  const answer = await callers.key<{ agent_id: string }>('POST', '/api/v1/agents', body)
  return { id: answer.body.agent_id, agent_key: body.agent_key }
}

/** An agent and its task, with a step that violates the baseline. */
export async function violated(
  site: StateSite,
  before: (agent_id: string) => Promise<unknown> = async () => undefined,
) {
  const { id: agent_id } = await registered(site, { owner_id: 'o', purpose: 'p' })
  await before(agent_id)
  const task_id = site.name('task')
  const timestamp = '2026-01-05T09:00:00Z'
  const step = { task_id, agent_id, step: 1, step_type: 'step.exec', timestamp, input: { a: 1 } }
  const { status } = await site.callers.key('POST', '/api/v1/logs', step)
  if (status !== 201 && status !== 200) throw new Error(`answered ${status}`)
  return { agent_id, task_id }
}

/** Finds the owner, removes the other person from the workspace, and revokes the offers to that person. */
async function separated(people: readonly SignedIn[], org_id: string) {
  const path = `/auth/workspaces/${org_id}`
  for (const owner of people) {
    const { status, body } = await owner.call<MemberList>('GET', `${path}/members`)
    const other = people.find((one) => one !== owner)
    if (status !== 200 || other === undefined) continue
    if (body.members.find(({ role }) => role === 'owner')?.email !== owner.email) continue
    await owner.call('POST', `${path}/switch`)
    if (body.members.length > 1) await owner.call('POST', `${path}/members/${other.id}/remove`)
    const { offers } = (await owner.call<OfferList>('GET', `${path}/offers`)).body
    for (const { id, state } of offers) if (state === 'pending') await owner.call('POST', `${path}/offers/${id}/revoke`)
    return { owner, other, org_id }
  }
  throw new Error('the workspace has no owner')
}
