// The agents, and when nothing was enforced on them: a strip for each, then the intervals.

import { count, counted, duration, moment, sentence, separated } from '../../content/figures.js'
import { hasNoEngine } from '../../content/no-engine.js'
import type { AgentResult, ReportData } from '../../content/report-data.js'
import { isBySender } from '../../content/times.js'
import type { GovernanceInterval } from '../../governance/governance.js'
import type { Block } from '../../pdf/engine.js'
import { gap, small, textWidth } from '../../pdf/style.js'
import type { Context, Section } from '../section.js'
import { oscal } from './oscal.js'

/** Strips are drawn for the agents with ungoverned or unknown time first, then for the busiest. */
const maxStrips = 40
const maxIntervals = 200
/** Of the width of the page. */
const nameShare = 2.8
const stripShare = 7.2

export const agents: Section = {
  pdf,
  oscal,
}

function pdf(context: Context): readonly Block[] {
  const { pen } = context
  return [
    pen.h1('Agents and ungoverned time'),
    table(context),
    pen.h2('When policies were enforced', 210),
    pen.prose(
      'Governed: an engine reported that it enforced policies. Ungoverned: an engine reported that it enforced none, the platform had none for the agent, or no engine ran and steps came that none had evaluated. Unknown: no engine reported; policies may have been enforced or not. No engine ran: every engine had stopped in order, and no step is known to have come without a decision. A strip is empty before the registration. Time in which the agent was deactivated is pale too: no step of it was accepted.',
    ),
    ...(isBySender(context.data.report)
      ? [
          pen.prose(
            'Steps count here when they were received, whatever time their sender stated: a step that was received after the period changes nothing in this part.',
          ),
        ]
      : []),
    ...withoutEngine(context),
    ...strips(context),
    pen.h2('Intervals'),
    intervals(context),
  ]
}

function table({ pen, data }: Context): Block {
  return pen.table({
    columns: [
      { title: 'Agent', width: 3.1, max: 160 },
      { title: 'Tasks', width: 0.85, align: 'right' },
      { title: 'Steps', width: 1.1, align: 'right' },
      { title: 'Violations', width: 1.25, align: 'right' },
      { title: 'Incidents', width: 1.2, align: 'right' },
      { title: 'Governed', width: 1.4, align: 'right' },
      { title: 'Ungoverned', width: 1.45, align: 'right' },
      { title: 'Unknown', width: 1.4, align: 'right' },
      { title: 'No engine', width: 1.3, align: 'right' },
    ],
    rows: data.agents.rows.map((agent) => [
      described(pen, agent),
      agent.tasks,
      agent.steps,
      agent.violations,
      agent.incidents,
      ...timesOf(agent),
    ]),
    more: { count: data.agents.more, what: 'agents' },
    empty: 'No agent was registered before the cut-off.',
  })
}

const timesOf = ({ governance }: AgentResult) =>
  [governance.governed_seconds, governance.ungoverned_seconds, governance.unknown_seconds, governance.idle_seconds].map(
    (seconds) => (seconds === 0 ? '–' : duration(seconds)),
  )

function described(pen: Context['pen'], agent: AgentResult): Block {
  const { name, purpose, environment, active, registered_at, risk_classification: risk } = agent
  const state = [
    environment,
    risk === 'unclassified' ? risk : `${risk} risk`,
    active ? '' : 'inactive',
    registered_at === null ? '' : `since ${registered_at.slice(0, 10)}`,
  ]
  return {
    stack: [
      pen.text(name, { style: 'cell', bold: true, max: 120 }),
      ...(purpose === null || purpose === '' ? [] : [pen.text(purpose, { style: 'cell', max: 160 })]),
      pen.text(state.filter((each) => each !== '').join(' · '), { ...small, max: 80 }),
    ],
  }
}

const timeOf = ({ governance }: AgentResult) =>
  governance.ungoverned_seconds + governance.unknown_seconds + governance.idle_seconds

type Period = ReportData['report']['period']

/** RFC 3339 in UTC with milliseconds sorts as text. */
function knownOf({ registered_at }: AgentResult, { period, as_of }: ReportData['report']): Period {
  const from = registered_at !== null && registered_at > period.from ? registered_at : period.from
  return { from, to: as_of < period.to ? as_of : period.to }
}

/** Strips begin with the first registration: an agent of today is seen in a report of ten years. */
function axisOf({ agents: { rows }, report }: ReportData): Period {
  const known = rows.map((agent) => knownOf(agent, report))
  const from = known.reduce((first, each) => (each.from < first ? each.from : first), known[0]?.from ?? '')
  const { to } = known[0] ?? report.period
  return from < to ? { from, to } : report.period
}

const maxNames = 40

