// The page of an incident, which mails and Slack messages link to: why it was raised, what to do, its history, and its moves.

import { type Agent, effectWords, type Incident, type IncidentOccurrence } from '@svc/schemas'
import { PlatformError } from '../../../errors.js'
import { type IncidentMove, transitions } from '../../../incidents/commands/move-incident.js'
import { nameOf } from '../../agents.js'
import { neighboursOf } from '../../lists/neighbours.js'
import type { DashboardPage } from '../../page.js'
import { address, api, filterIn, paths } from '../../paths.js'
import { decidersOf, type Named } from '../../people.js'
import {
  badge,
  effectTexts,
  type Html,
  hash,
  id,
  joined,
  link,
  nothing,
  number,
  piece,
  severity,
  state,
  stateText,
  text,
  time,
} from '../../views/html.js'
import { facts } from '../../views/pieces.js'
import { reasonText, violatedText } from '../../views/violation.js'
import { type Act, field, type Shown, type Visit } from '../../visit.js'
import { evidenceOf } from './evidence.js'
import { incidents } from './list.js'
import { othersOf } from './others.js'

const maxOccurrences = 50

async function show(visit: Visit): Promise<Shown> {
  const { read, may } = visit.api
  const path = api`/api/v1/incidents/${visit.params.id ?? ''}`
  const { cursor } = visit.query
  const incident = await read('incident', path)
  const filter = filterIn(visit.query)
  const row = { id: incident.id, filter, one: 'incident' }
  const [occurrences, agent, nameOf, others, neighbours] = await Promise.all([
    read('incident-occurrence-list', `${path}/occurrences`, {
      limit: String(maxOccurrences),
      ...(cursor !== undefined && { cursor }),
    }),
    read('agent', api`/api/v1/agents/${incident.agent_id}`),
    decidersOf(visit),
    othersOf(visit, incident),
    neighboursOf(visit, incidents, row, (id) => paths.incident(id, filter)),
  ])
  const here = (at?: string) => address(visit.path, { ...filter, cursor: at })
  const content = view({
    ...factsOf(incident, agent),
    neighbours,
    evidence: await evidenceOf(visit, incident, others.of_step),
    others: others.section,
    ...formOf(visit, incident, may('post', `${path}/resolve`)),
    csrf: visit.csrf,
    occurrences: occurrences.occurrences.map((one) => occurrenceOf(one, incident)),
    count: countOf(occurrences),
    next: occurrences.next_cursor === null ? '' : here(occurrences.next_cursor),
    first: cursor === undefined ? '' : here(),
    history: [
      { at: time(incident.first_seen), change: text('opened'), by: nothing, note: '' },
      ...incident.history.map((entry) => historyOf(entry, nameOf)),
    ],
  })
  return { title: violatedText(incident.policy_name), place: 'incidents', content: content.toHTML() }
}

