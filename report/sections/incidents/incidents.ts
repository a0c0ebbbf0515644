// Incidents: how many of which severity are in which state, how fast people answered, and each with its answers.
import { effectWords } from '@svc/schemas'
import { count, counted, duration, effectWord, listed, moment } from '../../content/figures.js'
import { type Durations, type IncidentResult, incidentStates, severities } from '../../content/report-data.js'
import type { Block } from '../../pdf/engine.js'
import { small, smallId } from '../../pdf/style.js'
import type { Context, Section } from '../section.js'
import { oscal } from './oscal.js'

export const incidents: Section = {
  pdf,
  oscal,
}

function pdf(context: Context): readonly Block[] {
  const { pen, data } = context
  return [
    pen.h1('Incidents'),
    pen.h2('By severity and state at the cut-off'),
    matrix(context),
    ...byEffect(context),
    pen.h2('Time to answer'),
    times(context),
    pen.h2('Opened or answered in this period'),
    pen.prose(
      'Incidents without an answer that have the agent, the policy and the reason in common share a row. The attachment lists each incident with its id.',
    ),
    pen.table({
      columns: [
        { title: 'Incident', width: 2.4 },
        { title: 'What the policy reported', width: 3.8 },
        { title: 'Who answered, when, and with which note', width: 3.8 },
      ],
      rows: groupsOf(data.incidents.list.rows).map((group) => [
        described(pen, group),
        reported(pen, group),
        answers(context, group[0]),
      ]),
      more: { count: data.incidents.list.more, what: 'incidents', listed: data.incidents.list.rows.length },
      empty: 'No incident was opened or answered in this period.',
    }),
  ]
}

function matrix({ pen, data }: Context): Block {
  const { counts } = data.incidents
  const sum = (severity: string | null, state: string | null) =>
    counts
      .filter((each) => (severity ?? each.severity) === each.severity && (state ?? each.state) === each.state)
      .reduce((total, each) => total + each.count, 0)
  const rows = [...severities, null].map((severity) => [
    severity ?? pen.text('All', { style: 'cell', bold: true }),
    ...[...incidentStates, null].map((state) => sum(severity, state)),
  ])
  return pen.table({
    columns: [
      { title: 'Severity', width: 2 },
      ...[...incidentStates, 'all'].map((title) => ({ title, width: 1.4, align: 'right' as const })),
    ],
    rows: counts.length === 0 ? [] : rows,
    empty: 'No incident was opened in this period.',
  })
}

/** The effects of the incidents in a sentence; nothing if no incident has one. */
function byEffect({ pen, data }: Context): readonly Block[] {
  const words = effectWords(data.incidents.effects, count)
  return words.length === 0 ? [] : [pen.prose(`What came of them: ${listed(words)}.`)]
}

function times({ pen, data }: Context): Block {
  const { time_to_review, time_to_resolve } = data.incidents
  const row = (name: string, { count: number, median_seconds, p90_seconds }: Durations) => [
    name,
    count(number),
    median_seconds === null ? null : duration(median_seconds),
    p90_seconds === null ? null : duration(p90_seconds),
  ]
  return pen.table({
    columns: [
      { title: 'From the opening', width: 4 },
      { title: 'Incidents', width: 1.6, align: 'right' },
      { title: 'Half within', width: 2, align: 'right' },
      { title: '90 % within', width: 2, align: 'right' },
    ],
    rows:
      time_to_review.count + time_to_resolve.count === 0
        ? []
        : [row('to the first review', time_to_review), row('to the first resolution', time_to_resolve)],
    empty: 'No incident of this period was reviewed or resolved.',
  })
}

/** At least one. */
type Group = readonly [IncidentResult, ...IncidentResult[]]

/** Incidents with an answer alone, the others by what they have in common; in the order of the first of each group. */
function groupsOf(rows: readonly IncidentResult[]): Group[] {
  const groups = new Map<string, [IncidentResult, ...IncidentResult[]]>()
  for (const row of rows) {
    const { id, severity, state, mode, effect, agent_id, policy_name, reason, history } = row
    const key = JSON.stringify(
      history.length > 0 ? [id] : [severity, state, mode, effect, agent_id, policy_name, reason],
    )
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [row])
    else group.push(row)
  }
  return [...groups.values()]
}

function described(pen: Context['pen'], group: Group): Block {
  const [{ severity, state, mode, agent_name, opened_at }] = group
  const last = group.at(-1)?.opened_at ?? opened_at
  const times = moment(last) === moment(opened_at) ? moment(opened_at) : `${moment(opened_at)} to ${moment(last)}`
  return {
    stack: [
      pen.text(`${severity}, ${state}${mode === 'observe' ? ', observed only' : ''}`, {
        style: 'cell',
        bold: state === 'open',
      }),
      ...effectOf(pen, group),
      ...(group.length === 1 ? [] : [pen.text(counted(group.length, 'incident'), { style: 'cell' })]),
      pen.text(agent_name, { style: 'cell', max: 90 }),
      pen.text(`${times} UTC`, small),
    ],
  }
}

/** The incidents of a group have one effect. */
function effectOf(pen: Context['pen'], [{ effect, task_id }]: Group): readonly Block[] {
  // A registration has no step.
  if (effect === null || task_id === null) return []
  return [pen.text(`Step: ${effectWord[effect]}`, { style: 'cell', bold: effect === 'executed' })]
}

/** A row must fit on a page. */
const maxPlaces = 8

function reported(pen: Context['pen'], group: Group): Block {
  const [{ id, policy_name, reason }] = group
  const places = group.flatMap(({ task_id, step }) =>
    task_id === null ? [] : [{ task_id, end: step === null ? '' : `, step ${count(step)}` }],
  )
  const others = places.length - maxPlaces
  const shown = places
    .slice(0, maxPlaces)
    .flatMap(({ task_id, end }, index) => [index === 0 ? 'task ' : '; ', task_id, end])
  return {
    stack: [
      pen.text(policy_name, { style: 'cell', bold: true, max: 100 }),
      pen.text(reason, { style: 'cell', max: 360 }),
      ...(places.length === 0
        ? []
        : [
            pen.text([...shown, others > 0 ? `; ${count(others)} others in the attachment` : ''], {
              ...small,
              max: 120,
            }),
          ]),
      ...(group.length > 1 ? [] : [pen.text(id, { ...smallId, max: 60 })]),
    ],
  }
}

/** A row must fit on a page, also when every letter is as wide as a W. */
const maxAnswers = 4
const maxNotes = 600
const maxNote = 400

function answers({ pen, who }: Context, { history }: IncidentResult): Block {
  if (history.length === 0) return pen.text('No answer', { style: 'cell', bold: true })
  const shown = history.slice(-maxAnswers)
  const left = history.length - shown.length
  const max = Math.min(maxNote, Math.floor(maxNotes / shown.length))
  const earlier = left === 0 ? [] : [pen.text(`${count(left)} earlier, in the attachment`, small)]
  return {
    stack: earlier.concat(
      shown.map(({ at, by, from, to, note }) => ({
        stack: [
          pen.text(`${from} to ${to}, ${moment(at)} UTC`, { style: 'cell', bold: true }),
          pen.text(who(by), { ...small, max: 60 }),
          ...(note === null || note === '' ? [] : [pen.text(['Note: ', note], { style: 'cell', max })]),
        ],
        margin: [0, 0, 0, 3],
      })),
    ),
  }
}
