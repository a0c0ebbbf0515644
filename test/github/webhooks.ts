// Signed deliveries to the webhook of an App: once, within a time limit, recorded, never repeated by themselves.
import { createHmac, randomUUID } from 'node:crypto'
import { accountShape, repositoryShape } from './shapes.js'
import { type Account, type App, covers, isoTime, type Json, mayDo, type Repository, type World } from './world.js'

export interface Delivery {
  readonly id: number
  /** The same for an event and what is sent of it again. */
  readonly guid: string
  readonly app: App
  readonly event: string
  readonly action: string | null
  readonly payload: Json
  readonly delivered_at: string
  readonly redelivery: boolean
  readonly installation_id: number | null
  readonly repository_id: number | null
  readonly headers: Readonly<Record<string, string>>
  /** Seconds. */
  duration: number
  status: string
  /** 0 while the answer is missing, and when there was none. */
  status_code: number
  response: { readonly headers: Json; readonly payload: string } | null
}

/** The permission without which an App cannot subscribe to an event. */
export const permissionOfEvent: Readonly<Record<string, string>> = {
  push: 'contents',
  pull_request: 'pull_requests',
  pull_request_review: 'pull_requests',
  check_run: 'checks',
  check_suite: 'checks',
  merge_group: 'merge_queues',
  repository: 'metadata',
}

export interface Fired {
  readonly event: string
  readonly repository: Repository
  readonly sender: Account
  readonly payload: Json
  /** Only this App receives it. */
  readonly only?: App
}

/** Sends an event of a repository to every App that covers it, subscribed to it and has the permission. */
export function fire(world: World, { event, repository, sender, payload, only }: Fired): void {
  const permission = permissionOfEvent[event] ?? 'metadata'
  for (const installation of world.installations) {
    const { app, permissions, deleted, suspended_at } = installation
    const isActive = !deleted && suspended_at === null && covers(installation, repository)
    if (!isActive || !app.events.includes(event) || !mayDo(permissions, permission, 'read')) continue
    if (only !== undefined && app !== only) continue
    const { owner } = repository
    const organization = owner.type === 'Organization' ? { organization: { login: owner.login, id: owner.id } } : {}
    send(world, app, event, {
      ...payload,
      repository: repositoryShape(world, repository),
      ...organization,
      sender: accountShape(world, sender),
      installation: { id: installation.id, node_id: Buffer.from(`Installation:${installation.id}`).toString('base64') },
    })
  }
}

/** Sends one delivery to the App, or what the faults make of it. */
export function send(world: World, app: App, event: string, payload: Json): void {
  if (app.webhook_url === null) return
  const action = typeof payload.action === 'string' ? payload.action : null
  const guid = randomUUID()
  const fault = world.faults.deliver({ event, action, guid })
  // Larger payloads are not delivered.
  if (fault === 'lose' || Buffer.byteLength(JSON.stringify(payload)) > 25 * 1024 * 1024) return
  const delivery = record(world, { app, event, action, guid, payload, redelivery: false })
  const attempts = fault === 'double' ? 2 : 1
  if (fault === 'drop') Object.assign(delivery, { status: 'failed to connect to host' })
  else for (let count = 0; count < attempts; count += 1) schedule(world, delivery)
}

/** Sends the same event again, under the same GUID, as a delivery of its own. */
export function redeliver(world: World, former: Delivery): void {
  const { app, event, action, guid, payload } = former
  schedule(world, record(world, { app, event, action, guid, payload, redelivery: true }))
}

function record(
  world: World,
  given: Pick<Delivery, 'app' | 'event' | 'action' | 'guid' | 'payload' | 'redelivery'>,
): Delivery {
  const idOf = (member: string) => (given.payload[member] as { readonly id?: number } | undefined)?.id ?? null
  const { app, event, guid, payload } = given
  const body = JSON.stringify(payload)
  const delivery: Delivery = {
    ...given,
    id: world.nextId(),
    delivered_at: isoTime(world.now()),
    installation_id: idOf('installation'),
    repository_id: idOf('repository'),
    headers: {
      accept: '*/*',
      'content-type': 'application/json',
      'user-agent': 'GitHub-Hookshot/0f4e2d1',
      'x-github-delivery': guid,
      'x-github-event': event,
      'x-github-hook-id': String(app.id + 500_000),
      'x-github-hook-installation-target-id': String(app.id),
      'x-github-hook-installation-target-type': 'integration',
      ...(app.webhook_secret === null
        ? {}
        : {
            'x-hub-signature': `sha1=${signed('sha1', app.webhook_secret, body)}`,
            'x-hub-signature-256': `sha256=${signed('sha256', app.webhook_secret, body)}`,
          }),
    },
    duration: 0,
    status: 'pending',
    status_code: 0,
    response: null,
  }
  world.deliveries.push(delivery)
  return delivery
}

function signed(algorithm: string, secret: string, body: string): string {
  return createHmac(algorithm, secret).update(body).digest('hex')
}

function schedule(world: World, delivery: Delivery): void {
  const start = () => {
    const sent = attempt(world, delivery).finally(() => world.sending.delete(sent))
    world.sending.add(sent)
    return sent
  }
  if (world.faults.hold) world.held.push(start)
  else void start()
}

async function attempt(world: World, delivery: Delivery): Promise<void> {
  const { app, payload, headers } = delivery
  const start = performance.now()
  try {
    const signal = AbortSignal.timeout(world.faults.webhook_timeout_ms)
    const body = JSON.stringify(payload)
    const answer = await fetch(app.webhook_url ?? '', { method: 'POST', headers, body, signal, redirect: 'manual' })
    delivery.response = { headers: Object.fromEntries(answer.headers), payload: await answer.text() }
    delivery.status_code = answer.status
    delivery.status = answer.ok ? 'OK' : `Invalid HTTP Response: ${answer.status}`
  } catch (error) {
    delivery.status = (error as Error).name === 'TimeoutError' ? 'timed out' : 'failed to connect to host'
  }
  delivery.duration = Math.round(performance.now() - start) / 1000
}
