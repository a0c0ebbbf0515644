// Actions by the API: their configuration, signed webhooks, mails, Slack, tests and secrets.
import { readFileSync } from 'node:fs'
import type {
  Action,
  ActionList,
  ActionSecret,
  ActionTest,
  Assignment,
  AssignmentList,
  Delivery,
  EventList,
  Incident,
  Problem,
} from '@svc/schemas'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { parse } from 'yaml'
import { deliveriesOf, inStates, makeAction, registerAgent, violate } from '../../../support/http/actions.js'
import { startMailServer } from '../../../support/people/mail.js'
import { type Received, type Receiver, startReceiver } from '../../../support/people/receiver.js'
import { discard, startPlatform, type TestPlatform } from '../../../support/server/platform.js'
import { soon } from '../../../support/server/soon.js'

type Row = Record<string, unknown> & { url?: string; path: string; says: string }
const { rejected } = parse(readFileSync(new URL('../../../cases/actions.yaml', import.meta.url), 'utf8')) as {
  readonly rejected: readonly Row[]
}

let platform: TestPlatform
let receiver: Receiver
let skipped = 0
let agent_id: string
beforeAll(async () => {
  receiver = await startReceiver()
  platform = await startPlatform({
    clock: () => Date.now() + skipped,
    env: { SVC_PUBLIC_URL: 'https://localhost', SVC_CHECKPOINT_SECONDS: '0' },
  })
  agent_id = (await registerAgent(platform)).body.agent_id
})
afterAll(async () => {
  await discard(platform)
  await receiver.stop()
})

const to = (name: string) => ({ config: { url: `${receiver.url}/${name}` } })
const verify = (secret: string, { text, headers }: Received) => new Webhook(secret).verify(text, headers)
const eventsOf = async (id: string) => {
  const { body } = await platform.call<EventList>('GET', '/api/v1/events?limit=200')
  return body.events.filter((event) => event.subject_id === id).toReversed()
}