const view = piece(`{{neighbours}}
<div class="row"><div class="col-lg-8">
<section class="card"><div class="card-body">
<p class="mb-2">{{severity}} {{state}}{{#if observed}} {{observed}}{{/if}}</p>
<h2 class="h3">Reason</h2><p class="lines fs-3">{{reason}}</p>
{{#if ran}}<p><strong>{{not_stopped}}</strong> {{ran}}</p>{{/if}}
{{#if remedy}}<h2 class="h3">What would make the step right</h2><p class="lines">{{remedy}}</p>{{/if}}
{{#if unlogged}}<p>{{unlogged}}</p>{{/if}}
{{#if task_href}}<p class="mb-0 btn-list"><a class="btn btn-primary" href="{{task_href}}">Show the steps of the task</a>{{#if verify_href}}<a class="btn" href="{{verify_href}}" hx-get="{{verify_href}}" hx-select="#verification" hx-target="#verified">Verify its record</a>{{/if}}</p>{{/if}}
</div></section>
<div id="verified"></div>
{{others}}{{evidence}}{{#if moves}}<section class="card no-print"><form class="card-body" method="post"><input type="hidden" name="csrf" value="{{csrf}}">
<label class="form-label" for="note">{{note_label}}</label>
<textarea class="form-control mb-2" id="note" name="note" rows="2" maxlength="1000">{{note}}</textarea>
<div class="btn-list">{{#each moves}}<button class="btn{{#if main}} btn-primary{{/if}}" name="act" value="{{name}}">{{label}}</button>{{/each}}</div>
<p class="text-secondary small mb-0 mt-2">Owners, admins and members of the workspace can do this; an auditor reads.</p></form></section>
{{else}}<p class="text-secondary no-print">Your role reads incidents. Owners, admins and members of the workspace can answer this one.</p>
{{/if}}<section class="card"><div class="card-header"><h2 class="card-title">Occurrences</h2></div>
<table class="table rows"><thead><tr><th>No.</th><th>Time</th><th>Step</th><th>Effect</th></tr></thead><tbody>
{{#each occurrences}}<tr><td data-label="No.">{{number}}</td><td data-label="Time">{{at}}</td><td data-label="Step">{{step}}</td><td data-label="Effect">{{effect}}</td></tr>
{{/each}}</tbody></table>
<div class="card-footer bar"><span>{{count}}</span>{{#if first}}<a class="btn btn-sm" href="{{first}}">First</a>{{/if}}{{#if next}}<a class="btn btn-sm" href="{{next}}">Next</a>{{/if}}</div></section>
</div><div class="col-lg-4">
<section class="card"><div class="card-body">{{facts}}</div></section>
<section class="card" id="history"><div class="card-header"><h2 class="card-title">History</h2></div>
<ul class="list-group list-group-flush">{{#each history}}<li class="list-group-item">{{change}} {{by}}<div class="text-secondary small">{{at}}</div>
{{#if note}}<p class="lines mb-0"><bdi>{{note}}</bdi></p>{{/if}}</li>{{/each}}</ul></section>
</div></div>
`)

/** Of a step that was not recorded, such as one that an engine stopped. */
const unlogged = 'An engine reported this violation; the log has no record of its step.'

/** An incident can count steps that ran and steps that did not. */
function notStopped({ effects: { executed }, occurrences }: Incident): string {
  return executed === occurrences ? 'It was not stopped.' : `${number(executed)} of ${number(occurrences)} ran.`
}

/** Why a step that a policy forbids ran, as far as the platform knows. */
function ranText({ effects, mode, scope, severity: level }: Incident, { engine, agent_id }: Agent): Html {
  if (effects.executed === 0) return nothing
  if (scope !== 'step_execution')
    return text('The policy is evaluated when it is too late to stop a step: it only reports.')
  if (mode === 'observe') return text('The policy is only observed: it reports and stops nothing.')
  if (level !== 'critical') return text('Only critical policies stop a step; this one reports.')
  const about = link(paths.agent(agent_id), 'What to do')
  return engine === undefined || engine.state === 'no_engine'
    ? joined([
        text(
          'The policy forbids it, but no engine has reported for this agent: as far as the platform knows, nothing checks its steps before they run. A running engine blocks such a step.',
        ),
        about,
      ])
    : joined([text('An engine has reported for this agent; it did not stop this step, or was not asked.'), about])
}

