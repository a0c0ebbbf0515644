// Moves of several incidents: a page says what a move will touch before it is made.

import type { Incident } from '@svc/schemas'
import { PlatformError } from '../../../errors.js'
import type { Query } from '../../../http/query.js'
import { type IncidentMove, transitions } from '../../../incidents/commands/move-incident.js'
import { agentLink } from '../../agents.js'
import type { DashboardPage } from '../../page.js'
import { api, filterIn, paths } from '../../paths.js'
import { counted, id, nothing, number, piece, severity, stateText, text } from '../../views/html.js'
import { violated } from '../../views/violation.js'
import { type Act, type Fields, field, type Shown, type Visit } from '../../visit.js'

/** The API moves at most this many at once. */
const maxMoved = 200

const verbs: Readonly<Record<string, string>> = { review: 'Start the review of', resolve: 'Resolve', ignore: 'Ignore' }

/** Shows the incidents that a move would touch, and those that it cannot. */
const confirm =
  (move: IncidentMove): Act =>
  async (visit, form) => {
    const selected = await selectedOf(visit, form)
    const moved = selected.filter((one) => transitions[move].from.some((from) => from === one.state))
    if (moved.length === 0)
      throw new PlatformError(
        'INVALID',
        `none of the selected incidents can be moved: choose some that are ${transitions[move].from.join(' or ')}`,
      )
    const others = selected.length - moved.length
    const about =
      others === 0
        ? ''
        : `${counted(others, 'other incident')} of the selection stay as they are: the move is not possible from their state.`
    return confirmation(visit, move, { moved, about, back: visit.here })
  }

interface Question {
  readonly moved: readonly Incident[]
  /** What the person should know of the selection. */
  readonly about: string
  /** The address that a cancelled move leads to. */
  readonly back: string
}

function confirmation({ csrf, form }: Visit, move: IncidentMove, { moved, about, back }: Question): Shown {
  const what = `${verbs[move]} ${counted(moved.length, 'incident')}`
  const content = confirmView({
    question: `${what}?`,
    about,
    rows: moved.map((one) => ({
      id: one.id,
      incident: violated({
        policy_name: one.policy_name,
        reason: one.violation_details.reason,
        href: paths.incident(one.id),
      }),
      severity: severity(one.severity),
      agent: agentLink(one),
      change: text(`${stateText(one.state)} → ${stateText(transitions[move].to)}`),
      task: one.task_id === null ? nothing : id(one.task_id),
    })),
    csrf,
    move,
    label: what,
    needs_note: move === 'ignore',
    note_label: move === 'ignore' ? 'Why they are ignored (required)' : 'Note',
    note: field(form, 'note'),
    back,
  })
  return { title: 'Incidents', place: 'incidents', content: content.toHTML() }
}

const confirmView =
  piece(`<form class="card" method="post"><input type="hidden" name="csrf" value="{{csrf}}"><input type="hidden" name="move" value="{{move}}">
<div class="card-header"><h2 class="card-title">{{question}}</h2></div>
{{#if about}}<div class="card-body text-secondary"><bdi>{{about}}</bdi></div>{{/if}}
<table class="table rows"><thead><tr><th>Incident</th><th>Severity</th><th>Agent</th><th>Change</th><th>Task</th></tr></thead><tbody>
{{#each rows}}<tr><td data-label="Incident">{{incident}}<input type="hidden" name="selected" value="{{id}}"></td><td data-label="Severity">{{severity}}</td><td data-label="Agent">{{agent}}</td><td data-label="Change">{{change}}</td><td data-label="Task">{{task}}</td></tr>
{{/each}}</tbody></table>
<div class="card-body"><label class="form-label" for="note">{{note_label}}</label>
<textarea class="form-control mb-2" id="note" name="note" rows="2" maxlength="1000"{{#if needs_note}} required{{/if}}>{{note}}</textarea>
<div class="btn-list"><button class="btn btn-primary" name="act" value="move">{{label}}</button><a class="btn" href="{{back}}">Cancel</a></div></div></form>
`)

