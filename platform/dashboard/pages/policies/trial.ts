// The result of a policy on recorded tasks, before it is saved.
import type { DryRunReport, Policy, ReplayedPolicy } from '@svc/schemas'
import type { Agents } from '../../agents.js'
import { paths } from '../../paths.js'
import { badge, counted, type Html, joined, link, number, piece, type Tone, text, ticked } from '../../views/html.js'

/** The name under which a policy is tried, so that its results are not those of another policy with the same name. */
export const triedName = 'The policy of this form'

interface Of {
  readonly agents: Agents
  /** The policy that is edited. */
  readonly policy: Policy | null
}

type Flip = DryRunReport['flips']['listed'][number]
type Violation = NonNullable<DryRunReport['violations']>['listed'][number]

export function trialView(report: DryRunReport, { agents, policy }: Of): Html {
  const own = report.policies.find(({ name }) => name === triedName)
  const { rejected, violations = { total: 0, did_not_happen: 0, listed: [] } } = report
  return view({
    nothing_tried: report.tasks === 0,
    tasks: tasksWords(report),
    is_observed: own?.mode === 'observe',
    was_disabled: policy?.enabled === false,
    rejected: rejected.filter(({ name }) => name === triedName).map(({ reason }) => reason),
    numbers: changesOf(report),
    own: own === undefined ? [] : ownCounts(own),
    violating: violations.listed.map((one) => violationRow(one, agents)),
    more:
      violations.total > violations.listed.length
        ? `The first ${number(violations.listed.length)} of ${counted(violations.total, 'step')} are listed.`
        : '',
    ended: endedIn(report).map((flip) => endedRow(flip, agents)),
    notes: notesOf(report, violations.did_not_happen),
  })
}

const view =
  piece(`<section class="card" id="trial" aria-label="Result of the trial"><div class="card-header"><h2 class="card-title">Result on recorded tasks</h2><span class="badge bg-blue-lt ms-auto">nothing was saved</span></div>
<div class="card-body">{{#each rejected}}<div class="alert alert-danger">The policy cannot be evaluated: <bdi>{{this}}</bdi></div>{{/each}}
{{#if nothing_tried}}<p class="mb-0">No recorded task could be evaluated. Record tasks of the agents that the policy applies to, then try again.</p>{{else}}
{{#if is_observed}}<div class="alert alert-info">Observed only: the policy blocks nothing. The numbers are violations that would be reported.</div>{{/if}}
{{#if was_disabled}}<div class="alert alert-info">The policy is disabled. The result is that of the policy as if it was enabled.</div>{{/if}}
<p>{{tasks}}</p>
<div class="cards">{{#each numbers}}<div class="card"><div class="card-body"><div class="big">{{count}}</div><div>{{label}}</div></div></div>{{/each}}</div>
<h3 class="h4">This policy alone</h3><dl class="facts">{{#each own}}<dt>{{label}}</dt><dd>{{value}}</dd>{{/each}}</dl>{{/if}}</div>
{{#if violating}}<div class="table-responsive" id="violating" tabindex="0" role="region" aria-label="Steps that violate the policy"><table class="table rows"><thead><tr><th scope="col">Step that violates it</th><th scope="col">When recorded</th><th scope="col">Policies now</th><th scope="col">With this policy</th><th scope="col">Reason</th></tr></thead><tbody>
{{#each violating}}<tr><td data-label="Step"><div>{{step}}<div class="text-secondary">{{about}}</div></div></td><td data-label="When recorded">{{recorded}}</td><td data-label="Policies now">{{before}}</td><td data-label="With this policy">{{after}}</td><td data-label="Reason">{{reason}}</td></tr>
{{/each}}</tbody></table></div>
{{/if}}{{#if ended}}<div class="table-responsive" id="ended" tabindex="0" role="region" aria-label="Steps that would end otherwise"><table class="table rows"><thead><tr><th scope="col">Step that would end otherwise</th><th scope="col">When recorded</th><th scope="col">Policies now</th><th scope="col">With this policy</th><th scope="col">No longer violated</th></tr></thead><tbody>
{{#each ended}}<tr><td data-label="Step"><div>{{step}}<div class="text-secondary">{{about}}</div></div></td><td data-label="When recorded">{{recorded}}</td><td data-label="Policies now">{{before}}</td><td data-label="With this policy">{{after}}</td><td data-label="No longer violated">{{reason}}</td></tr>
{{/each}}</tbody></table></div>
{{/if}}<div class="card-footer text-secondary">{{#if more}}<div>{{more}}</div>{{/if}}{{#each notes}}<div>{{this}}</div>{{/each}}</div></section>
`)

function tasksWords({ tasks, steps, flipped_tasks: flipped }: DryRunReport): string {
  const evaluated = `${counted(tasks, 'task')} with ${counted(steps, 'step')} evaluated`
  if (flipped === 0) return `${evaluated}. Every step ends as under the policies in effect now.`
  return `${evaluated}. ${number(flipped)} of them ${flipped === 1 ? 'has' : 'have'} a step that ends otherwise than under the policies in effect now. Each task is in one of these numbers at most:`
}