describe('an action', () => {
  it.each(rejected.map((row) => [JSON.stringify(row), row] as const))('is rejected: %s', async (_, row) => {
    const { url, path, says, ...given } = row
    const body = { name: 'n', on: 'incident.created', kind: 'webhook', config: { url }, ...given }
    const { status, body: problem } = await platform.call<Problem>('POST', '/api/v1/actions', { body })
    expect([status, problem.errors.map((error) => error.path)]).toEqual([422, [path]])
    expect(problem.errors[0]?.message).toContain(says)
  })

  it('takes single values and lists, and changes what is sent', async () => {
    const { action } = await makeAction(platform, { ...to('x'), on: 'log.invalid', agent_ids: agent_id, policy_ids: 7 })
    expect(action).toMatchObject({ on: ['log.invalid'], agent_ids: [agent_id], policy_ids: [7], min_severity: null })
    const patch = (body: object) => platform.call<Action>('PATCH', `/api/v1/actions/${action.id}`, { body })
    const changed = await patch({ on: ['log.invalid', 'log.invalid'], agent_ids: null, min_severity: 'high' })
    expect(changed.body).toMatchObject({ on: ['log.invalid'], agent_ids: null, policy_ids: [7], min_severity: 'high' })
    expect((await patch({ kind: 'slack' })).status).toBe(422)
    const switched = async (name: string) =>
      (await platform.call<Action>('POST', `/api/v1/actions/${action.id}/${name}`)).body.enabled
    expect([await switched('disable'), await switched('disable'), await switched('enable')]).toEqual([
      false,
      false,
      true,
    ])
    expect((await platform.call('DELETE', `/api/v1/actions/${action.id}`)).status).toBe(204)
    expect((await platform.call('GET', `/api/v1/actions/${action.id}`)).status).toBe(404)
    const kinds = (await eventsOf(action.id)).map(({ kind }) => kind.replace('action.', ''))
    expect(kinds).toEqual(['created', 'updated', 'disabled', 'enabled', 'deleted'])
  })

  it('is limited to agents and policies that exist', async () => {
    const limits = { agent_ids: ['a', 'ag_unknown', agent_id], policy_ids: [7, 999_999] }
    const body = { name: 'n', on: 'incident.created', kind: 'webhook', ...to('x'), ...limits }
    const { status, body: problem } = await platform.call<Problem>('POST', '/api/v1/actions', { body })
    expect([status, problem.errors]).toEqual([
      422,
      [
        { path: 'agent_ids', message: `no agent has the id \`a\`: it is the key of the agent \`${agent_id}\`` },
        { path: 'agent_ids', message: 'no agent has the id `ag_unknown`: GET /api/v1/agents lists the agents' },
        { path: 'policy_ids', message: 'no policy has the id `999999`: GET /api/v1/policies lists the policies' },
      ],
    ])
    const { action } = await makeAction(platform, { ...to('x'), policy_ids: [7] })
    const patch = (change: object) => platform.call('PATCH', `/api/v1/actions/${action.id}`, { body: change })
    expect((await patch({ policy_ids: [7, 999_999] })).status).toBe(422)
    expect((await patch({ policy_ids: [7], agent_ids: [agent_id] })).status).toBe(200)
    await platform.call('DELETE', `/api/v1/actions/${action.id}`)
  })

  it('for a policy of a manifest also answers the next versions of the policy', async () => {
    const found = async (id: string) => (await platform.call<Incident>('GET', `/api/v1/incidents/${id}`)).body
    const { policy_id } = await found(await violate(platform, 'first-version'))
    const { action } = await makeAction(platform, { ...to('versions'), policy_ids: policy_id })
    const other = await makeAction(platform, { ...to('others'), policy_ids: [policy_id + 1] })
    const { body } = await platform.call<AssignmentList>('GET', `/api/v1/assignments?agent_id=${agent_id}`)
    const { id, manifest_path } = body.assignments[0] as Assignment
    await platform.call('DELETE', `/api/v1/assignments/${id}`)
    await platform.call('POST', '/api/v1/assignments', { body: { agent_id, repo_id: null, manifest_path } })
    const later = await found(await violate(platform, 'next-version'))
    expect(later.policy_id).not.toBe(policy_id)
    expect(await deliveriesOf(platform, action.id)).toMatchObject([{ subject_id: later.id }])
    expect(await deliveriesOf(platform, other.action.id)).toEqual([])
    for (const made of [action, other.action]) await platform.call('DELETE', `/api/v1/actions/${made.id}`)
  })

  it('puts no part of an address that can be a secret into events, nor a long one into answers', async () => {
    const token = 'Zm9vYmFyYmF6cXV1eA'
    const { origin } = new URL(receiver.url)
    const { action } = await makeAction(platform, { config: { url: `${origin}/hooks/${token}/in?t=${token}` } })
    expect(action.config.url).toBe(`${origin}/hooks/…${token.slice(-4)}/in?…`)
    const body = { config: { url: `${origin}/other/${token}` } }
    await platform.call('PATCH', `/api/v1/actions/${action.id}`, { body })
    await platform.call('PATCH', `/api/v1/actions/${action.id}`, { body: { name: 'same address' } })
    const events = await eventsOf(action.id)
    expect(JSON.stringify(events)).not.toMatch(/Zm9v|hooks|other/)
    const data = events.map((event) => event.data)
    expect(data).toMatchObject([
      { config: { url: origin } },
      { address_changed: true, from: {}, to: {} },
      { from: { name: 'tell' }, to: { name: 'same address' } },
    ])
    await platform.call('DELETE', `/api/v1/actions/${action.id}`)
  })

  it('is tested a few times each minute, by all of the workspace together', async () => {
    const { action } = await makeAction(platform, to('tested'))
    const tests = Array.from({ length: 25 }, () => platform.call<Problem>('POST', `/api/v1/actions/${action.id}/test`))
    const answers = (await Promise.all(tests)).map(({ status, headers }) => [status, headers.has('retry-after')])
    expect(answers.filter(([status]) => status === 200)).toHaveLength(20)
    expect(answers.filter(([status]) => status === 429)).toEqual(Array.from({ length: 5 }, () => [429, true]))
    skipped += 60_000
    await platform.call('DELETE', `/api/v1/actions/${action.id}`)
  })

  it('keeps its address when a client sends back what it read', async () => {
    const { action } = await makeAction(platform, { config: { url: `${receiver.url}?token=query-secret` } })
    expect(action.config.url).toBe(`${receiver.url}?…`)
    const { config, name } = action
    await platform.call('PATCH', `/api/v1/actions/${action.id}`, { body: { config, name } })
    const { body } = await platform.call<ActionTest>('POST', `/api/v1/actions/${action.id}/test`)
    expect(body).toMatchObject({ delivered: true, status: 200, body: 'thank you', error: null })
    await platform.call('DELETE', `/api/v1/actions/${action.id}`)
  })
})

