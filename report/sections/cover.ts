// Page 1: the organization, the period, the verdict, four answers, key figures.

import { accent, hairline, ink, quiet } from '../charts/colours.js'
import { count, counted, moment, period, separated } from '../content/figures.js'
import { statementsOf, verdictOf } from '../content/statements.js'
import { isBySender, logBegan } from '../content/times.js'
import type { Block } from '../pdf/engine.js'
import { figure, ruleOf, verdictMark } from '../pdf/marks.js'
import { boxSides, textWidth } from '../pdf/style.js'
import type { Context, Section } from './section.js'

export const cover: Section = { pdf }

function pdf(context: Context): readonly Block[] {
  const { pen, data } = context
  const { report } = data
  const name = report.organization
  return [
    pen.text('AI agent governance report', { size: 10, bold: true, color: accent, margin: [0, 4, 0, 6] }),
    pen.text(name, { size: nameSize(name), bold: true, color: ink, max: 300, margin: [0, 0, 0, 4] }),
    pen.text(`${period(report.period)}${isBySender(report) ? ', by the times that senders state' : ''}`, {
      size: 13,
      color: quiet,
      margin: [0, 0, 0, 14],
    }),
    ruleOf(textWidth, accent, 1.2),
    facts(context),
    verdict(context),
    ...statementsOf(data).map(({ question, answer }) => statement(context, question, answer)),
    keyFigures(context),
  ]
}

/** A long name is set smaller, so that page 1 stays one page. */
const nameSize = (name: string) => (name.length <= 28 ? 27 : name.length <= 60 ? 20 : 12)

function facts({ pen, data }: Context): Block {
  const { report, integrity } = data
  const began = logBegan(data)
  const rows = [
    ['Report', report.id, true],
    [
      'As of',
      `${moment(report.as_of)} UTC: entry ${count(integrity.cut_off)} of the log is the last that counts${report.as_of < report.period.to ? '; the time after it is not covered' : ''}`,
      false,
    ],
    ['Scope', [...agentsOf(data), began === null ? '' : `; the log begins on ${moment(began)} UTC`], false],
  ] as const
  const body = rows.map(([name, value, mono]) => [
    pen.text(name, { style: 'note' }),
    pen.text(value, { mono, size: mono ? 8 : 9, max: 160 }),
  ])
  return { table: { widths: [52, textWidth - 52], body }, layout: 'plain', margin: [0, 12, 0, 18] }
}

/** Few agents are named, more are counted. */
const maxNamed = 3

function agentsOf({ report, agents }: Context['data']): readonly string[] {
  if (report.agent_ids === null) return ['All agents of the workspace']
  const number = counted(report.agent_ids.length, 'chosen agent')
  if (report.agent_ids.length > maxNamed || agents.rows.length === 0) return [number]
  return [`${number}: `, ...separated(agents.rows.map(({ name }) => name))]
}

function verdict({ pen, data }: Context): Block {
  const { mark, text } = verdictOf(data)
  const words = pen.text(text, { size: 13, bold: true, color: ink, margin: [0, mark === 'good' ? 6 : 0, 0, 0] })
  return {
    table: { widths: [34, textWidth - 34 - boxSides], body: [[verdictMark(mark), words]] },
    layout: 'box',
    margin: [0, 0, 0, 14],
  }
}

function statement({ pen }: Context, question: string, answer: string): Block {
  return {
    columns: [
      { width: 118, ...pen.text(question, { bold: true, size: 10, color: accent }) },
      { width: '*', ...pen.text(answer, { style: 'prose', size: 10.2 }) },
    ],
    columnGap: 12,
    margin: [0, 0, 0, 9],
  }
}

function keyFigures({ pen, data }: Context): Block {
  const { summary } = data
  const figures = [
    [summary.active_agents, 'active agent', 'active agents'],
    [summary.tasks, 'task', 'tasks'],
    [summary.steps, 'step', 'steps'],
    [summary.violations, 'violation', 'violations'],
    [summary.incidents_opened, 'incident', 'incidents'],
    [summary.ungoverned_agents, 'agent with ungoverned time', 'agents with ungoverned time'],
  ] as const
  const columns = figures.map(([value, one, many]) => figure(pen, count(value), value === 1 ? one : many))
  return {
    stack: [ruleOf(textWidth, hairline, 0.6), { columns, columnGap: 8, margin: [0, 9, 0, 0] }],
    margin: [0, 6, 0, 0],
  }
}
