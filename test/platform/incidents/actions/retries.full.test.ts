// Receivers that fail: what is delivered later, in which order, and what is given up.
import type { Action, Delivery, EventList, Problem } from '@svc/schemas'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { deliveriesOf, inStates, makeAction, registerAgent, violate } from '../../../support/http/actions.js'
import { type Receiver, startReceiver } from '../../../support/people/receiver.js'
import { discard, startPlatform, type TestPlatform } from '../../../support/server/platform.js'
import { soon } from '../../../support/server/soon.js'

let platform: TestPlatform
let receiver: Receiver
let other: Receiver
let skipped = 0
beforeAll(async () => {
  platform = await startPlatform({ clock: () => Date.now() + skipped, env: { SVC_CHECKPOINT_SECONDS: '0' } })
  await registerAgent(platform)
})
afterAll(() => discard(platform))

let action: Action
beforeEach(async () => {
  receiver = await startReceiver()
  other = await startReceiver()
  action = (await makeAction(platform, { on: triggers, config: { url: receiver.url } })).action
})
afterEach(async () => {
  await platform.call('DELETE', `/api/v1/actions/${action.id}`)
  for (const one of [receiver, other]) await one.stop().catch(() => undefined)
})

const triggers = ['incident.created', 'incident.changed']
const call = <T = Action>(method: string, path: string, body: object = {}) =>
  platform.call<T>(method, `/api/v1/actions/${path}`, method === 'GET' ? {} : { body })
const review = (id: string) => platform.call('POST', `/api/v1/incidents/${id}/review`, { body: { note: 'seen' } })
const action_ = async () => (await call('GET', action.id)).body
const eventsOf = async (kind: string) =>
  (await platform.call<EventList>('GET', `/api/v1/events?kind=${kind}`)).body.events.map((event) => event.subject_id)
let tasks = 0
const opened = () => violate(platform, `retry-${tasks++}`)

describe('a receiver that cannot be reached', () => {
  it('gets everything later, in order per incident, under the same ids, and stops no other receiver', async () => {
    const beside = (await makeAction(platform, { config: { url: other.url } })).action
    await receiver.stop()
    const ids = [await opened(), await opened(), await opened()]
    await review(ids[0] ?? '')
    await vi.waitFor(async () => expect((await action_()).receiver.failures).toBeGreaterThan(0), soon)
    await inStates(platform, beside.id, ['delivered', 'delivered', 'delivered'])
    const waiting = await deliveriesOf(platform, action.id)
    expect(waiting.map(({ state }) => state)).toEqual(['pending', 'pending', 'pending', 'pending'])
    expect((await action_()).receiver).toMatchObject({
      retry_at: expect.any(String),
      error: expect.stringMatching(/ECONN/),
    })
    // At most the attempts of the first moment: the others wait for the probe.
    const attempts = () =>
      deliveriesOf(platform, action.id).then((all) => all.reduce((sum, one) => sum + one.attempts, 0))
    expect(await attempts()).toBeLessThanOrEqual(8)
    await receiver.start()
    const delivered = await inStates(platform, action.id, ['delivered', 'delivered', 'delivered', 'delivered'])
    expect(delivered.map(({ id }) => id)).toEqual(waiting.map(({ id }) => id))
    expect(new Set(receiver.received.map(({ id }) => id))).toEqual(new Set(waiting.map(({ id }) => id)))
    const ofFirst = receiver.received
      .filter(({ body }) => body.data.incident?.id === ids[0])
      .map(({ body }) => body.type)
    expect(ofFirst).toEqual(triggers)
    expect((await action_()).receiver).toEqual({ failures: 0, retry_at: null, error: null })
    await call('DELETE', beside.id)
  })

  it('is given up a day after the first attempt; the delivery can be sent again under its id', async () => {
    await receiver.stop()
    const id = await opened()
    await review(id)
    // The first attempt may come before the second delivery, whose time begins with the next one.
    await vi.waitFor(async () => expect((await action_()).receiver.failures).toBeGreaterThan(1), soon)
    skipped += 24 * 3_600_000 + 60_000
    const [dead, next] = (await inStates(platform, action.id, ['dead', 'dead'])) as [Delivery, Delivery]
    expect(dead).toMatchObject({
      next_attempt_at: null,
      ended_at: expect.any(String),
      error: expect.stringMatching(/ECONN/),
    })
    expect(await eventsOf('delivery.dead')).toEqual(expect.arrayContaining([dead.id, next.id]))
    await receiver.start()
    const revived = await call<Delivery>('POST', `deliveries/${dead.id}/redeliver`)
    expect([revived.status, revived.body.state]).toEqual([202, 'pending'])
    await inStates(platform, action.id, ['delivered', 'dead'])
    expect(receiver.received.map((one) => one.id)).toEqual([dead.id])
    expect(await eventsOf('delivery.redelivered')).toContain(dead.id)
  })
})

