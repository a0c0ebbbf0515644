// The page of an incident. Its texts come from agents and people: the template escapes every value.

import { type Effect, effectWords, type Incident, type IncidentOccurrence } from '@svc/schemas'
import type { Listed } from '../../db/list.js'
import { type IncidentMove, transitions } from '../../incidents/commands/move-incident.js'
import { pageOf } from './page.js'

export const incidentView = pageOf(
  'Incident: {{incident.policy_name}}',
  `{{#if message}}<p class="message" role="alert">{{message}}</p>
{{/if}}<dl>
<dt>Severity</dt><dd>{{severity}}</dd>
<dt>State</dt><dd>{{incident.state}}</dd>
<dt>Effect</dt><dd>{{effect}}</dd>
<dt>Policy</dt><dd>{{incident.policy_id}}, rule <code>{{incident.rule_type}}</code></dd>
<dt>Agent</dt><dd>{{agent}}</dd>
{{#if task}}<dt>Task</dt><dd>{{task}}</dd>
{{/if}}<dt>First seen</dt><dd>{{first_seen}}</dd>
<dt>Last seen</dt><dd>{{last_seen}}</dd>
</dl>
<h2>Reason</h2>
<p class="message lines">{{reason}}</p>
{{#if remedy}}<h2>Remedy</h2>
<p class="message lines">{{remedy}}</p>
{{/if}}{{#if moves}}<form method="post" action="/incidents/{{incident.id}}">
<input type="hidden" name="csrf" value="{{csrf}}">
<label>{{note_label}} <input name="note" maxlength="1000" autocomplete="off" value="{{note}}"></label>
{{#each moves}}<button name="act" value="{{name}}"{{#unless @first}} class="quiet"{{/unless}}>{{label}}</button>
{{/each}}</form>
{{/if}}<h2>Occurrences</h2>
<table>
<thead><tr><th>No.</th><th>Time</th><th>Step</th><th>Effect</th></tr></thead>
<tbody>
{{#each occurrences}}<tr><td>{{number}}</td><td>{{at}}</td><td>{{step}}</td><td>{{effect}}</td></tr>
{{/each}}</tbody>
</table>
{{#if page}}<p>{{page}}{{#if next}} · <a href="/incidents/{{incident.id}}?after={{next}}">Later ones</a>{{/if}}{{#unless is_first}} · <a href="/incidents/{{incident.id}}">First ones</a>{{/unless}}</p>
{{/if}}<h2>History</h2>
<ul>
<li>{{first_seen}}: opened</li>
{{#each history}}<li>{{at}}: {{change}}, by {{by}}{{#if note}}<p class="message lines">{{note}}</p>{{/if}}</li>
{{/each}}</ul>
<p>Signed in as <strong>{{email}}</strong>. <a href="/account">Your account</a></p>`,
  'wide',
)

/** The page where there is no incident, or none that the person can read. */
export const noIncidentView = pageOf(
  'Incident',
  `<p class="message">{{message}}</p>
<p>If the incident belongs to another workspace of yours, switch to that workspace on the page of
<a href="/account">your account</a>, then open this link again.</p>
<p>Signed in as <strong>{{email}}</strong>.</p>`,
)

export const expiredFormView = pageOf(
  'Incident',
  `<p class="message">This form has expired, and nothing was changed.</p>
<p><a href="{{link}}">Open the incident again</a></p>`,
)

/** On one page. */
export const maxOccurrences = 50

export interface IncidentFacts {
  readonly incident: Incident
  /** A page of them, after the number `after`. */
  readonly occurrences: Listed<IncidentOccurrence>
  readonly after: number
  /** Null for an agent that is not stored. */
  readonly agent: { readonly agent_key: string; readonly name: string } | null
  /** Addresses of members, by id. */
  readonly addresses: ReadonlyMap<string, string>
}

/** The values of the template that show the incident. */
export function incidentValues({ incident, occurrences, after, agent, addresses }: IncidentFacts) {
  const { severity, mode, effects, task_id, step, violation_details, history } = incident
  const { rows, total } = occurrences
  const last = rows.at(-1)?.number ?? after
  return {
    incident,
    severity: mode === 'observe' ? `${severity}, observed only` : severity,
    effect: effectWords(effects).join(', '),
    agent: agentText(incident, agent),
    task: task_id === null ? '' : `${task_id}${step === null ? '' : `, step ${step}`}`,
    first_seen: timeText(incident.first_seen),
    last_seen: timeText(incident.last_seen),
    reason: violation_details.reason,
    remedy: violation_details.remedy ?? '',
    occurrences: rows.map(occurrenceView),
    page: total > rows.length ? `${after + 1} to ${last} of ${total}` : '',
    next: rows.length === maxOccurrences && last < total ? last : 0,
    is_first: after === 0,
    history: history.map((entry) => historyView(entry, addresses)),
  }
}

/** The values of the form with the moves that are possible from the state. */
export function formValues(state: Incident['state']) {
  const all = Object.entries(transitions) as [IncidentMove, (typeof transitions)[IncidentMove]][]
  const names = all.filter(([, { from }]) => from.some((one) => one === state)).map(([name]) => name)
  return {
    moves: names.map((name) => ({ name, label: labels[name] })),
    note_label: names.includes('ignore') ? 'Note, required to ignore the incident' : 'Note',
  }
}

const labels: Readonly<Record<IncidentMove, string>> = {
  review: 'Start review',
  resolve: 'Resolve',
  ignore: 'Ignore',
  reactivate: 'Reactivate',
}

const effectTexts: Readonly<Record<Effect, string>> = {
  executed: 'executed',
  blocked: 'stopped before it ran',
  unknown: 'not known',
}

function agentText({ agent_id }: Incident, agent: IncidentFacts['agent']): string {
  if (agent === null) return agent_id
  const { agent_key, name } = agent
  return name === agent_key || name === '' ? `${agent_key} (${agent_id})` : `${name}: ${agent_key} (${agent_id})`
}

function occurrenceView({ number, at, step, effect, approved_by_step, settled_by_step }: IncidentOccurrence) {
  const later =
    settled_by_step === null ? '' : `; approved at step ${approved_by_step}, done as step ${settled_by_step}`
  return { number, at: timeText(at), step: step === null ? '' : String(step), effect: effectTexts[effect] + later }
}

function historyView(entry: Incident['history'][number], addresses: IncidentFacts['addresses']) {
  const { at, by, from, to, note } = entry as Readonly<Record<'at' | 'by' | 'from' | 'to' | 'note', string | null>>
  const person = addresses.get((by ?? '').replace(/^person:/, ''))
  return {
    at: timeText(at ?? ''),
    change: from === to ? 'note' : `${from} → ${to}`,
    by: person ?? by,
    note: note ?? '',
  }
}

/** `2026-01-05 09:00:00 UTC`. */
function timeText(time: string): string {
  return time.replace(/^(\S{10})T(\S{8}).*$/, '$1 $2 UTC')
}
