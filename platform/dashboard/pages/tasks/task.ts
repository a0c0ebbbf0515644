// The page of a task: what the agent did, where it went wrong, which policy says so, what would have made it right, and whether the
// record is genuine.

import type { LoggedViolation, TaskStep, TaskSummary, TaskTimeline } from '@svc/schemas'
import { PlatformError } from '../../../errors.js'
import type { Query } from '../../../http/query.js'
import { agentLink } from '../../agents.js'
import { neighboursOf } from '../../lists/neighbours.js'
import type { DashboardPage } from '../../page.js'
import { address, api, paths } from '../../paths.js'
import {
  badge,
  counted,
  duration,
  type Html,
  id,
  joined,
  link,
  nothing,
  number,
  piece,
  state,
  text,
  time,
} from '../../views/html.js'
import { facts } from '../../views/pieces.js'
import { reasonText } from '../../views/violation.js'
import type { Shown, Visit } from '../../visit.js'
import { approvalSummary } from './approvals.js'
import { tasks } from './list.js'
import { timeline, type View, verdictOf, views } from './timeline.js'
import { evidenceOf, evidenceView, verificationView } from './verification.js'

/** Parameters of the page itself; the others are the filter of the list that it was opened from. */
const own = ['view', 'only', 'around', 'cursor', 'verify'] as const
type Own = Partial<Record<(typeof own)[number], string | undefined>>

/** The steps that the summary names. */
const maxNamed = 3

async function show(visit: Visit): Promise<Shown> {
  const { api: platform, params, query } = visit
  const task_id = params.task_id ?? ''
  const path = api`/api/v1/tasks/${task_id}/steps`
  const found = await platform.read('task-timeline', path, pageOf(query))
  const [violating, gates, signed, around] = await Promise.all([
    found.violating === 0 ? [] : violatingSteps(visit, path),
    platform.read('task-timeline', path, { kind: 'gate', approvals: 'true', limit: String(maxNamed) }),
    signedSize(visit),
    neighbours(visit, task_id),
  ])
  const view = viewOf(query)
  const here = (values: Own) => address(visit.path, { ...query, verify: undefined, ...values })
  const stepAt = (step: number) => `${here({ around: String(step), cursor: undefined, only: undefined })}#step-${step}`
  const evidence = evidenceOf(visit, found, signed)
  const content = page({
    summary: summaryOf(found, violating, stepAt),
    approvals: approvalSummary(gates.steps, gates.total, stepAt, here({ only: 'gates', around: undefined })),
    facts: factsOf(found),
    neighbours: around,
    verification:
      query.verify === undefined
        ? nothing
        : verificationView(await platform.read('verification', api`/api/v1/tasks/${task_id}/verify`)),
    evidence: evidence === null ? nothing : evidenceView(evidence),
    verify: here({ verify: '1' }),
    tabs: tabsOf(query, view, found.violating, here),
    steps:
      found.steps.length === 0
        ? none({})
        : timeline(found.steps, { view, marked: query.around, signed, hrefOf: stepAt, evidence: evidence?.href ?? '' }),
    pages: pagesOf(found, query, here),
    late: lateText(found.steps),
    live: found.task.status === 'running' && found.next_cursor === null ? here({}) : '',
  })
  return { title: `Task ${task_id}`, place: 'tasks', content: content.toHTML() }
}

const page = piece(`{{neighbours}}
<div class="row"><div class="col-xl-9">
{{summary}}{{approvals}}
<section id="verification" class="card"><div class="card-body"><div class="bar mb-0"><div class="grow"><h2 class="card-title mb-1">Is the record genuine?</h2>
<span class="text-secondary">Reads every entry of the task again and recomputes its chain of hashes.</span></div>
<a class="btn" href="{{verify}}#verification" hx-get="{{verify}}" hx-select="#verification" hx-target="#verification" hx-swap="outerHTML">Verify now</a></div>{{verification}}{{evidence}}</div></section>
<section class="card" id="live"{{#if live}} hx-get="{{live}}" hx-trigger="every 5s" hx-select="#live" hx-target="#live" hx-swap="outerHTML"{{/if}}>
<div class="card-header bar mb-0"><h2 class="card-title grow">Steps</h2>{{tabs}}</div>
{{#if late}}<div class="card-body py-2 text-secondary">{{late}}</div>{{/if}}{{steps}}
<div class="card-footer bar">{{pages}}</div></section>
</div><div class="col-xl-3"><section class="card"><div class="card-body">{{facts}}</div></section></div></div>
`)

