// Other open incidents of the same step, which one answer can resolve, and of the same task.
import type { Incident, IncidentList } from '@svc/schemas'
import { paths } from '../../paths.js'
import { counted, type Html, joined, link, nothing, number, piece, severity, state } from '../../views/html.js'
import { violatedText } from '../../views/violation.js'
import type { Visit } from '../../visit.js'

const maxShown = 5

export interface Others {
  /** A section with the others of the step and a link to those of the task; nothing without one. */
  readonly section: Html
  /** The others of the step that are open, as far as they are listed. */
  readonly of_step: readonly Incident[]
}

export async function othersOf(visit: Visit, incident: Incident): Promise<Others> {
  const { task_id, step } = incident
  if (task_id === null) return { section: nothing, of_step: [] }
  const [ofTask, ofStep] = await Promise.all([
    openOf(visit, { task_id }, 1),
    step === null ? null : openOf(visit, { task_id, step: String(step) }, maxShown + 1),
  ])
  const of_step = (ofStep?.incidents ?? []).filter(({ id }) => id !== incident.id).slice(0, maxShown)
  return { section: sectionOf(visit, { ...incident, task_id }, ofTask, ofStep, of_step), of_step }
}

function sectionOf(
  visit: Visit,
  incident: Incident & { readonly task_id: string },
  ofTask: IncidentList,
  ofStep: IncidentList | null,
  shown: readonly Incident[],
): Html {
  const { task_id, step } = incident
  const own = isOpen(incident) ? 1 : 0
  const inStep = ofStep === null ? 0 : ofStep.total - own
  const inTask = ofTask.total - own - inStep
  if (inStep + inTask <= 0) return nothing
  return view({
    heading:
      inStep === 0 ? '' : counted(inStep, 'other open incident of this step', 'other open incidents of this step'),
    incidents: shown.map((one) => ({
      name: link(paths.incident(one.id), violatedText(one.policy_name)),
      marks: joined([severity(one.severity), state(one.state)]),
    })),
    resolve: inStep === 0 || step === null ? nothing : resolveLink(visit, { task_id, step }, inStep + own),
    task: inTask <= 0 ? nothing : link(paths.open_incidents({ task_id }), taskText(inTask, inStep > 0)),
  })
}

function openOf({ api: { read } }: Visit, filter: Readonly<Record<string, string>>, limit: number) {
  const open = { ...filter, state: 'open,active', order: 'severity', limit: String(limit) }
  return read('incident-list', '/api/v1/incidents', open)
}

function isOpen({ state: now }: Incident): boolean {
  return now === 'open' || now === 'active'
}

/** For a person who may move incidents: leads to the page that names what it will resolve. */
function resolveLink({ api: { may } }: Visit, of: { readonly task_id: string; readonly step: number }, all: number) {
  if (!may('post', '/api/v1/incidents/bulk')) return nothing
  const label = all === 1 ? 'Resolve it…' : `Resolve all ${number(all)} of this step…`
  return button({ href: paths.resolve_all(of), label })
}

const button = piece('<a class="btn no-print" href="{{href}}">{{label}}</a>')

function taskText(others: number, isBesideStep: boolean): string {
  return isBesideStep
    ? `${number(others)} more of other steps of the task`
    : counted(others, 'other open incident of this task', 'other open incidents of this task')
}

const view = piece(`<section class="card"><div class="card-body">{{#if heading}}<h2 class="h3">{{heading}}</h2>
<ul>{{#each incidents}}<li>{{name}} {{marks}}</li>{{/each}}</ul>{{/if}}
<div class="bar mb-0">{{resolve}}{{task}}</div></div></section>
`)
