// A verdict in words: what was proven, against whose signature, and what does not hold.
import type { BundleVerdict } from '@svc/schemas'
import { printable } from '../printable.js'
import type { RestartView } from '../record/restarts.js'

/** The verdict as lines for a terminal. */
export function verdictText(path: string, verdict: BundleVerdict): string {
  const { valid, checkpoint, findings } = verdict
  const lines = [`${printable(path)}: ${valid ? 'everything in it holds' : 'NOT VALID'}`, '']
  if (verdict.log !== null && checkpoint !== null) lines.push(...facts(verdict, checkpoint), '')
  for (const { code, where, message } of findings)
    lines.push(`  ✗ ${where === null ? '' : `${where}: `}${message}  [${code}]`)
  if (verdict.more_findings > 0) lines.push(`  ✗ and ${verdict.more_findings} more`)
  if (findings.length > 0) lines.push('')
  return lines.map((line) => `${printable(line)}\n`).join('')
}

function facts(verdict: BundleVerdict, checkpoint: NonNullable<BundleVerdict['checkpoint']>): string[] {
  const { log, workspace, made_at, period, payloads, removals, tasks, valid, new_keys, unsigned_logs, since } = verdict
  const mark = valid ? '✓' : '·'
  /** What there is none of is not confirmed either. */
  const markOf = (count: number) => (count === 0 ? '–' : mark)
  const kinds = Object.keys(verdict.entries).length
  return [
    `  log         ${log}`,
    ...(workspace === null
      ? []
      : [`  workspace   ${brief(workspace)} (as the platform named it; no entry confirms it)`]),
    `  period      ${period.from ?? 'its beginning'} to ${period.to ?? 'its last signed entry'}`,
    `  ${mark} signed    ${count(checkpoint.size, 'entry', 'entries')}, root ${checkpoint.root.slice(0, 16)}…, by ${/^[^+]*\+[0-9a-f]{8}/.exec(checkpoint.key)?.[0]}`,
    `              key fingerprint ${checkpoint.fingerprint}, to compare with one that you have by another way`,
    `  made        ${made_at}, by the clock of the platform`,
    `  ${markOf(checkpoint.witnesses.length)} witnesses ${witnessText(checkpoint)}`,
    ...(verdict.container === 'repacked'
      ? [
          '  ! container it was unpacked and packed again: the files are those that were signed, the zip around them is not',
        ]
      : []),
    ...(since === null
      ? []
      : [`  ${mark} since     it grew out of the ${count(since, 'entry', 'entries')} that you kept`]),
    `  ${markOf(kinds)} entries   ${entryText(verdict)}`,
    `  ${mark} complete  ${completeText(verdict)}`,
    `  ${markOf(payloads.present)} payloads  ${payloads.present} are what was committed to${gone(payloads)}`,
    ...removals.map(removalText),
    ...verdict.restarts.flatMap(restartText),
    `  ${markOf(tasks.count)} tasks     ${count(tasks.count, 'chain', 'chains')} whole${tasks.began_earlier > 0 ? `, of which ${tasks.began_earlier} began earlier` : ''}`,
    ...unsigned_logs.map(
      (name) =>
        `    the trust policy has no key of ${name}, out of which this log grew: who signed for that is not checked`,
    ),
    ...new_keys.map((key) => `    the log signs with a new key, for your trust policy: log ${key}`),
    ...(tasks.out_of_sequence > 0 ? [`    ${orderText(tasks)}`] : []),
  ].map((line) => (valid ? line : line.replace(' whole', '')))
}

function witnessText({ witnesses, named_witnesses, quorum }: NonNullable<BundleVerdict['checkpoint']>): string {
  const page = '(see docs/auditors.md, split view)'
  if (named_witnesses === 0) return `none: the trust policy names no witness ${page}`
  if (witnesses.length === 0) return `none: no witness that the trust policy names has signed ${page}`
  const seen = witnesses.map(({ name, time }) => `${name} at ${time}`).join(', ')
  return quorum === null ? seen : `${seen} (asked for: ${quorum})`
}

function entryText({ entries }: BundleVerdict): string {
  const kinds = Object.entries(entries).sort(([, a], [, b]) => b - a)
  const total = kinds.reduce((sum, [, number]) => sum + number, 0)
  return total === 0
    ? 'none in this period'
    : `${total}: ${kinds.map(([kind, number]) => `${number} ${kind}`).join(', ')}`
}

const starts = {
  neighbour: 'the entry before the first is from before the period',
  log_begins: 'the log begins here',
  pruned_before: 'everything before was pruned',
  unproven: 'not shown at the start',
} as const
const ends = {
  neighbour: 'the entry after the last is from after it',
  as_signed: 'the last entry is the last that was signed for',
  unproven: 'not shown at the end',
} as const

function completeText({
  complete: { start, end },
  period: { to },
  checkpoint,
  made_at,
  covers_to,
}: BundleVerdict): string {
  if (end === 'as_signed' && to !== null && made_at !== null && made_at < to)
    return `${starts[start]}; covers up to ${covers_to ?? 'no entry'}; the period had not ended`
  // The last signature may be older than the end of the period, and only a witness says when it was made.
  const isOver = to === null || (checkpoint?.witnesses ?? []).some(({ time }) => time >= to)
  const caution = end === 'as_signed' && !isOver ? ', and no witness shows that the period was over by then' : ''
  return `${starts[start]}; ${ends[end]}${caution}`
}

function gone({ erased, pruned }: BundleVerdict['payloads']): string {
  return `${erased > 0 ? `, ${erased} erased` : ''}${pruned > 0 ? `, ${pruned} pruned` : ''}`
}

function removalText({ type, id, by, at, reason, entries }: BundleVerdict['removals'][number]): string {
  const done = type === 'erasure' ? 'erased' : 'pruned'
  return `    ${entries} ${done}, authorised by ${brief(by)} on ${brief(at)}: ${brief(reason)} (${brief(id)})`
}

const ofThoseLeft = {
  unchanged: 'the others are as they were signed',
  changed: 'of the others some have changed',
  not_shown: 'this bundle does not show whether the others are as they were signed',
} as const

function restartText({ log_index, old_size, kept_size, gone, left, by, at, reason }: RestartView): string[] {
  const lost = `${gone} of the ${count(old_size, 'entry', 'entries')} that were signed for before are gone`
  const compared =
    kept_size === null ? '' : `; the first ${Math.min(kept_size, old_size)} were as signed when it was restarted`
  return [
    `  ! restarted at entry ${log_index} by ${brief(by)} on ${brief(at)}: ${brief(reason)}`,
    `    ${lost}; ${ofThoseLeft[left]}${compared}`,
  ]
}

/** Somebody's words on one line among ours. */
function brief(text: string): string {
  const plain = text.replaceAll(/\s+/g, ' ')
  return plain.length > longestWords ? `${plain.slice(0, longestWords)}…` : plain
}

const longestWords = 200

const issueNames: Readonly<Record<string, string>> = {
  out_of_order: 'steps that arrived late',
  gap: 'steps that never arrived',
  duplicate_step: 'step numbers claimed twice',
  no_start: 'no START_NODE',
  after_end: 'steps after the end',
  client_prev_mismatch: 'senders that knew another entry',
}

function orderText({ out_of_sequence, issues }: BundleVerdict['tasks']): string {
  const found = Object.entries(issues).map(([code, number]) => `${number} ${issueNames[code] ?? code}`)
  return `in ${out_of_sequence} of them steps did not arrive as numbered (${found.join(', ')}); that is no tampering`
}

function count(number: number, one: string, many: string): string {
  return `${number} ${number === 1 ? one : many}`
}
