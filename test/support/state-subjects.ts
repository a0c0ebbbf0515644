// A new resource for each state table (test/cases/states/README.md): its values, callers, state, and what leads to states.
import type {
  Agent,
  Assignment,
  DeviceCode,
  ErasureResult,
  Hold,
  HoldList,
  IncidentList,
  LogCheckpoint,
  MadeApiKey,
  Member,
  MemberList,
  Offer,
  OfferList,
  Report,
} from '@svc/schemas'
import { startMailServer } from './mail.js'
import { type ManifestsInGit, manifestPath, openManifestsInGit, refunds } from './manifests-in-git.js'
import { join, type SignedIn, signedIn } from './people.js'
import { reportIn } from './reports.js'
import type { Subject } from './states.js'

const minute = 60_000
const day = 24 * 60 * minute
const week = 7 * day

/** A platform with a mailbox and a Git host, whose clock the tables move on. */
export interface StateSite {
  readonly git: ManifestsInGit
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
  /** The secret of the newest link to the address. */
  readonly linkFor: (email: string) => Promise<string>
  readonly close: () => Promise<void>
}

export async function openStateSite(database_url: string | null): Promise<StateSite> {
  const mails = await startMailServer()
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
  const name = (of: string) => `${of}-${count++}`
  const newPerson = (email = `${name('person')}@example.org`) => signedIn(platform, mails, email)
  let people: readonly SignedIn[] = []
  let org_id = ''
  let isSignedIn = false
  return {
    git,
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
    linkFor: async (email) => {
      await platform.call('POST', '/auth/magic-link', { as: null, body: { email } })
      return mails.tokenFor(email)
    },
    close: async () => {
      await git.close()
      await mails.close()
    },
  }
}

type Make = (site: StateSite) => Promise<Subject>

async function registered({ callers, name }: StateSite, more: object = {}) {
  const body = { agent_key: name('agent'), ...more }
  const answer = await callers.key<{ agent_id: string }>('POST', '/api/v1/agents', body)
  return { id: answer.body.agent_id, agent_key: body.agent_key }
}

