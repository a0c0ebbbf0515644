// Every endpoint with every kind of caller, from one table; and no caller reaches another workspace.
import { readFileSync } from 'node:fs'
import type {
  AgentRegistration,
  DeliveryList,
  Hold,
  LoggedStep,
  MadeAction,
  MadeApiKey,
  MadeAssignment,
  Offer,
  Problem,
  Report,
  Repository,
  Stop,
  View,
} from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { parse } from 'yaml'
import { type GitHost, startGitHost } from '../../support/git/git-host.js'
import { manifestPath, refunds } from '../../support/git/manifests-in-git.js'
import { fast } from '../../support/log/log.js'
import { type MailServer, startMailServer } from '../../support/people/mail.js'
import { join, type SignedIn, signedIn } from '../../support/people/people.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'
import { soon } from '../../support/server/soon.js'

interface Row {
  readonly at: string
  readonly may: readonly string[]
  readonly body?: object
  /** The status for callers with access, where the body is rejected. */
  readonly rejects?: number
}
const rows = parse(readFileSync(new URL('../../cases/access.yaml', import.meta.url), 'utf8')) as readonly Row[]
const readers = ['owner', 'admin', 'member', 'auditor']
const callers = [...readers, 'suspended', 'stranger', 'key', 'operator', 'anonymous'] as const
type Caller = (typeof callers)[number]

let now = Date.parse('2026-03-01T09:00:00Z')
let mails: MailServer
let platform: TestPlatform
let owner: SignedIn
let org_id: string
const people = new Map<Caller, SignedIn>()
const tokens = new Map<Caller, string | null>()

beforeAll(async () => {
  mails = await startMailServer()
  platform = await startPlatform({ env: { ...fast, SVC_SMTP_URL: mails.url }, clock: () => now++ })
  for (const name of [...readers, 'suspended', 'stranger'] as Caller[])
    people.set(name, await signedIn(platform, mails, `${name}@example.org`))
  owner = people.get('owner') as SignedIn
  org_id = owner.org_id
  await owner.call('POST', `/auth/workspaces/${org_id}/promote`, { name: 'Acme' })
  for (const role of ['admin', 'member', 'auditor'] as const)
    await join(owner, people.get(role) as SignedIn, org_id, role)
  const suspended = people.get('suspended') as SignedIn
  await join(owner, suspended, org_id, 'member')
  await owner.call('POST', `/auth/workspaces/${org_id}/members/${suspended.id}/suspend`)
  for (const [name, { token }] of people) tokens.set(name, token)
  tokens.set('key', (await owner.call<MadeApiKey>('POST', '/auth/api-keys', { name: 'for the matrix' })).body.key)
  tokens.set('operator', platform.operator_token)
  tokens.set('anonymous', null)
})
afterAll(async () => {
  await discard(platform)
  await mails.close()
})

const isMember = (caller: string) => readers.includes(caller)
const isPerson = (caller: string) => isMember(caller) || ['suspended', 'stranger'].includes(caller)

/** Whether the table gives the caller access, in their own workspace. */
function admitted({ at, may }: Row, caller: Caller): boolean {
  const role = caller === 'stranger' && !at.includes('{org_id}') ? 'owner' : caller
  return (
    may.includes('anonymous') ||
    may.includes(role) ||
    (may.includes('person') && isPerson(caller)) ||
    (may.includes('reader') && isMember(role))
  )
}

function expected(row: Row, caller: Caller): readonly number[] {
  if (admitted(row, caller)) return []
  if (caller === 'anonymous') return [401]
  return caller === 'stranger' && row.at.includes('{org_id}') ? [404] : [403]
}

async function send(caller: Caller, { at, body }: Row) {
  const [method = '', path = ''] = at.split(' ')
  const filled = path.replace('{org_id}', org_id).replaceAll(/\{\w+\}/g, 'none')
  const sent = method === 'GET' ? undefined : (body ?? {})
  return platform.call<Problem>(method, filled, { as: tokens.get(caller) ?? null, ...(sent && { body: sent }) })
}

describe('the access table', () => {
  it('has a row for every endpoint', async () => {
    const { paths } = (await (await fetch(`${platform.url}/openapi.json`)).json()) as { paths: Record<string, object> }
    const all = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    )
    expect(rows.map(({ at }) => at).sort()).toEqual(all.sort())
  })

  it.each(rows.map((row) => [row.at, row] as const))('is enforced by %s', async (_, row) => {
    for (const caller of callers) {
      const { status } = await send(caller, row)
      const wanted = expected(row, caller)
      if (wanted.length > 0) expect([caller, status]).toEqual([caller, wanted[0]])
      else if (row.rejects !== undefined) expect([caller, status]).toEqual([caller, row.rejects])
      else expect([caller, status >= 500 || status === 401 || status === 403]).toEqual([caller, false])
    }
  })
})

