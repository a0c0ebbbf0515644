import { count, counted, listed, moment, sortedByCount } from '../content/figures.js'
import type { ApprovalResult } from '../content/report-data.js'
import { named } from '../controls/sentences.js'
import type { Block } from '../pdf/engine.js'
import { type Context, type Described, observedList, type Section } from './section.js'

export const oversight: Section = {
  pdf,
  oscal: {
    at: 'oversight',
    title: 'Human oversight and access',
    sentences: ({ summary }) => [
      `${counted(summary.approvals_asked, 'approval')} asked for, ${summary.approvals_given} given.`,
    ],
    map: 'events',
    list: observedList('approvals.rows', ({ oversight: { approvals } }) => approvals.rows, observed),
  },
}

function pdf(context: Context): readonly Block[] {
  const { pen } = context
  return [
    pen.h1('Human oversight and access'),
    pen.prose(
      'People are shown by the names of their accounts and by their ids, keys by their ids. The log holds the ids only: an account that has ended has no name. “npx --no-install svc workspace members --json” lists the people with their addresses. Who approved a step is what its gate claims; svc does not verify it.',
    ),
    pen.h2('Approvals'),
    approvals(context),
    pen.h2('Members at the cut-off'),
    members(context),
    pen.h2('Changes of people, roles, keys and settings'),
    changes(context),
    pen.h2('Events of the period by kind'),
    events(context),
  ]
}

function approvals({ pen, data }: Context): Block {
  const { rows, more } = data.oversight.approvals
  return pen.table({
    columns: [
      { title: 'Time (UTC)', width: 1.9 },
      { title: 'Agent', width: 1.7, max: 90 },
      { title: 'Task, steps', width: 2.1, max: 160 },
      { title: 'Policy', width: 2.2, max: 120 },
      { title: 'Approval', width: 2.2, max: 140 },
    ],
    rows: groupsOf(rows).map(({ first, steps }) => [
      moment(first.at),
      first.agent_name,
      pen.text([first.task_id, `, ${listed(steps.map(count))}`], { style: 'cell', max: 160 }),
      first.policy_name,
      outcome(pen, first),
    ]),
    more: { count: more, what: 'steps for which an approval was asked', listed: rows.length },
    empty: 'No policy asked for an approval in this period.',
  })
}

/** A row must fit on a page. */
const maxSteps = 40

/** Steps of one task that a policy asked about in vain share a row; approvals that were given do not. */
function groupsOf(rows: readonly ApprovalResult[]) {
  const groups: { readonly first: ApprovalResult; readonly steps: number[] }[] = []
  for (const row of rows) {
    const last = groups.at(-1)
    if (last !== undefined && last.steps.length < maxSteps && isSame(last.first, row)) last.steps.push(row.step)
    else groups.push({ first: row, steps: [row.step] })
  }
  return groups
}

const isSame = (a: ApprovalResult, b: ApprovalResult): boolean =>
  a.outcome !== 'given' &&
  a.outcome === b.outcome &&
  a.agent_id === b.agent_id &&
  a.task_id === b.task_id &&
  a.policy_name === b.policy_name

function outcome(pen: Context['pen'], { outcome: found, approver, approved_by_step }: ApprovalResult): Block {
  if (found === 'missing') return pen.text('Missing', { style: 'cell', bold: true })
  if (found === 'blocked') return pen.text('None; the step was stopped', { style: 'cell' })
  if (found === 'erased') return pen.text('Cannot be read: erased', { style: 'cell' })
  const by = approver === null ? [] : [' by ', approver]
  const claim = approver === null ? [] : [', as the gate claims']
  const at = approved_by_step === null ? [] : [` at step ${count(approved_by_step)}`]
  return pen.text(['Given', ...by, ...at, ...claim], { style: 'cell', max: 120 })
}

function members({ pen, data }: Context): Block {
  const total = data.oversight.members.reduce((sum, each) => sum + each.count, 0)
  return pen.table({
    columns: [
      { title: 'Role', width: 4 },
      { title: 'Members', width: 1.5, align: 'right' },
      { title: '', width: 4.5 },
    ],
    rows: data.oversight.members.map(({ role, count: number }) => [role, number, '']),
    empty: total === 0 ? 'The workspace has no members.' : '',
  })
}

function changes({ pen, data, who }: Context): Block {
  const { rows, more } = data.oversight.changes
  return pen.table({
    columns: [
      { title: 'Time (UTC)', width: 1.9 },
      { title: 'Who', width: 2.1, max: 90 },
      { title: 'Whom or what', width: 2.1, max: 90 },
      { title: 'Change', width: 4, max: 300 },
    ],
    rows: rows.map(({ at, kind, actor, subject, text }) => [
      moment(at),
      who(actor),
      who(subject),
      pen.text([text, ' (', kind, ')'], { style: 'cell', max: 300 }),
    ]),
    more: { count: more, what: 'changes' },
    empty: 'Nothing of it was changed in this period.',
  })
}

const maxKinds = 80

function events({ pen, data }: Context): Block {
  return pen.table({
    columns: [
      { title: 'Kind of event', width: 5, mono: true, max: 120 },
      { title: 'Events', width: 2, align: 'right' },
      { title: '', width: 3 },
    ],
    rows: sortedByCount(data.oversight.events).map(([kind, number]) => [kind, number, '']),
    more: { max: maxKinds, what: 'kinds of events' },
    empty: `The period has ${counted(0, 'event')} in the audit trail.`,
  })
}

function observed({ at, agent_id, agent_name, step, policy_name, outcome }: ApprovalResult): Described {
  return {
    title: `Approval ${outcome} for a step of agent ${named(agent_name)}`,
    description: [`Policy ${named(policy_name)} asked for an approval of step ${step} at ${at}: ${outcome}.`],
    agent_id,
  }
}
