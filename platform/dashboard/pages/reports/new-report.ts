// The form that makes a report.
import { agentsOf, nameOf } from '../../agents.js'
import type { DashboardPage } from '../../page.js'
import { address, paths } from '../../paths.js'
import { piece } from '../../views/html.js'
import { type Act, field, type Shown, type Visit } from '../../visit.js'
import { dayOf, formatTexts } from './report-texts.js'

async function show(visit: Visit): Promise<Shown> {
  const { api, query, form, now, csrf } = visit
  api.assertMay('post', '/api/v1/reports')
  const { listed } = await agentsOf(visit)
  const chosen = new Set([...(form.agent_ids ?? []), ...(query.agent_ids?.split(',') ?? [])])
  const choices = periods(now)
  const [first] = choices
  const typed = (name: 'from' | 'to') => field(form, name) || query[name] || first?.[name] || ''
  const picked = { from: typed('from'), to: typed('to') }
  const format = field(form, 'format') || query.format || 'pdf'
  const by = field(form, 'by') || query.by || 'received'
  const content = view({
    csrf,
    ...picked,
    choices: choices.map(({ label, from, to }) => ({
      label,
      href: address('/reports/new', { ...query, from, to }),
      here: from === picked.from && to === picked.to,
    })),
    formats: Object.entries(formatTexts).map(([value, label]) => ({ value, label, on: value === format })),
    occurred: by === 'occurred',
    agents: listed.map((agent) => ({
      id: agent.agent_id,
      name: nameOf(agent),
      on: chosen.has(agent.agent_id),
    })),
    open: chosen.size > 0,
    back: paths.reports(),
  })
  return { title: 'Make a report', place: 'reports', content: content.toHTML() }
}

const view =
  piece(`<form class="card narrow" method="post"><div class="card-body"><input type="hidden" name="csrf" value="{{csrf}}">
<fieldset class="mb-3"><legend class="h3">Period</legend>
<ul class="pills" aria-label="Ready periods">{{#each choices}}<li><a class="btn btn-sm{{#if here}} btn-primary{{/if}}" href="{{href}}"{{#if here}} aria-current="true"{{/if}}>{{label}}</a></li>{{/each}}</ul>
<div class="row g-2"><div class="col-sm-6"><label class="form-label" for="from">First day (UTC)</label>
<input class="form-control" id="from" name="from" type="date" value="{{from}}" required></div>
<div class="col-sm-6"><label class="form-label" for="to">Last day (UTC), included</label>
<input class="form-control" id="to" name="to" type="date" value="{{to}}" required></div></div>
<p class="form-hint">A period that includes today ends now.</p></fieldset>
<fieldset class="mb-3"><legend class="h3">Format</legend>
{{#each formats}}<label class="form-check form-check-inline"><input class="form-check-input" type="radio" name="format" value="{{value}}"{{#if on}} checked{{/if}}><span class="form-check-label">{{label}}</span></label>{{/each}}
<p class="form-hint">PDF is for people, with the OSCAL data attached. OSCAL assessment results are for programs of auditors.</p></fieldset>
<fieldset class="mb-3"><legend class="h3">Steps count by</legend>
<label class="form-check"><input class="form-check-input" type="radio" name="by" value="received"{{#unless occurred}} checked{{/unless}}><span class="form-check-label">the time at which the platform received them</span></label>
<label class="form-check"><input class="form-check-input" type="radio" name="by" value="occurred"{{#if occurred}} checked{{/if}}><span class="form-check-label">the time at which they occurred, as their sender states</span></label>
<p class="form-hint">Choose the second for runs that were imported later. The log proves the time of receipt.</p></fieldset>
{{#if agents}}<details class="mb-3"{{#if open}} open{{/if}}><summary class="h3">Limit the report to some agents</summary>
<fieldset><legend class="visually-hidden">Agents</legend>{{#each agents}}<label class="form-check"><input class="form-check-input" type="checkbox" name="agent_ids" value="{{id}}"{{#if on}} checked{{/if}}><span class="form-check-label"><bdi>{{name}}</bdi></span></label>{{/each}}</fieldset>
<p class="form-hint">Without a choice the report is of all agents.</p></details>{{/if}}
<div class="btn-list"><button class="btn btn-primary" name="act" value="make">Make the report</button><a class="btn" href="{{back}}">Cancel</a></div>
</div></form>
`)

interface Period {
  readonly label: string
  readonly from: string
  readonly to: string
}

/** Periods that reports often have; the first is preselected. */
export function periods(now: number): Period[] {
  const today = dayOf(now)
  const date = new Date(now)
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()]
  const quarter = month - (month % 3)
  const at = (...[y, m, d = 1]: [number, number, number?]) => dayOf(Date.UTC(y, m, d))
  return [
    { label: 'Last 30 days', from: at(year, month, date.getUTCDate() - 29), to: today },
    { label: 'This month', from: at(year, month), to: today },
    { label: 'Last month', from: at(year, month - 1), to: at(year, month, 0) },
    { label: 'This quarter', from: at(year, quarter), to: today },
    { label: 'Last quarter', from: at(year, quarter - 3), to: at(year, quarter, 0) },
    { label: 'This year', from: at(year, 0), to: today },
    { label: 'Last year', from: at(year - 1, 0), to: at(year, 0, 0) },
  ]
}

const make: Act = async ({ api }, form) => {
  const { id } = await api.change('report', 'post', '/api/v1/reports', {
    from: field(form, 'from'),
    to: field(form, 'to'),
    format: field(form, 'format'),
    by: field(form, 'by') || 'received',
    agent_ids: form.agent_ids ?? [],
  })
  return paths.report(id)
}

export const newReportPage: DashboardPage = { path: '/reports/new', show, acts: { make } }