describe('a webhook', () => {
  it('is signed, in order per incident, with both secrets during a rotation', async () => {
    const given = { ...to('signed'), on: ['incident.created', 'incident.changed'], policy_ids: null }
    const { action, secret } = await makeAction(platform, given)
    receiver.received.length = 0
    const id = await violate(platform, 'signed')
    await platform.call('POST', `/api/v1/incidents/${id}/review`, { body: { note: 'seen' } })
    const deliveries = await inStates(platform, action.id, ['delivered', 'delivered'])
    const [first, second] = receiver.received as [Received, Received]
    expect(receiver.received.map((one) => one.id)).toEqual(deliveries.map((one) => one.id))
    const { body: incident } = await platform.call('GET', `/api/v1/incidents/${id}`)
    expect(verify(secret, first)).toMatchObject({ type: 'incident.created', data: { incident: { id, state: 'open' } } })
    expect(verify(secret, second)).toMatchObject({ type: 'incident.changed', data: { incident } })
    expect(() => verify(secret, { ...first, text: first.text.replace('open', 'done') })).toThrow()

    const rotated = await platform.call<ActionSecret>('POST', `/api/v1/actions/${action.id}/rotate-secret`)
    const again = () => platform.call('POST', `/api/v1/actions/deliveries/${first.id}/redeliver`)
    expect((await again()).status).toBe(202)
    await inStates(platform, action.id, ['delivered', 'delivered'])
    const third = receiver.received[2] as Received
    expect([third.id, third.text]).toEqual([first.id, first.text])
    for (const one of [secret, rotated.body.secret]) expect(verify(one, third)).toBeTruthy()

    skipped += 25 * 3_600_000
    await again()
    await vi.waitFor(() => expect(receiver.received).toHaveLength(4), soon)
    // The package checks the time of this machine; the signatures show that one secret signed.
    const fourth = receiver.received[3]?.headers['webhook-signature'] ?? ''
    expect([third.headers['webhook-signature']?.split(' ').length, fourth.split(' ').length]).toEqual([2, 1])
    await platform.call('DELETE', `/api/v1/actions/${action.id}`)
  })

  it('is not triggered by further occurrences, other severities and disabled actions', async () => {
    const some = await makeAction(platform, { ...to('some') })
    // The baseline's policy about loops, which one step does not violate.
    const none = await makeAction(platform, { ...to('none'), policy_ids: [8] })
    const off = await makeAction(platform, { ...to('off'), enabled: false })
    await violate(platform, 'again')
    const body = { task_id: 'again', step: 2, step_type: 'step.exec', timestamp: '2026-01-05T09:00:01Z' }
    await platform.call('POST', '/api/v1/logs', { as: 'key', body })
    await inStates(platform, some.action.id, ['delivered'])
    for (const { action } of [none, off]) expect(await deliveriesOf(platform, action.id)).toEqual([])
    for (const { action } of [some, none, off]) await platform.call('DELETE', `/api/v1/actions/${action.id}`)
    expect(await deliveriesOf(platform, some.action.id)).toHaveLength(1)
  })
})

