// The deliveries of an action: their list on its page, and a page for each.

import { parseJson } from '@svc/proof'
import type { Action, Delivery } from '@svc/schemas'
import type { Listing } from '../../lists/listing.js'
import type { DashboardPage } from '../../page.js'
import { api, paths } from '../../paths.js'
import { badge, type Html, id, joined, json, link, number, piece, type Tone, text, time } from '../../views/html.js'
import { facts } from '../../views/pieces.js'
import type { Act, Shown, Visit } from '../../visit.js'
import { triggerLabel } from './words.js'

const tones: Readonly<Record<Delivery['state'], Tone>> = {
  pending: 'blue',
  delivered: 'green',
  dead: 'red',
  cancelled: 'secondary',
}
const stateLabels: Readonly<Record<Delivery['state'], string>> = {
  pending: 'pending',
  delivered: 'delivered',
  dead: 'given up',
  cancelled: 'cancelled',
}
const states = Object.entries(stateLabels)

/** The deliveries of the action of the address. */
export function deliveriesOf({ params: { id: action_id = '' } }: Pick<Visit, 'params'>): Listing<Delivery> {
  return {
    place: 'actions',
    title: 'Deliveries',
    path: paths.action(action_id),
    schema: 'delivery-list',
    rows: 'deliveries',
    endpoint: api`/api/v1/actions/${action_id}/deliveries`,
    limit: 20,
    filters: [],
    presets: states.map(([state, label]) => [label.charAt(0).toUpperCase() + label.slice(1), { state }] as const),
    columns: [
      {
        head: 'Created',
        cell: ({ id: delivery_id, created_at }) => link(paths.delivery(action_id, delivery_id), time(created_at)),
      },
      { head: 'Trigger', cell: ({ type }) => text(type) },
      { head: 'About', cell: subjectOf },
      { head: 'State', cell: deliveryState },
      { head: 'Attempts', cell: ({ attempts }) => text(number(attempts)), numeric: true },
      { head: 'Last answer', cell: lastAnswer },
    ],
    empty:
      'Nothing was delivered yet. The first delivery follows the next trigger; a test shows now if the receiver can be reached.',
  }
}

function deliveryState({ state }: Delivery): Html {
  return badge(stateLabels[state], tones[state])
}

/** The thing that a delivery is about, as a link to its page. */
function subjectOf({ subject_kind, subject_id }: Delivery): Html {
  const pages: Readonly<Record<string, string>> = { incident: paths.incident(subject_id), task: paths.task(subject_id) }
  return joined([
    text(subject_kind),
    id(subject_id, Object.hasOwn(pages, subject_kind) ? (pages[subject_kind] ?? null) : null),
  ])
}

function lastAnswer({ response_status, error, last_attempt_at }: Delivery): Html {
  if (last_attempt_at === null) return text('not sent yet')
  if (error !== null) return text(error)
  return text(response_status === null ? 'sent' : `status ${response_status}`)
}

/** The address of the delivery in the API. */
function deliveryPath({ params }: Pick<Visit, 'params'>): string {
  return api`/api/v1/actions/deliveries/${params.delivery_id ?? ''}`
}

async function show(visit: Visit): Promise<Shown> {
  const { read, may } = visit.api
  const [delivery, action] = await Promise.all([
    read('delivery', deliveryPath(visit)),
    read('action', api`/api/v1/actions/${visit.params.id ?? ''}`),
  ])
  const path = deliveryPath(visit)
  const can_send = ['delivered', 'dead'].includes(delivery.state) && may('post', `${path}/redeliver`)
  const content = view({
    facts: facts(factsOf(delivery, action)),
    error: delivery.error ?? '',
    body: bodyOf(delivery),
    can_send: can_send && action.enabled,
    must_enable: can_send && !action.enabled,
    csrf: visit.csrf,
  })
  return { title: `Delivery: ${triggerLabel(delivery.type)}`, place: 'actions', content: content.toHTML() }
}

const view = piece(`{{#if error}}<div class="alert alert-warning"><bdi>{{error}}</bdi></div>{{/if}}
<section class="card"><div class="card-body">{{facts}}</div>
{{#if can_send}}<form class="card-footer no-print" method="post"><input type="hidden" name="csrf" value="{{csrf}}"><button class="btn" name="act" value="redeliver">Deliver again</button> <span class="text-secondary">under the same id, so that the receiver can recognise it</span></form>{{/if}}{{#if must_enable}}<p class="card-footer mb-0">To deliver it again, enable the action first.</p>{{/if}}</section>
<section class="card"><div class="card-header"><h2 class="card-title">What is sent</h2></div><div class="card-body">{{body}}</div></section>
`)

function factsOf(delivery: Delivery, { id: action_id, name }: Action): (readonly [string, Html])[] {
  const { next_attempt_at, last_attempt_at, ended_at, attempts, created_at } = delivery
  return [
    ['Action', link(paths.action(action_id), name)],
    ['State', deliveryState(delivery)],
    ['About', subjectOf(delivery)],
    ['Created', time(created_at)],
    ['Attempts', text(number(attempts))],
    ...(last_attempt_at === null ? [] : [['Last attempt', time(last_attempt_at)] as const]),
    ...(delivery.response_status === null ? [] : [['Status of the receiver', text(delivery.response_status)] as const]),
    ...(next_attempt_at === null ? [] : [['Next attempt', time(next_attempt_at)] as const]),
    ...(ended_at === null ? [] : [['Ended', time(ended_at)] as const]),
    ['Delivery id', id(delivery.id)],
  ]
}

function bodyOf({ body = '' }: Delivery): Html {
  try {
    return json(parseJson(body))
  } catch {
    return text(body)
  }
}

const redeliver: Act = async (visit) => {
  await visit.api.change('delivery', 'post', `${deliveryPath(visit)}/redeliver`)
  return visit.path
}

export const deliveryPage: DashboardPage = {
  path: '/actions/:id/deliveries/:delivery_id',
  show,
  acts: { redeliver },
}