/** The incidents whose boxes are ticked; without one, INVALID. */
async function selectedOf({ api: { read } }: Visit, form: Fields): Promise<Incident[]> {
  const ids = [...new Set(form.selected ?? [])]
  if (ids.length === 0) throw new PlatformError('INVALID', 'no incident is selected: tick the boxes of some rows')
  if (ids.length > maxMoved)
    throw new PlatformError('INVALID', `${number(ids.length)} incidents are selected: select at most ${maxMoved}`)
  const found: Incident[] = []
  for (const one of ids) found.push(await read('incident', api`/api/v1/incidents/${one}`))
  return found
}

/** Makes the move that was confirmed; incidents that could not be moved are named with the reason. */
const move =
  (nextOf: (visit: Visit) => string): Act =>
  async (visit, form) => {
    const name = field(form, 'move')
    const note = field(form, 'note')
    if (name === 'ignore' && note.trim() === '')
      throw new PlatformError('INVALID', 'the note is missing: write why the incidents are ignored')
    const body = { action: name, ids: form.selected ?? [], ...(note.trim() !== '' && { note }) }
    const { results } = await visit.api.change('incident-bulk-answer', 'post', '/api/v1/incidents/bulk', body)
    const failed = results.filter(({ problem }) => problem !== undefined)
    if (failed.length === 0) return nextOf(visit)
    const content = resultView({
      moved: counted(results.length - failed.length, 'incident was', 'incidents were'),
      failed: failed.map(({ id: one, problem }) => ({ id: id(one, paths.incident(one)), why: problem?.detail ?? '' })),
      back: nextOf(visit),
    })
    return { title: 'Incidents', place: 'incidents', content: content.toHTML() }
  }

const resultView = piece(`<div class="card"><div class="card-body"><p>{{moved}} moved. These were not:</p>
<ul>{{#each failed}}<li>{{id}} <bdi>{{why}}</bdi></li>{{/each}}</ul><a class="btn" href="{{back}}">Back to the list</a></div></div>`)

/** The acts of the list. */
export const bulkActs = {
  review: confirm('review'),
  resolve: confirm('resolve'),
  ignore: confirm('ignore'),
  move: move(({ here }) => here),
}

/** Asks before all open incidents that a filter selects are resolved, such as those of a group. */
async function showAll(visit: Visit): Promise<Shown> {
  const filter = filterIn(visit.query)
  const back = paths.incidents(filter)
  if (!visit.api.may('post', '/api/v1/incidents/bulk'))
    throw new PlatformError('FORBIDDEN', 'your role reads incidents: owners, admins and members resolve them')
  const asked = { state: 'open,active', order: 'severity', ...filter, limit: String(maxMoved) }
  const { incidents, total } = await visit.api.read('incident-list', '/api/v1/incidents', asked)
  const moved = incidents.filter(({ state }) => transitions.resolve.from.some((from) => from === state))
  if (moved.length > 0) {
    const rest =
      total > moved.length
        ? `These are the first ${number(moved.length)} of ${number(total)}: open this page again for the others.`
        : ''
    const about = [stepText(filter), rest].filter((sentence) => sentence !== '').join(' ')
    return confirmation(visit, 'resolve', { moved, about, back })
  }
  const content = noneView({ back })
  return { title: 'Incidents', place: 'incidents', content: content.toHTML() }
}

/** For a filter of one step. */
function stepText({ task_id, step }: Query): string {
  if (task_id === undefined || step === undefined) return ''
  return `These incidents were opened by step ${step} of the task ${task_id}.`
}

const noneView =
  piece(`<div class="card"><div class="empty-state"><p>No incident that this filter selects is open or in review.</p>
<a href="{{back}}">Show the incidents of this filter</a></div></div>`)

export const resolveAllPage: DashboardPage = {
  path: '/incidents/resolve',
  show: showAll,
  acts: { move: move(({ query }) => paths.incidents({ ...filterIn(query), state: undefined })) },
}
