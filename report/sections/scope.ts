// The scope, the method and the limits of the report, in plain words.

import { accent } from '../charts/colours.js'
import { count, counted, moment, period } from '../content/figures.js'
import { isBySender, logBegan, timesInFull } from '../content/times.js'
import type { Block } from '../pdf/engine.js'
import type { Context, Section } from './section.js'

function beganIn(data: Context['data']): string {
  const began = logBegan(data)
  if (began === null) return ''
  const before = isBySender(data.report)
    ? 'of the time before it, the report has only the steps that were sent later, with their incidents'
    : 'the time before it is not covered'
  return `The log begins on ${moment(began)} UTC; ${before}.`
}

export const scope: Section = { pdf }

function pdf({ pen, data }: Context): readonly Block[] {
  const { report, integrity } = data
  const agents =
    report.agent_ids === null
      ? 'It covers all agents of the workspace.'
      : `It is limited to ${counted(report.agent_ids.length, 'chosen agent')}, whose ids are in the appendix; totals count these agents only.`
  return [
    pen.h1('Scope, method and limits'),
    pen.h2('Scope'),
    pen.prose(
      `This report covers ${period(report.period)}: from ${moment(report.period.from)} UTC inclusive to ${moment(report.period.to)} UTC exclusive.`,
      agents,
      beganIn(data),
      ...(isBySender(report) ? [] : timesInFull(data)),
      `Nothing after entry ${count(integrity.cut_off)} of the log counts; that part of the log was signed on ${moment(report.as_of)} UTC. Names, roles and states are as of then.`,
    ),
    ...(isBySender(report) ? [pen.prose(...timesInFull(data))] : []),
    pen.h2('Method'),
    pen.prose(
      'Agents send each step to the platform, or ask a local engine before the step and send it afterwards. The platform appends the step, the policies that were in force and their results to a log. Each entry is hashed, and all hashes form one tree, which is signed and published every few seconds.',
      `For this report, ${isBySender(report) ? 'every record from one day before the period to the cut-off' : 'every record of the period'} was read and hashed again, and the tree was compared with the signed one. All numbers are counted from these records. The same period, ${isBySender(report) ? 'times, ' : ''}agents and cut-off give the same report, byte for byte.`,
    ),
    pen.h2('Limits'),
    list(pen, [
      'The log shows what was recorded. It cannot show an act of an agent that was never sent to the platform. The section on agents states when an engine reported that nothing was enforced, and when no engine reported.',
      'A whole record was not altered after it was received. That what an agent sent was true is not proven by this.',
      'The results of policies on a step are erased with its content: the log no longer proves what it violated, and such violations follow from the database alone.',
      'That a local engine evaluated a step before it ran is what the sender of the step states. An evaluation by the platform before a step leaves no trace in the log and is not counted.',
      'That policies were enforced on an agent is the report of its engine, sent with the key of the agent: who holds that key can report it falsely. When policies were assigned and waived, what was erased or pruned, and which states an engine reported in an entry that was pruned since, follows from the database of the platform where no entry of the log holds it.',
      'A violation is a violation of a policy that this organization chose. Whether the policies are the right ones is for the reader to evaluate.',
      'Inputs and outputs of steps are not printed. Reasons of violations and notes of people are.',
      'The control matrix lists evidence and gaps. It is not a statement on conformity with any law or standard.',
    ]),
  ]
}

const list = (pen: Context['pen'], items: readonly string[]): Block => ({
  ul: items.map((item) => pen.text(item, { style: 'prose', margin: [0, 0, 0, 4] })),
  markerColor: accent,
  margin: [0, 0, 0, 6],
})
