// The list of incidents, with moves of several of them: a page says what a move will touch before it is made.
import type { Incident } from '@svc/schemas'
import { PlatformError } from '../../errors.js'
import { type IncidentMove, transitions } from '../../incidents/commands/move-incident.js'
import { listPage } from '../lists/list-page.js'
import { type Listing, readRows } from '../lists/listing.js'
import { filterIn, paths } from '../paths.js'
import { badge, counted, id, joined, link, nothing, number, piece, severity, state, text, time } from '../views/html.js'
import { type Act, type Fields, field, type Shown, type Visit } from '../visit.js'

const severities = ['critical', 'high', 'medium', 'low']
const states = ['open', 'active', 'resolved', 'ignored']

export const incidents: Listing<Incident> = {
  place: 'incidents',
  title: 'Incidents',
  path: '/incidents',
  schema: 'incident-list',
  rows: 'incidents',
  endpoint: '/api/v1/incidents',
  filters: [
    { kind: 'choices', name: 'state', label: 'State', values: states },
    { kind: 'choices', name: 'severity', label: 'Severity', values: severities },
    { kind: 'choices', name: 'effect', label: 'Effect', values: ['executed', 'blocked', 'unknown'] },
    { kind: 'choice', name: 'mode', label: 'Mode', values: ['enforce', 'observe'] },
    { kind: 'text', name: 'q', label: 'Policy contains' },
    { kind: 'day', name: 'from', label: 'First seen from (UTC)' },
    { kind: 'day', name: 'to', label: 'First seen to (UTC)' },
  ],
  presets: [
    ['Open or in review', { state: 'open,active' }],
    ['Open, critical', { state: 'open', severity: 'critical' }],
    ['Executed anyway', { state: 'open,active', effect: 'executed' }],
  ],
  columns: [
    {
      head: 'Incident',
      cell: (incident, filter) => link(paths.incident(incident.id, filter), incident.policy_name),
    },
    {
      head: 'Severity',
      cell: ({ severity: value, mode }) =>
        joined([severity(value), mode === 'observe' ? badge('observed only') : nothing]),
    },
    { head: 'State', cell: (incident) => state(incident.state) },
    { head: 'Effect', cell: ({ effect }) => text(effect) },
    { head: 'Agent', cell: ({ agent_id }) => link(paths.agent(agent_id), shortId(agent_id)) },
    {
      head: 'Task',
      cell: ({ task_id, step }) => (task_id === null ? nothing : id(task_id, paths.task(task_id, { around: step }))),
    },
    { head: 'Count', cell: ({ occurrences }) => text(number(occurrences)), numeric: true },
    { head: 'Last seen', cell: ({ last_seen }) => time(last_seen) },
  ],
  empty: 'No policy was violated yet. Incidents appear here when a recorded step violates a policy.',
  bulk: {
    may: ({ api }) => api.may('post', '/api/v1/incidents/bulk'),
    value: (incident) => incident.id,
    label: ({ policy_name }) => policy_name,
    acts: [
      ['review', 'Start review…'],
      ['resolve', 'Resolve…'],
      ['ignore', 'Ignore…'],
    ],
  },
}

function shortId(agent_id: string): string {
  return agent_id.slice(0, 11)
}

/** The API moves at most this many at once. */
const maxMoved = 200

const verbs: Readonly<Record<string, string>> = { review: 'Start the review of', resolve: 'Resolve', ignore: 'Ignore' }

/** Shows the incidents that a move would touch, and those that it cannot. */
const confirm =
  (move: IncidentMove): Act =>
  async (visit, form) =>
    confirmation(visit, move, await selectedOf(visit, form))