describe('a secret', () => {
  it('appears in the answer that creates it, and nowhere else', async () => {
    const slack = await makeAction(platform, {
      kind: 'slack',
      config: { url: `${receiver.url}/T0/B0/slack-secret-1234` },
    })
    const hook = await makeAction(platform, { ...to('s') })
    expect(slack.action.config.url).toBe(`${new URL(receiver.url).origin}/…1234`)
    await violate(platform, 'secret')
    await inStates(platform, slack.action.id, ['delivered'])
    await inStates(platform, hook.action.id, ['delivered'])
    const posted = receiver.received.find(({ headers }) => headers['webhook-id'] === undefined)
    expect(posted?.text).toContain('<https://localhost/incidents/inc_')
    expect(posted?.text).not.toContain('/api/')
    const delivery = (await deliveriesOf(platform, hook.action.id))[0]?.id
    const paths = ['actions', 'events?limit=200', 'jobs', `actions/${hook.action.id}`, `actions/deliveries/${delivery}`]
    for (const path of paths) {
      const { status, body } = await platform.call('GET', `/api/v1/${path}`)
      expect([path, status]).toEqual([path, 200])
      expect([path, /slack-secret|whsec_/.test(JSON.stringify(body))]).toEqual([path, false])
      expect([path, JSON.stringify(body).includes(hook.secret.slice(6))]).toEqual([path, false])
    }
    for (const { action } of [slack, hook]) await platform.call('DELETE', `/api/v1/actions/${action.id}`)
  })
})

describe('mail', () => {
  it('goes to all addresses as one mail, escaped', async () => {
    const mails = await startMailServer()
    const env = { SVC_SMTP_URL: mails.url, SVC_CHECKPOINT_SECONDS: '0', SVC_PUBLIC_URL: 'https://svc.example' }
    const other = await startPlatform({ env })
    await registerAgent(other)
    const to = ['Mia@Example.org', 'rejected@example.org']
    const { action } = await makeAction(other, { kind: 'email', name: '<b>tell</b>', config: { to } })
    expect(action.config.to).toEqual(['mia@example.org', 'rejected@example.org'])
    const id = await violate(other, 'mailed')
    const [delivery] = (await inStates(other, action.id, ['delivered'])) as [Delivery]
    const [text = ''] = mails.mailsTo('mia@example.org')
    expect(text).toContain(`Message-ID: <${delivery.id}@svc.invalid>`)
    expect(text).toMatch(/Subject: svc: new incident/)
    expect(text.replaceAll(/=\r?\n/g, '')).toContain(`https://svc.example/incidents/${id}`)
    expect(text).not.toContain('/api/')
    expect(text).not.toContain('<b>tell</b></p>')
    const wrong = await makeAction(other, { kind: 'email', config: { to: 'rejected@example.org' } })
    const { body } = await other.call<ActionTest>('POST', `/api/v1/actions/${wrong.action.id}/test`)
    expect(body).toMatchObject({ delivered: false, error: expect.stringContaining('rejects all addresses') })
    await mails.close()
    const down = await other.call<ActionTest>('POST', `/api/v1/actions/${action.id}/test`)
    expect(down.body.error).toContain('SVC_SMTP_URL')
    await discard(other)
  })
})

describe('the list of actions', () => {
  it('filters, and pages newest first', async () => {
    const made = [await makeAction(platform, to('1')), await makeAction(platform, { ...to('2'), enabled: false })]
    const list = async (query: string) => (await platform.call<ActionList>('GET', `/api/v1/actions?${query}`)).body
    expect((await list('enabled=false')).actions.map(({ id }) => id)).toEqual([made[1]?.action.id])
    const first = await list('limit=1')
    const second = await list(`limit=1&cursor=${first.next_cursor}`)
    expect([...first.actions, ...second.actions].map(({ id }) => id)).toEqual([made[1]?.action.id, made[0]?.action.id])
    expect((await list('kind=email')).total).toBe(0)
  })
})
