// Evidence and problems of a period that several controls share.
import { minRetentionDays } from '@svc/proof'
import { counted, duration, sentence } from '../content/figures.js'
import type { ContentPart, ReportData } from '../content/report-data.js'
import type { Found } from './definition.js'
import { supported } from './sentences.js'

const found = (part: ContentPart, evidence: readonly string[], problems: readonly string[] = []): Found => ({
  evidence,
  problems,
  parts: evidence.length + problems.length > 0 ? [part] : [],
})

/** Steps were recorded automatically, in a log that verifies. */
export function recording(data: ReportData): Found {
  const { summary, integrity } = data
  if (summary.steps === 0) return found('integrity', [])
  const recorded = `${counted(summary.steps, 'step')} in ${counted(summary.tasks, 'task')} of ${counted(summary.active_agents, 'agent')} recorded, each with time, agent, type and verdict.`
  return supported(found('integrity', [recorded]), record(data), removed(integrity))
}

/** The verification of the record of the period. */
export function record({ integrity }: ReportData): Found {
  const { rehashed, checkpoint, problems } = integrity
  const number = problems.rows.length + problems.more
  if (integrity.verdict === 'problems')
    return found(
      'integrity',
      [],
      [`The verification of the record found ${counted(number, 'problem')}: see the statement of integrity.`],
    )
  if (rehashed === 0) return found('integrity', [])
  return found('integrity', [
    `${counted(rehashed, 'record')} hashed again and equal to the signed tree of ${counted(checkpoint.size, 'entry', 'entries')}.`,
  ])
}

function removed({ erased, pruned }: ReportData['integrity']): Found {
  if (erased + pruned === 0) return found('integrity', [])
  return found('integrity', [
    `${sentence(counted(erased, 'payload'))} erased and ${counted(pruned, 'record')} deleted since; their commitments or hashes remain.`,
  ])
}

/** Violations and the incidents that they opened, where policies evaluated steps. */
export function detection({ summary, incidents, policies }: ReportData): Found {
  if (summary.steps === 0) return found('incidents', [])
  if (!policies.rows.some(({ applied }) => applied > 0))
    return found('incidents', [], ['No policy applied to a step of the period.'])
  const evaluated = `Policies applied to steps: ${counted(summary.violations, 'violation')}, ${counted(summary.incidents_opened, 'incident')} opened.`
  const unlisted = incidents.list.more
  return found('incidents', [
    evaluated,
    ...(unlisted > 0 ? [`${counted(unlisted, 'incident')} not listed in this report.`] : []),
  ])
}

/** The answers to the incidents, and their speed. */
export function answers({ summary, incidents }: ReportData): Found {
  const { time_to_review: review, time_to_resolve: resolve } = incidents
  const times = (text: string, { count: number, median_seconds }: typeof review) =>
    number === 0 || median_seconds === null
      ? []
      : [`${counted(number, 'incident')} ${text} after ${duration(median_seconds)} (median).`]
  const open = summary.incidents_unanswered + summary.incidents_unanswered_earlier
  return found(
    'incidents',
    [...times('first reviewed', review), ...times('first resolved', resolve)],
    open > 0 ? [`${counted(open, 'incident')} had no answer at the cut-off.`] : [],
  )
}

/** Approvals that policies asked for. */
export function approvals({ summary }: ReportData): Found {
  const { approvals_asked: asked, approvals_given: given, approvals_missing: without } = summary
  if (asked === 0) return found('oversight', [])
  const text = `Policies asked for an approval of ${counted(asked, 'step')}; ${counted(given, 'approval')} given.`
  return found('oversight', [text], without > 0 ? [`${counted(without, 'step')} recorded without the approval.`] : [])
}

/** The time in which nothing was enforced, or in which that is unknown. */
export function enforcement({ summary, agents }: ReportData): Found {
  const sum = (key: 'governed_seconds' | 'ungoverned_seconds' | 'unknown_seconds') =>
    agents.rows.reduce((total, { governance }) => total + governance[key], 0)
  const governed = sum('governed_seconds')
  const unknown = sum('unknown_seconds')
  const enforced = agents.rows.filter(({ governance }) => governance.governed_seconds > 0).length
  const listed = agents.more > 0 ? ' of the listed agents' : ''
  return found(
    'agents',
    governed > 0
      ? [
          `Policies were enforced for ${duration(governed)}, summed over ${counted(enforced, 'agent')} with a local engine.`,
        ]
      : [],
    [
      summary.ungoverned_agents > 0
        ? `${counted(summary.ungoverned_agents, 'agent')} had time without enforcement: ${duration(sum('ungoverned_seconds'))}${listed}.`
        : '',
      unknown > 0 ? `For ${duration(unknown)}${listed} it is unknown whether policies were enforced.` : '',
      summary.undecided_steps > 0
        ? `${sentence(counted(summary.undecided_steps, 'step'))} ${summary.undecided_steps === 1 ? 'was' : 'were'} not evaluated by a local engine before ${summary.undecided_steps === 1 ? 'it' : 'they'} ran.`
        : '',
    ].filter((text) => text !== ''),
  )
}

/** The time for which the platform keeps entries, and earlier deletions. */
export function retention({ retention: { days, holds, prunes }, summary }: ReportData): Found {
  if (summary.steps === 0) return found('retention', [])
  const held = holds.rows.length + holds.more
  const evidence =
    days >= minRetentionDays ? [`The retention is ${counted(days, 'day')}; ${counted(held, 'hold')} placed.`] : []
  const short = `The retention is ${counted(days, 'day')}: less than six months (${minRetentionDays} days).`
  const pruned = prunes.rows.filter(({ at, before }) => daysBetween(before, at) < minRetentionDays).length
  return found('retention', evidence, [
    ...(days >= minRetentionDays ? [] : [short]),
    ...(pruned > 0 ? [`${counted(pruned, 'deletion')} reached entries younger than six months.`] : []),
  ])
}

const daysBetween = (from: string, to: string) => (Date.parse(to) - Date.parse(from)) / 86_400_000
