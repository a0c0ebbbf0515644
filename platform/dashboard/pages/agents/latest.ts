// The newest tasks and incidents of an agent.
import type { Agent } from '@svc/schemas'
import { paths } from '../../paths.js'
import { counted, type Html, id, link, number, piece, severity, state, text, time } from '../../views/html.js'
import { violated } from '../../views/violation.js'
import type { Visit } from '../../visit.js'

/** Rows of each table. */
const limit = '5'

/** Two sections of a page. */
export async function latestOf({ api: { read } }: Visit, { agent_id }: Agent): Promise<Html> {
  const [{ tasks, total }, { incidents, total: raised }] = await Promise.all([
    read('task-list', '/api/v1/logs/tasks', { agent_id, limit }),
    read('incident-list', '/api/v1/incidents', { agent_id, limit }),
  ])
  return sections({
    tasks: tasks.map(({ task_id, status, violations, last_ts }) => ({
      task: id(task_id, paths.task(task_id, { agent_id })),
      status: state(status),
      violations:
        violations === 0 ? text('') : link(paths.task(task_id, { agent_id, only: 'violating' }), number(violations)),
      last: time(last_ts),
    })),
    all_tasks: total === 0 ? '' : link(paths.tasks({ agent_id }), `${counted(total, 'task')} in all`),
    incidents: incidents.map((one) => ({
      policy: violated({
        policy_name: one.policy_name,
        reason: one.violation_details.reason,
        href: paths.incident(one.id, { agent_id }),
      }),
      severity: severity(one.severity),
      state: state(one.state),
      last: time(one.last_seen),
    })),
    all_incidents: raised === 0 ? '' : link(paths.incidents({ agent_id }), `${counted(raised, 'incident')} in all`),
  })
}

const sections = piece(`<section class="card"><div class="card-header"><h2 class="card-title">Newest tasks</h2></div>
{{#if tasks}}<table class="table rows"><thead><tr><th scope="col">Task</th><th scope="col">Status</th><th scope="col" class="num">Violations</th><th scope="col">Last step</th></tr></thead><tbody>
{{#each tasks}}<tr><td data-label="Task">{{task}}</td><td data-label="Status">{{status}}</td><td data-label="Violations" class="num">{{violations}}</td><td data-label="Last step">{{last}}</td></tr>
{{/each}}</tbody></table><div class="card-footer">{{all_tasks}}</div>{{else}}<div class="empty-state">No task was recorded yet. Tasks appear here with their first step.</div>{{/if}}</section>
<section class="card"><div class="card-header"><h2 class="card-title">Newest incidents</h2></div>
{{#if incidents}}<table class="table rows"><thead><tr><th scope="col">Incident</th><th scope="col">Severity</th><th scope="col">State</th><th scope="col">Last seen</th></tr></thead><tbody>
{{#each incidents}}<tr><td data-label="Incident">{{policy}}</td><td data-label="Severity">{{severity}}</td><td data-label="State">{{state}}</td><td data-label="Last seen">{{last}}</td></tr>
{{/each}}</tbody></table><div class="card-footer">{{all_incidents}}</div>{{else}}<div class="empty-state">No recorded step of this agent violated a policy.</div>{{/if}}</section>
`)