/** Steps that came long after the times that they claim: what policies said of them is of a later time. */
function lateText(steps: readonly TaskStep[]): string {
  const delays = steps.map(({ timestamp, received_at }) => Date.parse(received_at) - Date.parse(timestamp))
  const hours = Math.max(0, ...delays.filter((delay) => delay > 0)) / 3_600_000
  if (hours < 1) return ''
  const late = hours < 48 ? counted(Math.round(hours), 'hour') : counted(Math.round(hours / 24), 'day')
  return `Steps were received up to ${late} after the times that their sender claims. Policies were evaluated when they were received.`
}

const none = piece('<div class="empty-state">No step matches this filter.</div>')

function pageOf({ view, only, around, cursor }: Query): Query {
  return {
    limit: view === 'compact' || view === undefined ? '100' : '50',
    approvals: 'true',
    ...(only === 'violating' && { violating: 'true' }),
    ...(only === 'tools' && { kind: 'tool' }),
    ...(only === 'gates' && { kind: 'gate' }),
    ...(cursor !== undefined ? { cursor } : around !== undefined && { around }),
  }
}

function viewOf({ view }: Query): View {
  return views.find((one) => one === view) ?? 'compact'
}

/** Log indexes below it are in the last signed tree; 0 before the first checkpoint. */
async function signedSize({ api: { read } }: Visit): Promise<number> {
  try {
    return (await read('log-checkpoint', '/api/v1/log/checkpoint')).size
  } catch (error) {
    if (error instanceof PlatformError && error.code === 'NOT_FOUND') return 0
    throw error
  }
}

async function violatingSteps({ api: { read } }: Visit, path: string): Promise<readonly TaskStep[]> {
  return (await read('task-timeline', path, { violating: 'true', limit: String(maxNamed) })).steps
}

/** The answer in ten seconds: how many steps violate policies, and the first of them with reason and remedy. */
function summaryOf(
  { violating, task }: TaskTimeline,
  steps: readonly TaskStep[],
  hrefOf: (step: number) => string,
): Html {
  if (violating === 0) return quiet({ steps: counted(task.step_count, 'recorded step') })
  return summary({
    heading: headingOf(violating, task.step_count, steps),
    first: violating > steps.length ? `The first ${steps.length}:` : '',
    steps: steps.map((step) => {
      const [violation, ...others] = step.violations.toSorted((a, b) => rankOf(a.severity) - rankOf(b.severity))
      return {
        step: link(hrefOf(step.step), `Step ${step.step}: ${step.step_name ?? step.step_type}`),
        verdict: verdictOf(step),
        policy: violation === undefined ? nothing : link(paths.policy(violation.policy_id), violation.name),
        reason: reasonText(violation?.violation_details.reason ?? ''),
        remedy: violation?.violation_details.remedy ? reasonText(violation.violation_details.remedy) : '',
        more:
          others.length === 0
            ? nothing
            : joined([
                text('and'),
                joined(
                  others.map(({ policy_id, name }) => link(paths.policy(policy_id), name)),
                  ', ',
                ),
              ]),
      }
    }),
  })
}

/** The violations are counted where all violating steps are known. */
function headingOf(violating: number, all: number, steps: readonly TaskStep[]): string {
  const found = steps.reduce((sum, { violations }) => sum + violations.length, 0)
  const policies = violating === steps.length && found > violating ? `policies ${number(found)} times` : 'a policy'
  return `${counted(violating, 'step')} of ${number(all)} ${violating === 1 ? 'violates' : 'violate'} ${policies}`
}

/** The most severe first. */
function rankOf(severity: LoggedViolation['severity']): number {
  return ['critical', 'high', 'medium', 'low'].indexOf(severity)
}

const quiet = piece(
  `<section class="card"><div class="card-body">None of the {{steps}} violates a policy that was in force when it was logged.</div></section>`,
)

