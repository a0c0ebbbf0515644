// The audit trail: who changed what, and when.
import type { AuditEvent } from '@svc/schemas'
import { listPage } from '../lists/list-page.js'
import type { Listing } from '../lists/listing.js'
import { address, paths } from '../paths.js'
import { type Named, peopleOf } from '../people.js'
import { hash, id, joined, json, link, number, piece, text, time } from '../views/html.js'

export const events: Listing<AuditEvent> = {
  place: 'events',
  title: 'Audit trail',
  path: '/events',
  schema: 'event-list',
  rows: 'events',
  endpoint: '/api/v1/events',
  limit: 20,
  filters: [
    { kind: 'text', name: 'kind', label: 'Event or its beginning' },
    { kind: 'text', name: 'actor', label: 'Id of the actor' },
    { kind: 'text', name: 'subject', label: 'Id of the subject' },
    { kind: 'day', name: 'from', label: 'From (UTC)' },
    { kind: 'day', name: 'to', label: 'To (UTC)' },
  ],
  presets: [
    ['Incidents', { kind: 'incident.' }],
    ['Policies', { kind: 'policy.' }],
    ['Assignments', { kind: 'assignment.' }],
    ['Agents', { kind: 'agent.' }],
    ['Members', { kind: 'member.' }],
    ['API keys', { kind: 'api_key.' }],
    ['Reports', { kind: 'report.' }],
    ['Log', { kind: 'log.' }],
  ],
  columns: async (visit) => {
    const nameOf = await peopleOf(visit)
    return [
      { head: 'Time', cell: ({ at }) => time(at) },
      { head: 'Event', cell: ({ kind }, filter) => link(address('/events', { ...filter, kind }), kind) },
      {
        head: 'Actor',
        cell: ({ actor_kind, actor_id }, filter) =>
          link(address('/events', { ...filter, actor: actor_id }), nameOf(`${actor_kind}:${actor_id}`)),
      },
      {
        head: 'Subject',
        cell: (event) => unfolding({ subject: subjectOf(event, nameOf), details: detailsOf(event) }),
      },
    ]
  },
  empty: 'No event was recorded yet. Every change of the workspace, such as a new policy or member, appears here.',
}

/** The details unfold to the width of the column. */
const unfolding = piece('<div class="unfolding"><span>{{subject}}</span>{{details}}</div>')

/** The page of a subject, by its kind. */
const pages: Readonly<Record<string, (id: string) => string>> = {
  agent: paths.agent,
  task: paths.task,
  incident: paths.incident,
  policy: paths.policy,
  assignment: paths.assignment,
  repository: () => paths.manifests(),
  action: paths.action,
  report: paths.report,
  member: paths.member,
  person: paths.member,
  offer: () => paths.members(),
  api_key: () => paths.keys(),
  hold: () => paths.holds(),
  erasure: () => paths.erasures(),
  log: () => paths.log(),
  workspace: () => paths.settings(),
}

/** Events after which the subject has no page. */
const ends = new Set(['action.deleted', 'assignment.removed', 'member.left', 'member.removed', 'policy.deleted'])

function subjectOf({ kind, subject_kind, subject_id }: AuditEvent, nameOf: Named) {
  const page = kind === 'report.deleted' || ends.has(kind) ? undefined : pages[subject_kind]
  const isPerson = subject_kind === 'member' || subject_kind === 'person'
  const name = nameOf(`${isPerson ? 'person' : subject_kind}:${subject_id}`)
  const isNamed = isPerson && !name.toHTML().includes(`person:`)
  // A person who left has no page.
  const href = page === undefined || (isPerson && !isNamed) ? null : page(subject_id)
  const shown = isNamed ? (href === null ? name : link(href, name)) : id(subject_id, href)
  return joined([kindLabel({ kind: subject_kind.replaceAll('_', ' ') }), shown])
}

const kindLabel = piece('<span class="text-secondary">{{kind}}</span>')

/** Characters of the data of an event: a page of them must not exceed 150 kB with its files. Downloads have them whole. */
const maxData = 600

function detailsOf({ id: event_id, log_index, data, subject_id, kind }: AuditEvent) {
  return details({
    kind,
    data: Object.keys(data).length === 0 ? '' : json(data, maxData),
    index: text(number(log_index)),
    event: hash(event_id, 40),
    all: address('/events', { subject: subject_id }),
  })
}

const details = piece(`<details><summary>Details<span class="visually-hidden"> of {{kind}}</span></summary>{{data}}
<p class="mb-1">Entry {{index}} of the log, event {{event}}</p><a href="{{all}}">All events of this subject</a></details>`)

export const eventsPage = listPage(events)