function withoutEngine({ pen, data }: Context): Block[] {
  const names = data.agents.rows.filter(hasNoEngine).map(({ name }) => name)
  if (names.length === 0) return []
  const others = names.length - maxNames
  return [
    pen.text(
      [
        `${sentence(counted(names.length, 'agent'))} used no local engine in this period. The platform evaluated the steps when they were recorded, and the time is unknown where it is not ungoverned: `,
        ...separated(names.slice(0, maxNames)),
        others > 0 ? ` and ${count(others)} others.` : '.',
      ],
      { style: 'prose', max: 200, margin: [0, 0, 0, 8] },
    ),
  ]
}

function strips({ pen, data, charts: { timelineStrip } }: Context): Block[] {
  const { rows } = data.agents
  const period = axisOf(data)
  if (rows.length === 0) return [pen.prose('No agent is listed.')]
  const shown = [...rows].sort((a, b) => timeOf(b) - timeOf(a)).slice(0, maxStrips)
  const size = { width: Math.floor(((textWidth - gap) * stripShare) / (nameShare + stripShare)), height: 11 }
  const strip = (each: readonly GovernanceInterval[], known: Period): Block => {
    return { svg: timelineStrip(period, each, size, known), ...size, margin: [0, 1, 0, 0] }
  }
  const span = (state: GovernanceInterval['state']): GovernanceInterval => ({
    ...period,
    state,
    reason: 'silent',
    instance_id: null,
  })
  const legend = (['governed', 'idle', 'unknown', 'ungoverned'] as const).map((state) => ({
    columns: [
      { svg: timelineStrip(period, state === 'governed' ? [] : [span(state)], { width: 22, height: 9 }), width: 22 },
      { width: 'auto', ...pen.text(state === 'idle' ? 'no engine ran' : state, { style: 'note' }) },
    ],
    columnGap: 5,
    width: 96,
  }))
  return [
    { columns: legend, margin: [0, 0, 0, 6] },
    pen.table({
      columns: [
        { title: 'Agent', width: nameShare, max: 90 },
        { title: `${moment(period.from)} to ${moment(period.to)}`, width: stripShare },
      ],
      rows: shown.map((agent) => [drawn(pen, agent), strip(agent.governance.intervals, knownOf(agent, data.report))]),
      more: { count: rows.length - shown.length + data.agents.more, what: 'agents' },
      empty: '',
    }),
  ]
}

/** A strip shows the listed intervals only: it must not look whole where some are left out. */
function drawn(pen: Context['pen'], { name, governance: { more } }: AgentResult): Block {
  const shown = pen.text(name, { style: 'cell', max: 90 })
  if (more === 0) return shown
  return { stack: [shown, pen.text(`${counted(more, 'shorter interval')} not drawn`, { ...small, max: 80 })] }
}

const reasons: Readonly<Record<GovernanceInterval['reason'], string>> = {
  no_policy: 'the platform had no enforced policy for the agent',
  none_configured: 'the engine had no policy',
  all_dropped: 'the engine rejected all policies at load',
  unavailable: 'the engine could not load its policies',
  silent: 'the engine sent no heartbeat',
  no_engine: 'no engine had reported yet',
  stopped: 'every engine had stopped in order',
  undecided: 'no engine ran',
}

const order: readonly GovernanceInterval['state'][] = ['ungoverned', 'unknown', 'idle']

function why({ reason, steps }: GovernanceInterval): string {
  const counted_steps = steps === undefined ? '' : `: ${counted(steps, 'step')} without a decision`
  return `${sentence(reasons[reason])}${counted_steps}`
}

function intervals({ pen, data }: Context): Block {
  const all = data.agents.rows.flatMap((agent) =>
    agent.governance.intervals
      .filter(({ reason }) => reason !== 'no_engine' || !hasNoEngine(agent))
      .map((each) => ({ name: agent.name, ...each })),
  )
  const unlisted = data.agents.rows.reduce((sum, { governance }) => sum + governance.more, 0)
  const listed = [...all].sort((a, b) => order.indexOf(a.state) - order.indexOf(b.state))
  const seconds = ({ from, to }: GovernanceInterval) => Math.round((Date.parse(to) - Date.parse(from)) / 1000)
  const none =
    data.agents.rows.length === 0
      ? 'No agent is listed.'
      : `No ${data.agents.rows.some(hasNoEngine) ? 'other ' : ''}time is known to be ungoverned, unknown or without an engine.`
  return pen.table({
    columns: [
      { title: 'Agent', width: 2.2, max: 90 },
      { title: 'State', width: 1.2 },
      { title: 'From (UTC)', width: 2.15 },
      { title: 'To (UTC)', width: 2.15 },
      { title: 'Duration', width: 1.2, align: 'right' },
      { title: 'Why', width: 2.6 },
    ],
    rows: listed.map((each) => [
      each.name,
      each.state === 'ungoverned'
        ? pen.text(each.state, { style: 'cell', bold: true })
        : each.state === 'idle'
          ? 'no engine ran'
          : each.state,
      moment(each.from),
      moment(each.to),
      duration(seconds(each)),
      why(each),
    ]),
    more: { count: unlisted, what: 'intervals', max: maxIntervals },
    empty: none,
  })
}