const summary = piece(`<section class="card"><div class="card-body"><h2 class="h3">{{heading}}</h2>
{{#if first}}<p class="text-secondary">{{first}}</p>{{/if}}
{{#each steps}}<div class="finding"><div>{{step}} {{verdict}}</div><p class="lines mb-0">{{reason}}</p>
{{#if remedy}}<p class="lines mb-0"><strong>What would make it right:</strong> {{remedy}}</p>{{/if}}
<div class="small">Violated: {{policy}} {{more}}</div></div>{{/each}}</div></section>`)

function factsOf({ task, violating }: TaskTimeline) {
  const { task_id, agent_id, agent_name, environment, status, unfinished, step_count, first_ts, last_ts } = task
  return facts(
    [
      ['Status', joined([state(status), unfinished ? badge('no end within the time limit', 'yellow') : nothing])],
      ['Agent', agentLink({ agent_id, agent_name })],
      ['Environment', text(environment)],
      ['Steps', text(number(step_count))],
      ['Violating', text(number(violating))],
      ['Incidents', link(paths.incidents({ task_id }), 'of this task')],
      ['First step', time(first_ts)],
      ['Last step', time(last_ts)],
      ['Duration', text(durationOf(task))],
      ['Task', id(task_id)],
      ['Chain', link(api`/api/v1/tasks/${task_id}/chain`, 'as JSON')],
    ],
    'narrow',
  )
}

/** Between the times that the sender claims for the first and the last step. */
function durationOf({ first_ts, last_ts }: TaskSummary): string {
  const seconds = Math.round((Date.parse(last_ts) - Date.parse(first_ts)) / 1000)
  return seconds >= 0 ? duration(seconds) : ''
}

/** Links to the tasks before and after this one in the list that it was opened from. */
function neighbours(visit: Visit, task_id: string): Promise<Html> {
  const { query } = visit
  const filter = Object.fromEntries(Object.entries(query).filter(([name]) => !own.some((one) => one === name)))
  const kept = { ...filter, view: query.view, only: query.only }
  return neighboursOf(visit, tasks, { id: task_id, filter, one: 'task' }, (id) => paths.task(id, kept))
}

function tabsOf({ only }: Query, view: View, violating: number, here: (values: Own) => string): Html {
  const tab = (label: string, on: boolean, values: Own) => ({
    label,
    on,
    href: here({ ...values, cursor: undefined, around: undefined }),
  })
  const shown = [
    tab('All', only === undefined, { only: undefined }),
    tab(`Violations only (${number(violating)})`, only === 'violating', { only: 'violating' }),
    tab('Tools only', only === 'tools', { only: 'tools' }),
    tab('Approvals and checks', only === 'gates', { only: 'gates' }),
  ]
  const ways = views.map((one) => tab(labels[one], view === one, { view: one }))
  return tabs({
    groups: [
      { name: 'Steps that are shown', tabs: shown },
      { name: 'How much is shown', tabs: ways },
    ],
  })
}

const labels: Readonly<Record<View, string>> = { compact: 'Compact', full: 'Full', json: 'JSON' }

const tabs = piece(`{{#each groups}}<div class="btn-group btn-group-sm no-print" role="group" aria-label="{{name}}">
{{#each tabs}}<a class="btn{{#if on}} active{{/if}}" href="{{href}}"{{#if on}} aria-current="true"{{/if}}>{{label}}</a>{{/each}}</div>{{/each}}`)

function pagesOf(
  { steps, total, previous_cursor, next_cursor }: TaskTimeline,
  { only }: Query,
  here: (values: Own) => string,
): Html {
  const emptyCount = only === undefined ? 'no steps yet' : 'no steps match'
  const at = (cursor: string) => here({ cursor, around: undefined })
  return pages({
    count: total === 0 ? emptyCount : `${number(steps.length)} of ${counted(total, 'step')}`,
    first: previous_cursor === null ? '' : here({ cursor: undefined, around: undefined }),
    previous: previous_cursor === null ? '' : at(previous_cursor),
    next: next_cursor === null ? '' : at(next_cursor),
  })
}

const pages =
  piece(`<span>{{count}}</span><span class="btn-list push">{{#if first}}<a class="btn btn-sm" href="{{first}}">First steps</a>{{/if}}
{{#if previous}}<a class="btn btn-sm" href="{{previous}}">Earlier steps</a>{{/if}}{{#if next}}<a class="btn btn-sm" href="{{next}}">Later steps</a>{{/if}}</span>`)

export const taskPage: DashboardPage = { path: '/tasks/:task_id', show }
