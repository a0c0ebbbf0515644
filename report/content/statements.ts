// The statements of a report, in sentences for a reader without cryptography: page 1 of the PDF, and the summary of the other formats.
// Sentences hold numbers and no untrusted text.
import { effectWords } from '@svc/schemas'
import { answered } from './answered.js'
import { are, count, counted, duration, joined, listed, sentence, share, some } from './figures.js'
import { hasNoEngine } from './no-engine.js'
import { type ReportData, severities } from './report-data.js'
import { erasedSteps } from './summary-data.js'
import { isBeforeLog, isBySender, timesOfSteps } from './times.js'

export interface Statement {
  readonly question: string
  readonly answer: string
}

export interface Verdict {
  /** `good`: nothing asks for an answer; `attention`: something does; `problem`: the record is not whole. */
  readonly mark: 'good' | 'attention' | 'problem'
  readonly text: string
}

/** The report in one sentence. */
export function verdictOf(data: ReportData): Verdict {
  const { summary, integrity } = data
  const problems = integrity.problems.rows.length + integrity.problems.more
  if (integrity.verdict === 'problems') {
    const found =
      problems === 0
        ? 'Problems were'
        : problems === 1
          ? 'One problem was'
          : `${sentence(counted(problems, 'problem'))} were`
    return {
      mark: 'problem',
      text: `The record is not whole. ${found} found: read the integrity statement before any figure.`,
    }
  }
  const open = openPoints(data)
  if (open.length > 0) return { mark: 'attention', text: `The record is whole. It shows ${listed(open)}.` }
  if (isBeforeLog(data)) {
    const read = integrity.entries.end === 0 ? '' : 'The record is whole. '
    return { mark: 'attention', text: `${read}The log begins after this period, ${shownBefore(data)}.` }
  }
  if (summary.steps === 0 && summary.incidents_opened === 0) {
    return { mark: 'good', text: `The record is whole, and no ${ofPeriod(data)}.` }
  }
  const answers = summary.incidents_opened === 0 ? 'No incident was opened' : 'Every incident was answered'
  return { mark: 'good', text: `The record is whole. ${answers}, and no agent is known to have been ungoverned.` }
}

/** The sentence about a period before the log. */
const shownBefore = ({ summary: { steps } }: ReportData) =>
  steps === 0
    ? 'so that this report shows nothing of it'
    : 'so that this report shows only the steps of it that were sent later'

const ofPeriod = ({ report }: ReportData) =>
  isBySender(report) ? 'recorded step is of this period' : 'agent recorded a step in this period'

function openPoints(data: ReportData): string[] {
  const { summary } = data
  const unrecorded = summary.unrecorded_allowed
  const unknown = agentsUnknown(data).length
  const unwatched = data.agents.rows.filter(hasNoEngine).length
  const undecided = undecidedSteps(data)
  const unanswered = summary.incidents_unanswered + summary.incidents_unanswered_earlier
  const ungoverned = summary.ungoverned_agents
  const { approvals_missing: missing, critical_steps: critical } = summary
  const earlier = summary.incidents_open_earlier - summary.incidents_unanswered_earlier
  return [
    ...(unanswered === 0 ? [] : [`${counted(unanswered, 'incident')} without an answer`]),
    ...(earlier === 0 ? [] : [`${counted(earlier, 'answered incident')} from before the period without an end`]),
    ...(critical === 0
      ? []
      : [
          `${erasedSteps(summary) === 0 ? '' : 'at least '}${counted(critical, 'step')} that violated a critical policy and ${are(critical, 'is', 'are')} not known to have been stopped`,
        ]),
    ...(ungoverned === 0 ? [] : [`${counted(ungoverned, 'agent')} with ungoverned time`]),
    ...(unknown === 0 ? [] : [`${counted(unknown, 'agent')} with unknown time`]),
    ...(unwatched === 0 ? [] : [`${counted(unwatched, 'agent')} without a local engine`]),
    ...(undecided === 0 ? [] : [`${counted(undecided, 'step')} without a decision`]),
    ...(unrecorded === 0 ? [] : [`${counted(unrecorded, 'allowed step')} without a record`]),
    ...(missing === 0 ? [] : [`${counted(missing, 'step')} without the approval that a policy asked for`]),
  ]
}