describe('another workspace', () => {
  let mine: SignedIn
  let theirs: SignedIn
  let ids: Record<string, string>
  let their_key: string
  let host: GitHost
  afterAll(() => host.close())
  beforeAll(async () => {
    host = await startGitHost()
    host.add('their-policies.git').commit({ [manifestPath]: refunds([{ name: 'their-policy' }]) })
    mine = await signedIn(platform, mails, 'mine@example.org')
    theirs = await signedIn(platform, mails, 'theirs@example.org')
    await theirs.call('POST', `/auth/workspaces/${theirs.org_id}/promote`, { name: 'Theirs' })
    const made = (await theirs.call<MadeApiKey>('POST', '/auth/api-keys', { name: 'theirs' })).body
    their_key = made.key
    const as = made.key
    const registration: AgentRegistration = { agent_key: 'their-agent' }
    const agent = await platform.call<{ agent_id: string }>('POST', '/api/v1/agents', { as, body: registration })
    const step = { task_id: 'their-task', step: 1, step_type: 'START_NODE', timestamp: '2026-03-01T09:00:00Z' }
    const logged = await platform.call<LoggedStep>('POST', '/api/v1/logs', { as, body: step })
    const held = await theirs.call<Hold>('POST', '/api/v1/holds', { reason: 'theirs' })
    const offer = await theirs.call<Offer>('POST', `/auth/workspaces/${theirs.org_id}/offers`, {
      kind: 'invitation',
      email: 'guest-of-theirs@example.org',
    })
    const url = `${host.url}/their-policies.git`
    const repository = (await theirs.call<Repository>('POST', '/api/v1/repos', { url })).body
    const body = { agent_id: agent.body.agent_id, repo_id: repository.id, manifest_path: manifestPath }
    const assignment = (await theirs.call<MadeAssignment>('POST', '/api/v1/assignments', body)).body
    const period = { from: '2026-02-01T00:00:00Z', to: '2026-03-01T00:00:00Z', format: 'json' }
    const report = await vi.waitFor(async () => {
      const { status, body } = await theirs.call<Report>('POST', '/api/v1/reports', period)
      expect(status).toBe(202)
      return body
    }, soon)
    const action = { name: 'theirs', on: 'incident.created', kind: 'webhook', config: { url: 'http://127.0.0.1:1/' } }
    const answer = (await theirs.call<MadeAction>('POST', '/api/v1/actions', action)).body.action
    // This violation opens an incident, which is delivered.
    await platform.call('POST', '/api/v1/logs', {
      as,
      body: { ...step, task_id: 'their-other-task', step_type: 'step.exec' },
    })
    const delivery = await vi.waitFor(async () => {
      const path = `/api/v1/actions/${answer.id}/deliveries`
      const [first] = (await theirs.call<DeliveryList>('GET', path)).body.deliveries
      if (first === undefined) throw new Error('no delivery')
      return first
    }, soon)
    const stopped = await theirs.call<Stop>('POST', '/api/v1/stops', { agent_key: 'their-agent', reason: 'theirs' })
    const incidents = await theirs.call<{ incidents: { id: string }[] }>('GET', '/api/v1/incidents')
    const view = { list: 'tasks', name: 'theirs', query: 'status=error' }
    const viewed = await theirs.call<View>('POST', '/api/v1/views', view)
    ids = {
      org_id: theirs.org_id,
      person_id: theirs.id,
      key_id: made.api_key.id,
      agent_id: agent.body.agent_id,
      log_id: logged.body.log_id,
      task_id: 'their-task',
      hold_id: held.body.id,
      offer_id: offer.body.id,
      actions: answer.id,
      deliveries: delivery.id,
      incidents: incidents.body.incidents[0]?.id ?? '',
      reports: report.id,
      stops: stopped.body.id,
      views: viewed.body.id,
      repos: String(repository.id),
      assignments: String(assignment.id),
      policies: String(assignment.policies[0]?.id ?? ''),
    }
    expect(Object.values(ids)).not.toContain('')
  })

  it.each(rows.filter(({ at }) => at.includes('{')).map((row) => [row.at, row] as const))(
    'is invisible to %s',
    async (_, row) => {
      const [method = '', path = ''] = row.at.split(' ')
      const at = (values: Record<string, string>) =>
        path.replaceAll(/(\w+)\/\{(\w+)\}/g, (_all, noun: string, name: string) => {
          const id = values[name] ?? values[noun]
          if (id === undefined) throw new Error(`no id for ${path}`)
          return `${noun}/${id}`
        })
      const unknown = Object.fromEntries(
        Object.entries(ids).map(([name, id]) => [
          name,
          name === 'org_id'
            ? `org_${'0'.repeat(32)}`
            : /^\d+$/.test(id)
              ? '999999'
              : id.replaceAll(/[0-9a-f](?=.{0,7}$)/g, '0'),
        ]),
      )
      const sent = method === 'GET' ? {} : { body: row.body ?? { note: 'x', reason: 'x' } }
      for (const as of [mine.token, platform.operator_token, tokens.get('key') ?? null]) {
        const foreign = await platform.call<Problem>(method, at(ids), { as, ...sent })
        const missing = await platform.call<Problem>(method, at(unknown), { as, ...sent })
        const problemIn = ({ body: { detail, code, title }, status }: typeof foreign) => ({
          status,
          detail,
          code,
          title,
        })
        expect([401, 403, 404, 422]).toContain(foreign.status)
        expect(problemIn(foreign)).toEqual(problemIn(missing))
      }
    },
  )

  it('does not appear in any list', async () => {
    const lists = rows.filter(({ at }) => at.startsWith('GET /api') && !at.includes('{') && !at.includes('/log/'))
    for (const { at } of lists)
      for (const as of [mine.token, platform.operator_token]) {
        const { body } = await platform.call(`GET`, at.split(' ')[1] ?? '', { as })
        expect([at, /theirs|their-/i.test(JSON.stringify(body))]).toEqual([at, false])
      }
  })

  it('has API keys without access to other workspaces', async () => {
    const { body } = await platform.call<Problem>('GET', '/api/v1/policies/effective?agent_key=my-agent', {
      as: their_key,
    })
    expect(body.code).toBe('NOT_FOUND')
  })
})
