import { count, counted, share } from '../content/figures.js'
import type { Block } from '../pdf/engine.js'
import { textWidth } from '../pdf/style.js'
import type { Context, Section } from './section.js'

/** The summary and its charts are read together. */
const wholePage = 560
const half = (textWidth - 18) / 2

export const summary: Section = { pdf }

function pdf(context: Context): readonly Block[] {
  const { pen, data } = context
  const { summary: totals } = data
  return [
    pen.h1('Summary', wholePage),
    pen.table({
      columns: [
        { title: 'In this period', width: 5 },
        { title: 'Number', width: 1.2, align: 'right' },
        { title: '', width: 4 },
      ],
      rows: [
        [
          'Agents registered before the cut-off',
          totals.agents,
          `${count(totals.active_agents)} with at least one step`,
        ],
        ['Steps', totals.steps, `in ${counted(totals.tasks, 'task')}`],
        [
          'Steps that a local engine evaluated before they ran',
          totals.decided_steps,
          totals.steps === 0 ? '' : `${share(totals.decided_steps, totals.steps)} of steps`,
        ],
        [
          'Steps that violated an enforced policy',
          totals.steps_in_violation,
          totals.steps === 0 ? '' : `${share(totals.steps_in_violation, totals.steps)} of steps`,
        ],
        [
          'Violations',
          totals.violations,
          `${count(totals.enforced)} enforced, ${count(totals.observed)} observed, ${count(totals.waived)} waived`,
        ],
        [
          'Incidents opened',
          totals.incidents_opened,
          `${count(totals.incidents_unanswered)} without an answer at the cut-off`,
        ],
        [
          'Incidents without an end at the cut-off',
          totals.incidents_open,
          `${count(totals.incidents_open_earlier)} from before the period`,
        ],
        [
          'Decisions of local engines without a recorded step',
          totals.unrecorded_decisions,
          totals.unrecorded_decisions === 0 ? '' : `${count(totals.unrecorded_blocked)} to stop the step`,
        ],
        [
          'Approvals asked',
          totals.approvals_asked,
          `${count(totals.approvals_given)} given, ${count(totals.approvals_blocked)} stopped, ${count(totals.approvals_missing)} missing`,
        ],
        ['Agents with ungoverned time', totals.ungoverned_agents, ''],
      ],
      empty: '',
    }),
    ...drawings(context),
  ]
}

function drawings({ pen, data, charts: { activityChart, incidentsChart, stepTypesChart } }: Context): readonly Block[] {
  const { activity, incidents } = data
  if (data.summary.steps === 0 && incidents.counts.length === 0) {
    return [pen.prose('There is nothing to draw: this period has no step and no incident.')]
  }
  const size = { width: textWidth, height: 170 }
  const small = { width: half, height: 150 }
  return [
    captioned(pen, 'Steps and violations over time', { svg: activityChart(activity, size), ...size }),
    {
      columns: [
        incidents.counts.length === 0
          ? { width: half, stack: [caption(pen, 'Incidents by severity'), pen.prose('No incident was opened.')] }
          : {
              width: half,
              ...captioned(pen, 'Incidents by severity and state', {
                svg: incidentsChart(incidents.counts, small),
                ...small,
              }),
            },
        {
          width: half,
          ...captioned(pen, 'Steps by type', { svg: stepTypesChart(activity.step_types, small), ...small }),
        },
      ],
      columnGap: 18,
      margin: [0, 8, 0, 0],
    },
  ]
}

const caption = (pen: Context['pen'], title: string) => pen.text(title, { bold: true, size: 9, margin: [0, 4, 0, 5] })
const captioned = (pen: Context['pen'], title: string, drawing: Block): Block => ({
  stack: [caption(pen, title), drawing],
  unbreakable: true,
})