/** The four questions of page 1. */
export function statementsOf(data: ReportData): Statement[] {
  return [
    { question: 'What was governed?', answer: governed(data) },
    { question: 'What went wrong?', answer: wrong(data) },
    { question: 'Who answered?', answer: answered(data) },
    { question: 'Is the record whole?', answer: whole(data) },
  ]
}

function governed(data: ReportData): string {
  const { report } = data
  const { agents, active_agents, steps, tasks } = data.summary
  if (agents === 0) return 'No agent was registered.'
  const registered = `${sentence(counted(agents, 'agent'))} ${are(agents, 'was', 'were')} registered before the cut-off.`
  const activity =
    steps === 0
      ? isBySender(report)
        ? 'No step of them is of this period.'
        : 'None of them recorded a step.'
      : `${sentence(counted(active_agents, 'agent'))} ${are(active_agents, 'was', 'were')} active and recorded ${counted(steps, 'step')} in ${counted(tasks, 'task')}.`
  return joined(
    registered,
    activity,
    timesOfSteps(data),
    policiesInEffect(data),
    decidedSteps(data),
    ungovernedTime(data),
    unknownTime(data),
    noEngine(data),
  )
}

/** The steps that a local engine evaluated before they ran, as their senders state. */
function decidedSteps({ summary }: ReportData): string {
  const { steps, decided_steps: decided } = summary
  if (steps === 0) return ''
  const erased = erasedSteps(summary)
  const unread = erased === 0 ? '' : `; of ${count(erased)} it cannot be read: erased`
  if (decided === 0) return `No step is known to have been evaluated by a local engine before it ran${unread}.`
  const which =
    decided === steps
      ? steps === 1
        ? 'the step'
        : `all ${count(steps)} steps`
      : `${count(decided)} of ${counted(steps, 'step')}`
  return `Local engines evaluated ${which} before ${are(decided, 'it', 'they')} ran${unread}.`
}

/** Steps without a decision of agents that have a local engine; those of other agents are mentioned as such. */
function undecidedSteps({ summary, agents: { rows } }: ReportData): number {
  const others = rows.filter(hasNoEngine).reduce((sum, { undecided_steps }) => sum + undecided_steps, 0)
  return Math.max(0, summary.undecided_steps - others)
}

/** A policy that only incidents from before the period name was in effect on no agent. */
function policiesInEffect({ policies }: ReportData): string {
  const rows = policies.rows.filter(({ agents, steps, incidents }) => agents + steps + incidents > 0)
  const total = rows.length + policies.more
  if (total === 0) return 'No policy was in effect.'
  const observed = rows.filter(({ mode }) => mode === 'observe').length
  const part = policies.more > 0 || observed === 0 ? '' : `, ${observed} of them only observed`
  return `${sentence(counted(total, 'policy', 'policies'))} ${are(total, 'was', 'were')} in effect${part}.`
}

function ungovernedTime({ summary, agents }: ReportData): string {
  const number = summary.ungoverned_agents
  if (number === 0) return summary.undecided_steps === 0 ? 'No agent is known to have been ungoverned.' : ''
  const seconds = agents.rows.reduce((sum, { governance }) => sum + governance.ungoverned_seconds, 0)
  const least = agents.more > 0 ? 'at least ' : ''
  const sum = seconds === 0 ? '' : `: ${least}${duration(seconds)} in all`
  const steps = agents.rows
    .flatMap(({ governance }) => governance.intervals)
    .reduce((total, interval) => total + (interval.steps ?? 0), 0)
  const more = agents.more > 0 || agents.rows.some(({ governance }) => governance.more > 0) ? 'at least ' : ''
  const missed = steps === 0 ? '' : ` While no engine ran, ${more}${counted(steps, 'step')} came without a decision.`
  return `On ${counted(number, 'agent')}, nothing was enforced for some time${sum}.${missed}`
}

/** Of the listed ones; agents without a local engine are mentioned together. */
const agentsUnknown = ({ agents }: ReportData) =>
  agents.rows.filter((agent) => agent.governance.unknown_seconds > 0 && !hasNoEngine(agent))

function unknownTime(data: ReportData): string {
  const unknown = agentsUnknown(data)
  if (unknown.length === 0) return ''
  const seconds = unknown.reduce((sum, { governance }) => sum + governance.unknown_seconds, 0)
  const least = data.agents.more > 0 ? 'at least ' : ''
  return `For ${least}${counted(unknown.length, 'agent')}, it is unknown whether a local engine enforced policies during ${duration(seconds)} in all.`
}

