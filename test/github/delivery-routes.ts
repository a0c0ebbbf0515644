// The deliveries of an App's webhook, as the App may list them and ask for them again.
import { type Answer, type Call, notFound, type Route } from './api.js'
import { theApp } from './app-routes.js'
import { type Delivery, redeliver } from './webhooks.js'
import type { Json } from './world.js'

const keptMs = 3 * 86_400_000

export const deliveryRoutes: readonly Route[] = [
  { method: 'GET', path: /^\/app\/hook\/deliveries$/, run: list },
  {
    method: 'GET',
    path: /^\/app\/hook\/deliveries\/(\d+)$/,
    run: (call, id) => ({ status: 200, body: whole(find(call, id)) }),
  },
  {
    method: 'POST',
    path: /^\/app\/hook\/deliveries\/(\d+)\/attempts$/,
    run: (call, id) => {
      redeliver(call.world, find(call, id))
      return { status: 202, body: {} }
    },
  },
]

/** Those of the last three days, the latest first. */
function deliveriesOf(call: Call): Delivery[] {
  const app = theApp(call)
  const since = call.world.now() - keptMs
  const own = call.world.deliveries.filter((one) => one.app === app && Date.parse(one.delivered_at) >= since)
  return own.sort((a, b) => b.id - a.id)
}

function find(call: Call, id: string | undefined): Delivery {
  const found = deliveriesOf(call).find((one) => String(one.id) === id)
  if (found === undefined) throw notFound()
  return found
}

function list(call: Call): Answer {
  const { world, query, path } = call
  const size = Math.min(100, Math.max(1, Number(query.get('per_page') ?? 30) || 30))
  const cursor = /^v1_(\d+)$/.exec(query.get('cursor') ?? '')?.[1]
  const status = query.get('status')
  const isWanted = ({ status_code }: Delivery) => status === null || (status === 'success') === isSuccess(status_code)
  const rows = deliveriesOf(call).filter((one) => isWanted(one) && (cursor === undefined || one.id <= Number(cursor)))
  const next = new URLSearchParams(query)
  next.set('cursor', `v1_${rows[size]?.id}`)
  const headers = rows.length > size ? { link: `<${world.url}${path}?${next}>; rel="next"` } : {}
  return { status: 200, body: rows.slice(0, size).map(short), headers: headers as Record<string, string> }
}

const isSuccess = (code: number) => code >= 200 && code < 400

function short(one: Delivery): Json {
  const { id, guid, delivered_at, redelivery, duration, status, status_code, event, action } = one
  return {
    id,
    guid,
    delivered_at,
    redelivery,
    duration,
    status,
    status_code,
    event,
    action,
    installation_id: one.installation_id,
    repository_id: one.repository_id,
    throttled_at: null,
  }
}

function whole(one: Delivery): Json {
  const request = { headers: one.headers, payload: one.payload }
  return { ...short(one), url: one.app.webhook_url, request, response: one.response }
}
