import { count, counted, day, share, sortedByCount } from '../content/figures.js'
import { isBySender } from '../content/times.js'
import type { Block } from '../pdf/engine.js'
import type { Context, Section } from './section.js'

const maxRows = 62

export const activity: Section = {
  pdf,
  oscal: {
    at: 'activity',
    title: 'Activity',
    sentences: ({ summary }) => [`${counted(summary.steps, 'step')} in ${counted(summary.tasks, 'task')}.`],
    map: 'step_types',
  },
}

function pdf({ pen, data }: Context): readonly Block[] {
  const { interval, buckets, step_types } = data.activity
  const active = buckets.filter(({ steps, violations, incidents }) => steps + violations + incidents > 0)
  const types = sortedByCount(step_types)
  const quiet = buckets.length - active.length
  return [
    pen.h1('Activity'),
    pen.prose(
      `${isBySender(data.report) ? 'This period has' : 'The log covers'} ${counted(buckets.length, interval)}${isBySender(data.report) ? '' : ' of this period'}${quiet === 0 ? '' : `; ${count(quiet)} of them without a step, a violation or an incident are not listed`}.`,
    ),
    pen.h2(`By ${interval}`),
    pen.table({
      columns: [
        { title: `${interval === 'day' ? 'Day' : `${interval === 'week' ? 'Week' : 'Month'} from`} (UTC)`, width: 4 },
        { title: 'Steps', width: 2, align: 'right' },
        { title: 'Violations', width: 2, align: 'right' },
        { title: 'Incidents', width: 2, align: 'right' },
      ],
      rows: active.map((bucket) => [day(bucket.from), bucket.steps, bucket.violations, bucket.incidents]),
      more: { max: maxRows, what: `${interval}s with activity` },
      empty: 'The period has no step, violation or incident.',
    }),
    pen.h2('Steps by type'),
    pen.table({
      columns: [
        { title: 'Type', width: 5, mono: true },
        { title: 'Steps', width: 2, align: 'right' },
        { title: 'Share', width: 3, align: 'right' },
      ],
      rows: types.map(([type, steps]) => [type, steps, share(steps, data.summary.steps)]),
      more: { max: maxRows, what: 'types of steps' },
      empty: 'The period has no step.',
    }),
  ]
}