/** Tasks by their change: the API puts a task in one of these numbers at most. */
function changesOf({ newly_blocked_tasks, newly_asked_tasks, no_longer_blocked_tasks }: DryRunReport) {
  const counts = [
    [newly_blocked_tasks, 'would now be blocked', '#violating'],
    [newly_asked_tasks, 'would now wait for a person', '#violating'],
    [no_longer_blocked_tasks, 'would no longer be blocked', '#ended'],
  ] as const
  return counts.map(([count, label, href]) => ({
    count: countLink(count, href),
    label: `${count === 1 ? 'task' : 'tasks'} ${label}`,
  }))
}

function countLink(count: number, href: string): Html {
  return count === 0 ? text(number(count)) : link(href, number(count))
}

/** Numbers of steps; the last ones are parts of the violations. */
function ownCounts({
  tasks,
  applicable,
  passed,
  approved,
  violated,
  tasks_violated,
  blocked,
  asked,
  mode,
}: ReplayedPolicy) {
  const reported = violated - blocked - asked
  const rest = mode === 'observe' ? 'observed, not blocked' : 'reported, not blocked'
  const parts = [
    [blocked, 'blocked'],
    [asked, 'held for a person'],
    [reported, rest],
  ] as const
  const found = parts.filter(([count]) => count > 0).map(([count, what]) => `${number(count)} ${what}`)
  const approvals = approved === 0 ? '' : `, ${number(approved)} of them by a recorded approval`
  return [
    { label: 'In force for', value: counted(tasks, 'task') },
    { label: 'Applies to', value: counted(applicable, 'step') },
    { label: 'Passed by', value: `${counted(passed, 'step')}${approvals}` },
    {
      label: 'Violated by',
      value:
        violated === 0
          ? 'no step'
          : `${counted(violated, 'step')} in ${counted(tasks_violated, 'task')}: ${found.join(', ')}`,
    },
  ]
}

/** Steps whose outcome differs although they do not violate the policy: an earlier version of it held them. */
function endedIn({ flips }: DryRunReport): Flip[] {
  return flips.listed.filter(({ policies }) => !policies.some(({ side, name }) => side === 'new' && name === triedName))
}

function violationRow(one: Violation, agents: Agents) {
  const { before, after, effect, reason } = one
  return {
    ...placeOf(one, agents),
    before: outcomeBadge(before),
    after: effectBadges(effect, after),
    reason: ticked(reason),
  }
}

function endedRow(flip: Flip, agents: Agents) {
  const { before, after, policies } = flip
  const names = policies.filter(({ side }) => side === 'old').map(({ name }) => name)
  return {
    ...placeOf(flip, agents),
    before: outcomeBadge(before),
    after: outcomeBadge(after),
    reason: text(names.join(', ')),
  }
}

function placeOf({ task_id, agent_id, step, step_type, step_name, happened }: Violation | Flip, agents: Agents) {
  const label = step === null ? `${task_id}, its end` : `${task_id}, step ${step}`
  return {
    step: link(paths.task(task_id, { around: step }), label),
    about: joined([text(step_name ?? step_type), text('by'), agents.link(agent_id)]),
    recorded: happened ? text('not blocked') : badge('blocked, did not happen', 'orange'),
  }
}

const outcomes = {
  allow: ['allowed', 'green'],
  warn: ['allowed, reported', 'yellow'],
  ask: ['waits for a person', 'orange'],
  block: ['blocked', 'red'],
} as const satisfies Record<Flip['after'], readonly [string, Tone]>

function outcomeBadge(outcome: Flip['after']): Html {
  const [label, tone] = outcomes[outcome]
  return badge(label, tone)
}

/** What the policy does with the step; and the outcome of the step, if another policy does more. */
function effectBadges(effect: Violation['effect'], outcome: Flip['after']): Html {
  if (effect === 'blocks' || effect === 'asks') return outcomeBadge(effect === 'blocks' ? 'block' : 'ask')
  const own = badge(effect === 'warns' ? 'reported' : effect, 'yellow')
  return outcome === 'block' || outcome === 'ask'
    ? joined([own, outcomeBadge(outcome), text('by another policy')])
    : joined([own, text('and allowed')])
}

/** The limits of the numbers. */
function notesOf({ left_out, unfinished_tasks }: DryRunReport, did_not_happen: number): string[] {
  return [
    ...(did_not_happen === 0
      ? []
      : [
          `${counted(did_not_happen, 'of these steps was', 'of these steps were')} blocked when recorded, and did not happen.`,
        ]),
    'Steps after a blocked one are evaluated as they were recorded: what the agent would have done instead is not known.',
    ...(unfinished_tasks === 0
      ? []
      : [
          `${counted(unfinished_tasks, 'task')} without an end: policies that evaluate the finished task were not evaluated there.`,
        ]),
    ...left_out.map(leftOutNote),
  ]
}

const leftOutReasons: Readonly<Record<DryRunReport['left_out'][number]['reason'], string>> = {
  payload_erased: 'left out, because a payload was erased',
  metadata_only: 'left out, because their steps were recorded without payloads',
  pruned: 'left out, because the retention period of a step is over',
  too_long: 'left out, because they have more than 10,000 steps or 8 MiB',
  too_many: 'not evaluated, because the latest ones come first',
}

function leftOutNote({ reason, tasks }: DryRunReport['left_out'][number]): string {
  return `${counted(tasks, 'task')} ${leftOutReasons[reason]}.`
}
