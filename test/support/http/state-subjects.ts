// A new resource for each state table (test/cases/states/README.md): its values, callers, state, and what leads to states.
import type {
  Agent,
  Assignment,
  DeviceCode,
  ErasureResult,
  Hold,
  HoldList,
  LogCheckpoint,
  MadeApiKey,
  Member,
  MemberList,
  Offer,
  Report,
} from '@svc/schemas'
import { manifestPath, refunds } from '../git/manifests-in-git.js'
import { join } from '../people/people.js'
import { reportIn } from '../reports/reports.js'
import { operationSubjects } from './operation-subjects.js'
import { type Make, minute, registered, violated } from './state-site.js'

const day = 24 * 60 * minute
const week = 7 * day

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

const loosened = refunds([{ name: 'amount', severity: 'low' }])

const assignmentStates: Readonly<Record<string, (read: Assignment) => boolean>> = {
  pinned_behind: ({ pinned_sha, head_sha, manifest_sha }) => pinned_sha !== null && head_sha !== manifest_sha,
  pinned: ({ pinned_sha }) => pinned_sha !== null,
  held: ({ held_sha }) => held_sha !== null,
  synced: ({ status }) => status === 'synced',
}

export const subjects: Readonly<Record<string, Make>> = {
  ...operationSubjects,
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
    const { repo_id, manifest_path, push } = await site.manifest()
    const { id } = (await git.assign(agent_id, repo_id, { manifest_path })).body
    const state = async () => {
      const { status, body } = await callers.default<Assignment>('GET', `/api/v1/assignments/${id}`)
      if (status === 404) return 'removed'
      return Object.entries(assignmentStates).find(([, holds]) => holds(body))?.[0] ?? 'degraded'
    }
    return { values: { id }, callers, state, steps: { push_loosening: () => push(loosened) } }
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
    const { task_id: id } = await violated(site)
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
    const { id, url } = await site.git.connect({ [manifestPath]: loosened })
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