function factsOf(incident: Incident, agent: Agent) {
  const { agent_id, task_id, step, policy_id, policy_name, rule_type, manifest_id, violation_details, mode } = incident
  const { agent_key } = agent
  const known = [
    ['Effect', text(effectWords(incident.effects).join(', '))],
    ['Policy', link(paths.policy(policy_id), policy_name)],
    ['Rule', text(rule_type)],
    ...(manifest_id === null ? [] : [['Manifest', link(paths.policies({ manifest_id }), manifest_id)] as const]),
    ['Agent', joined([link(paths.agent(agent_id), nameOf(agent)), id(agent_key)])],
    ...(task_id === null ? [] : [['Task', id(task_id, paths.task(task_id, { around: step }))] as const]),
    ...(step === null ? [] : [['Step', text(step)] as const]),
    ['First recorded', time(incident.first_seen)],
    ['Last recorded', time(incident.last_seen)],
    ['Incident', id(incident.id)],
    ['Entry', hash(incident.log_id, 20)],
  ] as const
  return {
    severity: severity(incident.severity),
    state: state(incident.state),
    observed: mode === 'observe' ? badge('observed only') : nothing,
    reason: reasonText(violation_details.reason),
    remedy: violation_details.remedy === null ? '' : reasonText(violation_details.remedy),
    task_href:
      task_id === null ? '' : `${paths.task(task_id, { around: step })}${step === null ? '' : `#step-${step}`}`,
    verify_href:
      task_id === null || incident.log_id === null ? '' : `${paths.task(task_id, { verify: '1' })}#verification`,
    ran: ranText(incident, agent),
    not_stopped: notStopped(incident),
    unlogged: task_id !== null && incident.log_id === null ? unlogged : '',
    facts: facts(known, 'narrow'),
  }
}

/** The moves that are possible from the state, for a person who may make them. */
function formOf({ form }: Visit, incident: Incident, isAllowed: boolean) {
  const names = moveNames.filter((move) => transitions[move].from.some((one) => one === incident.state))
  const note_label = names.includes('ignore')
    ? 'Note, kept in the history: optional, but required for Ignore'
    : 'Note, kept in the history'
  const moves = [
    ...names.map((name) => ({ name: name as string, label: labels[name], main: name === 'resolve' })),
    { name: 'note', label: 'Add the note only', main: false },
  ]
  return { moves: isAllowed ? moves : [], note_label, note: field(form, 'note') }
}

const moveNames = Object.keys(transitions) as IncidentMove[]
const labels: Readonly<Record<IncidentMove, string>> = {
  review: 'Start review',
  resolve: 'Resolve',
  ignore: 'Ignore',
  reactivate: 'Reactivate',
}

function occurrenceOf(
  { number: no, at, step, effect, approved_by_step, settled_by_step }: IncidentOccurrence,
  { task_id }: Incident,
) {
  const later =
    settled_by_step === null ? '' : `; approved at step ${approved_by_step}, done as step ${settled_by_step}`
  const shown = step === null || task_id === null ? text(step) : link(paths.task(task_id, { around: step }), step)
  return { number: no, at: time(at), step: shown, effect: `${effectTexts[effect]}${later}` }
}

function historyOf(entry: Incident['history'][number], nameOf: Named) {
  const { at, by, from, to, note } = entry as Readonly<Record<'at' | 'by' | 'from' | 'to' | 'note', string | null>>
  return {
    at: time(at),
    change: text(from === to ? 'note' : `${stateText(from ?? '')} → ${stateText(to ?? '')}`),
    by: joined([text('by'), nameOf(by)]),
    note: note ?? '',
  }
}

function countOf({
  occurrences,
  total,
}: {
  readonly occurrences: readonly IncidentOccurrence[]
  readonly total: number
}): string {
  return `${number(occurrences[0]?.number ?? 0)} to ${number(occurrences.at(-1)?.number ?? 0)} of ${number(total)}`
}

/** A move of the form, as the API makes it. */
const move =
  (name: IncidentMove): Act =>
  async ({ api: { change }, here, params }, form) => {
    const note = field(form, 'note')
    if (name === 'ignore' && note.trim() === '')
      throw new PlatformError('INVALID', 'the note is missing: write why the incident is ignored')
    await change('incident', 'post', api`/api/v1/incidents/${params.id ?? ''}/${name}`, { note })
    return afterwards(here)
  }

/** The page at its history, where the move and its note are. */
function afterwards(here: string): string {
  return `${here}#history`
}

const addNote: Act = async ({ api: { change }, here, params }, form) => {
  await change('incident', 'post', api`/api/v1/incidents/${params.id ?? ''}/notes`, { note: field(form, 'note') })
  return afterwards(here)
}

export const incidentPage: DashboardPage = {
  path: '/incidents/:id',
  show,
  acts: { ...Object.fromEntries(moveNames.map((name) => [name, move(name)])), note: addNote },
}