function noEngine({ agents }: ReportData): string {
  const number = agents.rows.filter(hasNoEngine).length
  if (number === 0) return ''
  const least = agents.more > 0 ? 'At least ' : ''
  return `${least}${counted(number, 'agent')} used no local engine in this period: the platform evaluated ${are(number, 'its', 'their')} steps when they were recorded.`
}

function wrong({ report, summary, incidents }: ReportData): string {
  const { steps, steps_in_violation, violations, enforced, observed, waived, incidents_opened } = summary
  if (steps === 0 && violations === 0 && incidents_opened === 0 && summary.unrecorded_decisions === 0)
    return `No step ${isBySender(report) ? 'is of this period' : 'was recorded'}, so none could violate a policy.`
  const erased = erasedSteps(summary)
  const did = erased === 0 ? 'violated' : `${are(Math.max(1, steps_in_violation), 'is', 'are')} known to have violated`
  const inViolation =
    steps_in_violation === 0
      ? `No step ${did} an enforced policy.`
      : `${sentence(counted(steps_in_violation, 'step'))} ${did} an enforced policy, ${share(steps_in_violation, steps)} of all steps.`
  const unproven =
    erased === 0
      ? ''
      : `The log no longer proves what ${counted(erased, 'step')} violated: ${are(erased, 'its', 'their')} content was erased.`
  const kinds = [`${some(enforced)} enforced`, `${some(observed)} observed`, `${some(waived)} waived`]
  const name = erased === 0 ? 'Violations' : 'Known violations'
  const split = violations === 0 ? '' : `${name}: ${count(violations)} in all, of which ${listed(kinds)}.`
  const bySeverity = severities
    .map((severity) => ({
      severity,
      number: incidents.counts.filter((each) => each.severity === severity).reduce((sum, each) => sum + each.count, 0),
    }))
    .filter(({ number }) => number > 0)
    .map(({ severity, number }) => `${number} ${severity}`)
  const opened =
    incidents_opened === 0
      ? 'No incident was opened.'
      : `${sentence(counted(incidents_opened, 'incident'))} ${are(incidents_opened, 'was', 'were')} opened${bySeverity.length === 0 ? '' : `: ${listed(bySeverity)}`}.`
  return joined(inViolation, split, unproven, opened, effects(incidents), unrecorded(summary))
}

function effects({ effects: counts }: ReportData['incidents']): string {
  const words = effectWords(counts, count)
  return words.length === 0 ? '' : `What came of them: ${listed(words)}.`
}

function unrecorded({ unrecorded_decisions: number, unrecorded_blocked: blocked }: ReportData['summary']): string {
  if (number === 0) return ''
  const which = blocked === number ? 'all of them to stop it' : `${some(blocked)} of them to stop it`
  return `Local engines declare ${counted(number, 'decision')} about a step that was never recorded, ${which}; the log has no record of the ${are(number, 'step', 'steps')}.`
}

/** Witnesses sign after the log, and a reader decides which of them to trust: no name in a database proves one. */
const witnessed =
  'Only a witness reveals a person who holds both the database and the signing key: the verification of the bundle names those that confirmed this log.'

function whole({ report, integrity }: ReportData): string {
  const { entries, rehashed, erased, pruned } = integrity
  const total = entries.end - entries.first
  const problems = integrity.problems.rows.length + integrity.problems.more
  const read =
    total === 0
      ? `The ${isBySender(report) ? 'log has no entries since the begin of the period' : 'period has no entries in the log'}.`
      : `${sentence(counted(rehashed, 'record'))} of ${counted(total, 'entry', 'entries')} ${are(rehashed, 'was', 'were')} hashed again.`
  const outcome =
    integrity.verdict === 'whole'
      ? 'Yes: the log is the one that was signed.'
      : `No: ${problems === 0 ? 'problems were' : `${counted(problems, 'problem')} ${are(problems, 'was', 'were')}`} found.`
  const gone = [
    ...(erased === 0 ? [] : [`the content of ${counted(erased, 'entry', 'entries')} was erased on request`]),
    ...(pruned === 0
      ? []
      : [`${counted(pruned, 'record')} ${are(pruned, 'was', 'were')} deleted after the time of retention`]),
  ]
  const removed = gone.length === 0 ? '' : `As recorded, ${listed(gone)}.`
  return joined(outcome, read, removed, witnessed)
}
