import { counted, moment } from '../content/figures.js'
import type { Block } from '../pdf/engine.js'
import type { Context, Section } from './section.js'

export const retention: Section = {
  pdf,
  oscal: {
    at: 'retention',
    title: 'Retention',
    sentences: ({ retention: { days } }) => [`Entries are kept for ${counted(days, 'day')}.`],
  },
}

function pdf({ pen, data, who }: Context): readonly Block[] {
  const { days, holds, erasures, prunes } = data.retention
  return [
    pen.h1('Retention, holds, erasures and deletions'),
    pen.prose(
      `Records are kept for ${counted(days, 'day')}. An erasure removes the content of entries and leaves their hashes; a deletion removes whole tasks after the time of retention, archived first; a hold prevents both.`,
    ),
    pen.h2('Holds'),
    pen.table({
      columns: [
        { title: 'Placed (UTC)', width: 1.9 },
        { title: 'By', width: 2, max: 90 },
        { title: 'Task', width: 1.8, max: 90 },
        { title: 'Reason', width: 2.7, max: 300 },
        { title: 'Released (UTC)', width: 1.9 },
      ],
      rows: holds.rows.map((each) => [
        moment(each.placed_at),
        who(each.placed_by),
        each.task_id ?? 'everything',
        each.reason,
        each.released_at === null ? 'in force' : moment(each.released_at),
      ]),
      more: { count: holds.more, what: 'holds' },
      empty: 'There was no hold.',
    }),
    ...erased({ pen, who, erasures }),
    pen.h2('Deletions after the time of retention'),
    pen.table({
      columns: [
        { title: 'Time (UTC)', width: 1.9 },
        { title: 'By', width: 2.2, max: 90 },
        { title: 'Entries', width: 1.2, align: 'right' },
        { title: 'Before (UTC)', width: 1.9 },
        { title: 'Legal basis', width: 3, max: 300 },
      ],
      rows: prunes.rows.map((each) => [
        moment(each.at),
        who(each.by),
        each.entries,
        moment(each.before),
        each.legal_basis,
      ]),
      more: { count: prunes.more, what: 'deletions' },
      empty: 'No record was deleted in this period.',
    }),
  ]
}

type Erased = Pick<Context, 'pen' | 'who'> & Pick<Context['data']['retention'], 'erasures'>

function erased({ pen, who, erasures }: Erased): Block[] {
  return [
    pen.h2('Erasures'),
    pen.table({
      columns: [
        { title: 'Time (UTC)', width: 1.9 },
        { title: 'By', width: 2.2, max: 90 },
        { title: 'Entries', width: 1.2, align: 'right' },
        { title: 'Tasks', width: 1.2, align: 'right' },
        { title: 'Legal basis', width: 3.7, max: 300 },
      ],
      rows: erasures.rows.map((each) => [moment(each.at), who(each.by), each.entries, each.tasks, each.legal_basis]),
      more: { count: erasures.more, what: 'erasures' },
      empty: 'Nothing was erased in this period.',
    }),
  ]
}
