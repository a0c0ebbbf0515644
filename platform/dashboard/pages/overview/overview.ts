// The first page: what needs doing now, and how much happens. Every number leads to the list that it counts.

import { activityChart } from '@svc/report'
import type { Activity, Incident, Overview } from '@svc/schemas'
import { agentLink } from '../../agents.js'
import type { DashboardPage } from '../../page.js'
import { paths } from '../../paths.js'
import { counted, countedOrNone, link, number, piece, severity, state, time } from '../../views/html.js'
import { violated } from '../../views/violation.js'
import type { Shown, Visit } from '../../visit.js'
import { duties } from './duties.js'
import { firstRun, latestTask, showCommands } from './first-run.js'

const maxIncidents = 5

async function showOverview(visit: Visit, counts: Overview): Promise<Shown> {
  const { read } = visit.api
  const [cards, { incidents }, activity] = await Promise.all([
    duties(visit, counts),
    read('incident-list', '/api/v1/incidents', { limit: String(maxIncidents) }),
    read('activity', '/api/v1/activity'),
  ])
  const content = page({
    cards,
    incidents: incidents.map(incidentOf),
    all: paths.incidents(),
    groups: paths.groups(),
    ...activityOf(activity),
  })
  return { title: 'Overview', place: 'overview', content: content.toHTML() }
}

const page =
  piece(`<div id="live" hx-get="/" hx-trigger="every 15s" hx-select="#live" hx-target="#live" hx-swap="outerHTML">
<section aria-labelledby="doing"><h2 id="doing" class="h3">Needs attention</h2>{{cards}}</section>
<section class="card"><div class="card-header"><h2 class="card-title">Newest incidents</h2></div>
{{#if incidents}}<table class="table table-vcenter rows"><thead><tr><th scope="col">Incident</th><th scope="col">Severity</th><th scope="col">State</th><th scope="col">Agent</th><th scope="col">First seen</th></tr></thead><tbody>
{{#each incidents}}<tr><td data-label="Incident">{{policy}}</td><td data-label="Severity">{{severity}}</td><td data-label="State">{{state}}</td><td data-label="Agent">{{agent}}</td><td data-label="First seen">{{at}}</td></tr>
{{/each}}</tbody></table><div class="card-footer"><a href="{{all}}">All incidents</a> · <a href="{{groups}}">Groups of incidents</a></div>
{{else}}<div class="empty-state">No policy was violated yet. Incidents appear here when a recorded step violates a policy.</div>{{/if}}</section>
</div>
<section class="card"><div class="card-header"><h2 class="card-title">The last {{days}} days</h2></div><div class="card-body">
<p>{{steps}} recorded, {{violations}}. <span class="text-secondary">Days in UTC. Waived violations are not counted.</span></p>
<div class="chart" tabindex="0" role="region" aria-label="Chart of steps and violations by day">{{#if chart}}<img src="{{chart}}" width="{{size.width}}" height="{{size.height}}" alt="Steps and violations by day, as in the table below">{{else}}No step was recorded in this time.{{/if}}</div>
<details><summary>Show as a table</summary><table class="table table-sm"><thead><tr><th scope="col">Day</th><th scope="col" class="num">Steps</th><th scope="col" class="num">Violations</th></tr></thead><tbody>
{{#each rows}}<tr><td>{{day}}</td><td class="num">{{steps}}</td><td class="num">{{violations}}</td></tr>
{{/each}}</tbody></table></details></div></section>
`)

function incidentOf({ id, policy_name, agent_id, agent_name, first_seen, violation_details, ...incident }: Incident) {
  return {
    policy: violated({ policy_name, reason: violation_details.reason, href: paths.incident(id) }),
    severity: severity(incident.severity),
    state: state(incident.state),
    agent: agentLink({ agent_id, agent_name }),
    at: time(first_seen),
  }
}

const size = { width: 760, height: 190 }

function activityOf({ days, steps, violations }: Activity) {
  const [first] = days
  const tasksFrom = (query: Readonly<Record<string, string>>): string => paths.tasks({ from: first?.date, ...query })
  return {
    days: days.length,
    steps: link(tasksFrom({}), steps === 0 ? 'No steps' : counted(steps, 'step')),
    violations: link(tasksFrom({ violating: 'true' }), countedOrNone(violations, 'violation')),
    chart: steps === 0 ? '' : paths.chart(paths.overview),
    size,
    rows: days
      .filter((day) => day.steps > 0)
      .map((day) => ({
        day: link(paths.tasks({ from: day.date, to: day.date }), day.date),
        steps: number(day.steps),
        violations: number(day.violations),
      })),
  }
}

async function drawActivity({ api: { read } }: Visit): Promise<string> {
  const { days } = await read('activity', '/api/v1/activity')
  return activityChart({ interval: 'day', buckets: days.map(bucketOf) }, size)
}

function bucketOf({ date, steps, violations }: Activity['days'][number]) {
  return { from: date, steps, violations }
}

export const overviewPage: DashboardPage = {
  path: '/',
  show: async (visit) => {
    const counts = await visit.api.read('overview', '/api/v1/overview')
    if (counts.tasks === 0) return firstRun(visit)
    return visit.query.waiting === undefined ? showOverview(visit, counts) : latestTask(visit)
  },
  chart: drawActivity,
  acts: { key: showCommands },
}
