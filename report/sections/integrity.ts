// The integrity statement: what was verified, what failed, and what can be evaluated again.
import type { RejudgeReason } from '@svc/engine/parts'
import { count, counted, moment, sentence, share, sortedByCount } from '../content/figures.js'
import type { Integrity, ReportData } from '../content/report-data.js'
import { isBySender } from '../content/times.js'
import { named } from '../controls/sentences.js'
import type { Block } from '../pdf/engine.js'
import { type Context, type Described, observedList, type Section } from './section.js'

const maxCheckpoints = 20

export const integrity: Section = {
  pdf,
  oscal: {
    at: 'integrity',
    title: 'Integrity of the record',
    sentences: ({ integrity: { verdict, rehashed, cut_off } }) => [
      verdict === 'whole' ? 'The record is whole.' : 'The verification of the record found problems.',
      `${counted(rehashed, 'record')} hashed again; the signed tree has ${counted(cut_off, 'entry', 'entries')}.`,
    ],
    map: 'leaves',
    list: observedList('problems.rows', ({ integrity: { problems } }) => problems.rows, problem),
  },
}

function pdf({ pen, data }: Context): readonly Block[] {
  const { integrity: found, report } = data
  const bySender = isBySender(report)
  return [
    pen.h1('Integrity statement'),
    statement(pen, found, bySender),
    pen.h2('The signed log'),
    checkpoint(pen, found),
    pen.h2('Problems'),
    problems(pen, found),
    pen.h2(bySender ? 'Entries that were read, by type' : 'Entries of the period by type'),
    entries(pen, found),
    pen.h2('What can be evaluated again'),
    ...rejudge(pen, found),
    pen.h2('Checkpoints published in the period'),
    checkpoints(pen, found),
  ]
}

type Pen = Context['pen']

function statement(
  pen: Pen,
  { verdict, entries: range, rehashed, erased, pruned }: Integrity,
  bySender: boolean,
): Block {
  const what = bySender ? 'record that this report reads' : 'record of this period'
  const total = range.end - range.first
  const outcome =
    verdict === 'whole'
      ? `The ${what} is whole: every record was read and hashed again, and the tree that the hashes form is the one that was signed.`
      : `The ${what} is not whole: the problems below were found. Figures of this report that rest on the entries concerned cannot be relied on.`
  const where = bySender ? 'The log from one day before the period to the cut-off' : 'The period'
  const size =
    total === 0
      ? `${where} has no entries.`
      : `${where} has ${counted(total, 'entry', 'entries')}: log indexes ${count(range.first)} to ${count(range.end - 1)}. ${sentence(counted(rehashed, 'record'))} ${rehashed === 1 ? 'was' : 'were'} hashed again.`
  const gone = `The content of ${counted(erased, 'entry', 'entries')} was erased, and ${counted(pruned, 'record')} ${pruned === 1 ? 'was' : 'were'} deleted after the time of retention; their hashes remain in the tree.`
  return pen.prose(outcome, size, erased + pruned === 0 ? 'Nothing of it was erased or deleted.' : gone)
}

function checkpoint(pen: Pen, { checkpoint: signed }: Integrity): Block {
  const keys = signed.keys.map(({ name, fingerprint }) => `${fingerprint} (${name})`).join(', ')
  return pen.table({
    columns: [
      { title: 'Checkpoint of the cut-off', width: 2.2 },
      { title: '', width: 7.8, mono: true, max: 700 },
    ],
    rows: [
      ['Origin', signed.origin],
      ['Size', count(signed.size)],
      ['Root', signed.root],
      ['Published', `${moment(signed.published_at)} UTC`],
      ['Key fingerprint', keys === '' ? 'unknown' : keys],
    ],
    empty: '',
  })
}

function problems(pen: Pen, { problems: found, verdict }: Integrity): Block {
  return pen.table({
    columns: [
      { title: 'Code', width: 2.6, mono: true, max: 120 },
      { title: 'Log index', width: 1.4, align: 'right' },
      { title: 'What was found', width: 6, max: 500 },
    ],
    rows: found.rows.map(({ code, log_index, message }) => [code, log_index, message]),
    more: { count: found.more, what: 'problems' },
    empty: verdict === 'whole' ? 'Nothing failed verification.' : 'The verification failed, and no entry was named.',
  })
}

function entries(pen: Pen, { leaves, entries: range }: Integrity): Block {
  const total = range.end - range.first
  const rows = sortedByCount(leaves)
  return pen.table({
    columns: [
      { title: 'Type of entry', width: 5, mono: true, max: 120 },
      { title: 'Entries', width: 2, align: 'right' },
      { title: 'Share', width: 3, align: 'right' },
    ],
    rows: rows.map(([type, number]) => [type, number, share(number, total)]),
    empty: 'There are no entries.',
  })
}

const reasons: Readonly<Record<RejudgeReason, string>> = {
  payload_erased: 'The content of the step, or of an earlier step of its task, was erased.',
  record_pruned: 'The record was deleted after its time of retention; an archive of the platform holds it.',
  task_began_earlier: 'The task began before the period, so its earlier steps are not in the bundle.',
  agent_facts_unknown: 'The log does not hold how the agent was registered.',
  policy_set_missing: 'The policies that were in force are not kept.',
  policy_set_unreadable: 'The policies that were in force cannot be read.',
  policy_unknown: 'This version of svc rejects one of the policies; the version of the platform accepts it.',
  reads_memory: 'The step read notes that the agent wrote before the period.',
  over_limit: 'Too many tasks ran at once, or their policies changed too often.',
  step_unreadable: 'The step is not one that a platform accepts.',
}

function rejudge(pen: Pen, { rejudge: { steps, possible, others } }: Integrity): Block[] {
  if (steps === 0) return [pen.prose('No step was read, so there is no verdict to evaluate again.')]
  const left = steps - possible
  const intro = pen.prose(
    `From the bundle of this report, ${counted(possible, 'step')} of ${count(steps)} (${share(possible, steps, Math.floor)}) can be evaluated again offline, with the policies and the history that each step had; “svc verify --rejudge” compares each verdict with the recorded one.`,
    left === 0 ? '' : `The other ${counted(left, 'step')} cannot, for these reasons:`,
  )
  if (left === 0) return [intro]
  return [
    intro,
    pen.table({
      columns: [
        { title: 'Reason', width: 2.6, mono: true, max: 120 },
        { title: 'Steps', width: 1.4, align: 'right' },
        { title: 'In words', width: 6 },
      ],
      rows: others.map(({ reason, steps: number }) => [reason, number, reasons[reason]]),
      empty: 'The reasons are not known.',
    }),
  ]
}

function checkpoints(pen: Pen, { checkpoints: published }: Integrity): Block {
  const rows = published.rows.slice(-maxCheckpoints)
  return pen.table({
    columns: [
      { title: 'Published (UTC)', width: 2.4 },
      { title: 'Size', width: 1.4, align: 'right' },
      { title: 'Root', width: 6.2, mono: true },
    ],
    rows: rows.map(({ size, root, published_at }) => [moment(published_at), size, root]),
    more: { count: published.more + published.rows.length - rows.length, what: 'checkpoints, the latest ones' },
    empty: 'No checkpoint was published in the period; the one of the cut-off was published after it.',
  })
}

function problem({ code, message }: ReportData['integrity']['problems']['rows'][number]): Described {
  return { title: `Problem of the record: ${named(code)}`, description: [message], type: 'finding' }
}