async function confirmation(visit: Visit, move: IncidentMove, selected: readonly Incident[]): Promise<Shown> {
  const moved = selected.filter((one) => transitions[move].from.some((from) => from === one.state))
  if (moved.length === 0)
    throw new PlatformError(
      'INVALID',
      `none of the selected incidents can be moved: choose some that are ${transitions[move].from.join(' or ')}`,
    )
  const others = selected.length - moved.length
  const content = confirmView({
    question: `${verbs[move]} ${counted(moved.length, 'incident')}?`,
    others:
      others === 0
        ? ''
        : `${counted(others, 'other incident')} of the selection stay as they are: the move is not possible from their state.`,
    rows: moved.map((one) => ({
      id: one.id,
      policy: link(paths.incident(one.id), one.policy_name),
      severity: severity(one.severity),
      change: text(`${one.state} → ${transitions[move].to}`),
      task: one.task_id === null ? nothing : id(one.task_id),
    })),
    csrf: visit.csrf,
    move,
    label: `${verbs[move]} ${counted(moved.length, 'incident')}`,
    note_label: move === 'ignore' ? 'Why they are ignored (required)' : 'Note',
    note: field(visit.form, 'note'),
    back: visit.here,
  })
  return { title: 'Incidents', place: 'incidents', content: content.toHTML() }
}

const confirmView =
  piece(`<form class="card" method="post"><input type="hidden" name="csrf" value="{{csrf}}"><input type="hidden" name="move" value="{{move}}">
<div class="card-header"><h2 class="card-title">{{question}}</h2></div>
{{#if others}}<div class="card-body text-secondary">{{others}}</div>{{/if}}
<table class="table rows"><thead><tr><th>Policy</th><th>Severity</th><th>Change</th><th>Task</th></tr></thead><tbody>
{{#each rows}}<tr><td data-label="Policy"><input type="hidden" name="selected" value="{{id}}">{{policy}}</td><td data-label="Severity">{{severity}}</td><td data-label="Change">{{change}}</td><td data-label="Task">{{task}}</td></tr>
{{/each}}</tbody></table>
<div class="card-body"><label class="form-label" for="note">{{note_label}}</label>
<textarea class="form-control mb-2" id="note" name="note" rows="2" maxlength="1000">{{note}}</textarea>
<div class="btn-list"><button class="btn btn-primary" name="act" value="move">{{label}}</button><a class="btn" href="{{back}}">Cancel</a></div></div></form>
`)

/** The incidents whose boxes are ticked; without one, INVALID. */
async function selectedOf(visit: Visit, form: Fields): Promise<Incident[]> {
  if (form.all !== undefined) {
    const { rows } = await readRows(visit, incidents, filterIn(visit.query), { limit: String(maxMoved) })
    return [...rows]
  }
  const ids = [...new Set(form.selected ?? [])]
  if (ids.length === 0) throw new PlatformError('INVALID', 'no incident is selected: tick the boxes of some rows')
  if (ids.length > maxMoved)
    throw new PlatformError('INVALID', `${number(ids.length)} incidents are selected: select at most ${maxMoved}`)
  const found: Incident[] = []
  for (const one of ids) found.push(await visit.api.read('incident', `/api/v1/incidents/${encodeURIComponent(one)}`))
  return found
}

/** Makes the move that was confirmed; incidents that could not be moved are named with the reason. */
const move: Act = async (visit, form) => {
  const name = field(form, 'move')
  const note = field(form, 'note')
  if (name === 'ignore' && note.trim() === '')
    throw new PlatformError('INVALID', 'the note is missing: write why the incidents are ignored')
  const body = { action: name, ids: form.selected ?? [], ...(note.trim() !== '' && { note }) }
  const { results } = await visit.api.change('incident-bulk-answer', 'post', '/api/v1/incidents/bulk', body)
  const failed = results.filter(({ problem }) => problem !== undefined)
  if (failed.length === 0) return visit.here
  const content = resultView({
    moved: counted(results.length - failed.length, 'incident was', 'incidents were'),
    failed: failed.map(({ id: one, problem }) => ({ id: id(one, paths.incident(one)), why: problem?.detail ?? '' })),
    back: visit.here,
  })
  return { title: 'Incidents', place: 'incidents', content: content.toHTML() }
}

const resultView = piece(`<div class="card"><div class="card-body"><p>{{moved}} moved. These were not:</p>
<ul>{{#each failed}}<li>{{id}} <bdi>{{why}}</bdi></li>{{/each}}</ul><a class="btn" href="{{back}}">Back to the list</a></div></div>`)

export const incidentsPage = listPage(incidents, {
  review: confirm('review'),
  resolve: confirm('resolve'),
  ignore: confirm('ignore'),
  move,
})