/** A task with a step that violates the baseline. */
async function violated(site: StateSite) {
  const { id: agent_id } = await registered(site, { owner_id: 'o', purpose: 'p' })
  const task_id = site.name('task')
  const timestamp = '2026-01-05T09:00:00Z'
  const step = { task_id, agent_id, step: 1, step_type: 'step.exec', timestamp, input: { a: 1 } }
  const { status } = await site.callers.key('POST', '/api/v1/logs', step)
  if (status !== 201 && status !== 200) throw new Error(`answered ${status}`)
  return task_id
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

/** An offer of the kind from the owner of a workspace to a person, who is a member unless it is an invitation. */
function offerOf(kind: Offer['kind']): Make {
  return async (site) => {
    const { owner, other: recipient, org_id } = await site.pair()
    if (kind !== 'invitation') await join(owner, recipient, org_id, 'member')
    const path = `/auth/workspaces/${org_id}/offers`
    const { body } = await owner.call<Offer>('POST', path, { kind, email: recipient.email })
    let now = { owner, recipient }
    const read = async () => {
      const mine = await now.recipient.call<{ offers: Offer[] }>('GET', '/auth/offers')
      return mine.body.offers.find(({ id }) => id === body.id)?.state ?? null
    }
    return {
      values: { id: body.id, org_id },
      callers: {
        default: (...call) => now.owner.call(...call),
        recipient: (...call) => now.recipient.call(...call),
      },
      state: read,
      steps: {
        // Their sessions end meanwhile.
        expire: async () => {
          site.wait(week)
          now = { owner: await site.newPerson(owner.email), recipient: await site.newPerson(recipient.email) }
          await now.owner.call('POST', `/auth/workspaces/${org_id}/switch`)
        },
      },
    }
  }
}

const critical = refunds([{ name: 'amount', severity: 'critical' }])
const loosened = refunds([{ name: 'amount', severity: 'low' }])

const assignmentStates: Readonly<Record<string, (read: Assignment) => boolean>> = {
  pinned_behind: ({ pinned_sha, head_sha, manifest_sha }) => pinned_sha !== null && head_sha !== manifest_sha,
  pinned: ({ pinned_sha }) => pinned_sha !== null,
  held: ({ held_sha }) => held_sha !== null,
  synced: ({ status }) => status === 'synced',
}

async function connected({ git }: StateSite) {
  return git.connect({ [manifestPath]: critical })
}

export const subjects: Readonly<Record<string, Make>> = {
  'admin-offer': offerOf('admin'),
  agent: async (site) => {
    const values = await registered(site, { purpose: 'as before' })
    await site.callers.default('PATCH', `/api/v1/agents/${values.id}`, { purpose: 'as before' })
    const read = () => site.callers.default<Agent>('GET', `/api/v1/agents/${values.id}`)
    return { values, callers: site.callers, state: async () => ((await read()).body.active ? 'active' : 'inactive') }
  },
  'api-key': async ({ callers, clock, wait, name }) => {
    const expires_at = new Date(clock() + day).toISOString()
    const { body } = await callers.default<MadeApiKey>('POST', '/auth/api-keys', { name: name('key'), expires_at })
    const { id } = body.api_key
    let isExpired = false
    const read = async () => {
      const list = await callers.default<{ api_keys: MadeApiKey['api_key'][] }>('GET', '/auth/api-keys')
      const key = list.body.api_keys.find((one) => one.id === id)
      return key?.revoked_at !== null ? 'revoked' : isExpired ? 'expired' : 'active'
    }
    const expire = async () => {
      wait(day)
      isExpired = true
    }
    return { values: { id }, callers, state: read, steps: { expire } }
  },
  assignment: async (site) => {
    const { git, callers } = site
    const { id: agent_id } = await registered(site)
    const { id: repo_id, repository } = await connected(site)
    const { id } = (await git.assign(agent_id, repo_id)).body
    const state = async () => {
      const { status, body } = await callers.default<Assignment>('GET', `/api/v1/assignments/${id}`)
      if (status === 404) return 'removed'
      return Object.entries(assignmentStates).find(([, holds]) => holds(body))?.[0] ?? 'degraded'
    }
    const push_loosening = async () => {
      repository.commit({ [manifestPath]: loosened })
      await git.tick(repo_id)
    }
    return { values: { id }, callers, state, steps: { push_loosening } }
  },
  'device-code': async ({ newPerson, pair, callers: { anonymous }, wait }) => {
    // A person enters ten codes in 15 minutes.
    wait(16 * minute)
    const { email } = (await pair()).other
    let person = await newPerson(email)
    const { body } = await anonymous<DeviceCode>('POST', '/auth/device/code', {})
    const { device_code, user_code } = body
    const expire = async () => {
      wait(11 * minute)
      person = await newPerson(email)
    }
    return {
      values: { id: device_code, device_code, user_code },
      callers: { default: (...call) => person.call(...call), anonymous },
      state: async () => null,
      steps: { expire },
    }
  },
  hold: async ({ callers, name }) => {
    const { body } = await callers.default<Hold>('POST', '/api/v1/holds', { task_id: name('task'), reason: 'case 7' })
    const read = async () => {
      const { holds } = (await callers.default<HoldList>('GET', `/api/v1/holds?task_id=${body.task_id}`)).body
      return holds[0]?.released_at === null ? 'active' : 'released'
    }
    return { values: { id: body.id }, callers, state: read }
  },
  incident: async (site) => {
    const path = `/api/v1/incidents?task_id=${await violated(site)}`
    const read = async () => (await site.callers.default<IncidentList>('GET', path)).body.incidents[0]
    const id = (await read())?.id ?? ''
    return { values: { id }, callers: site.callers, state: async () => (await read())?.state ?? null }
  },
  'invitation-offer': offerOf('invitation'),
  member: async (site) => {
    const { owner, other: member, org_id } = await site.pair()
    await join(owner, member, org_id, 'member')
    const read = async () => {
      const { body } = await owner.call<MemberList>('GET', `/auth/workspaces/${org_id}/members`)
      const found: Member | undefined = body.members.find(({ email }) => email === member.email)
      return found === undefined ? 'removed' : found.suspended_at !== null ? 'suspended' : 'active'
    }
    return { values: { id: member.id, org_id }, callers: { default: owner.call }, state: read }
  },
  payloads: async (site) => {
    const { default: operator } = site.callers
    const id = await violated(site)
    const read = async () => {
      const holds = await operator<HoldList>('GET', `/api/v1/holds?on=true&task_id=${id}`)
      if (holds.body.holds.length > 0) return 'held'
      const { body } = await operator<{ erasures: ErasureResult[] }>('GET', `/api/v1/erasures?task_id=${id}`)
      return body.erasures.length > 0 ? 'erased' : 'stored'
    }
    const hold = () => operator('POST', '/api/v1/holds', { task_id: id, reason: 'case 7' })
    return { values: { id }, callers: site.callers, state: read, steps: { hold } }
  },
  'refresh-token': async ({ newPerson, pair, callers: { anonymous } }) => {
    const { id, refresh_token, call } = await newPerson((await pair()).other.email)
    return { values: { id, refresh_token }, callers: { default: call, anonymous }, state: async () => null }
  },
  report: async ({ callers, wait, git: { platform } }) => {
    // Another period for each, because a request finds the report that exists.
    wait(1)
    const { body: log } = await callers.default<LogCheckpoint>('GET', '/api/v1/log/checkpoint')
    const to = new Date(Date.parse('2026-03-01T00:00:00Z') + Math.round(performance.now() * 1000)).toISOString()
    const from = '2026-01-01T00:00:00.000Z'
    const { size: cut_off } = log
    const { body } = await callers.default<Report>('POST', '/api/v1/reports', { from, to, cut_off, format: 'json' })
    const { id } = body
    const read = async () => {
      const { status } = await callers.default('GET', `/api/v1/reports/${id}`)
      return status === 404 ? 'deleted' : (await reportIn(platform, id, 'ready')).status
    }
    await read()
    return { values: { id, from, to, cut_off }, callers, state: read }
  },
  repository: async (site) => {
    const { id, url } = await connected(site)
    const read = async () =>
      (await site.callers.default('GET', `/api/v1/repos/${id}`)).status === 200 ? 'connected' : 'disconnected'
    return { values: { id, url }, callers: site.callers, state: read }
  },
  'risk-level': async (site) => {
    const values = await registered(site, { risk_classification: 'high' })
    const read = async () => {
      const { body } = await site.callers.default<Agent>('GET', `/api/v1/agents/${values.id}`)
      return body.risk_classification === body.effective_risk_classification ? 'in_effect' : 'waiting'
    }
    return { values, callers: site.callers, state: read }
  },
  session: async ({ newPerson, pair }) => {
    const { id, call } = await newPerson((await pair()).other.email)
    const state = async () => ((await call('GET', '/auth/me')).status === 200 ? 'active' : 'ended')
    return { values: { id }, callers: { default: call }, state }
  },
  'sign-in-link': async ({ pair, linkFor, wait, callers: { anonymous } }) => {
    const { id, email, call } = (await pair()).other
    const token = await linkFor(email)
    const expire = async () => wait(16 * minute)
    return { values: { id, token }, callers: { default: call, anonymous }, state: async () => null, steps: { expire } }
  },
  'successor-offer': offerOf('successor'),
  'transfer-offer': offerOf('transfer'),
  workspace: async ({ newPerson }) => {
    const { org_id, me, call } = await newPerson()
    const state = async () => (await me()).workspaces.find((one) => one.org_id === org_id)?.kind ?? null
    return { values: { id: org_id }, callers: { default: call }, state }
  },
}