describe('a receiver that answers', () => {
  it('with 429 and Retry-After is left alone until then', async () => {
    receiver.answer((_request, response) => response.writeHead(429, { 'retry-after': '7200' }).end())
    await opened()
    await vi.waitFor(async () => expect((await action_()).receiver.failures).toBe(1), soon)
    const wait = Date.parse((await action_()).receiver.retry_at ?? '') - Date.now() - skipped
    expect([wait > 7_100_000, wait <= 7_200_000]).toEqual([true, true])
    await opened()
    expect(receiver.received).toHaveLength(1)
    receiver.answer(200)
    expect((await call('POST', `${action.id}/test`)).body).toMatchObject({ delivered: true })
    await inStates(platform, action.id, ['delivered', 'delivered'])
  })

  it('with 410 gets no more: the action is disabled', async () => {
    receiver.answer(410)
    await opened()
    await inStates(platform, action.id, ['dead'])
    expect((await action_()).enabled).toBe(false)
    expect(await eventsOf('action.disabled')).toContain(action.id)
    await opened()
    expect(await deliveriesOf(platform, action.id)).toHaveLength(1)
    const { status, body } = await call<Problem>('POST', `deliveries/${receiver.received[0]?.id}/redeliver`)
    expect([status, body.detail]).toEqual([409, expect.stringContaining('enable it first')])
  })

  it('with an error for one incident gets the others, and the changes of that one after it', async () => {
    const bad = await opened()
    await inStates(platform, action.id, ['delivered'])
    receiver.answer((request, response) => {
      request.resume()
      response.writeHead(failing ? 500 : 200).end()
    })
    let failing = true
    await review(bad)
    await platform.call('POST', `/api/v1/incidents/${bad}/resolve`, { body: { note: 'done' } })
    await vi.waitFor(
      // A claim counts the attempt before its answer is there.
      async () => expect((await deliveriesOf(platform, action.id))[1]?.response_status).toBe(500),
      soon,
    )
    const [, first, second] = await deliveriesOf(platform, action.id)
    expect(first).toMatchObject({ response_status: 500, error: expect.stringContaining('see its log') })
    expect(second).toMatchObject({ state: 'pending', attempts: 0 })
    const refused = await call<Problem>('POST', `deliveries/${first?.id}/redeliver`)
    expect([refused.status, refused.body.code]).toEqual([409, 'INVALID_TRANSITION'])
    expect(refused.body.detail).toMatch(/`pending`.*`delivered` or `dead`/)
    failing = false
    await opened()
    await inStates(platform, action.id, ['delivered', 'delivered', 'delivered', 'delivered'])
  })

  it.each([
    [
      'a redirect to this machine',
      (url: string) => ({ status: 307, headers: { location: `${url}/secret` } }),
      /answered 307.*not followed/,
    ],
    ['a huge body', () => ({ status: 200, headers: {}, body: 'x'.repeat(2 * 1024 * 1024) }), /more than 1 MiB/],
  ])('with %s has failed', async (_, made, says) => {
    receiver.answer((request, response) => {
      const { status, headers, body = '' } = made(other.url) as { status: number; headers: object; body?: string }
      request.resume()
      response.writeHead(status, headers as Record<string, string>).end(body)
    })
    const { status, body } = await call('POST', `${action.id}/test`)
    expect([status, body]).toEqual([
      200,
      expect.objectContaining({ delivered: false, error: expect.stringMatching(says) }),
    ])
    expect(other.received).toEqual([])
  })
})

describe('a deleted action', () => {
  it('cancels what waits, and its deliveries can be read', async () => {
    await receiver.stop()
    await opened()
    await call('DELETE', action.id)
    const [delivery] = (await inStates(platform, action.id, ['cancelled'])) as [Delivery]
    expect((await call<Delivery>('GET', `deliveries/${delivery.id}`)).body.body).toContain('"type":"incident.created"')
    const { status, body } = await call<Problem>('POST', `deliveries/${delivery.id}/redeliver`)
    expect([status, body.code]).toEqual([409, 'INVALID_TRANSITION'])
  })
})
