// The verdict as text: the proven facts with the key that signed them, then the findings.
import type { BundleVerdict } from '@svc/schemas'
import { printable } from '../printable.js'
import { receiptsOf } from '../record/issued-report.js'
import type { RestartView } from '../record/restarts.js'
import { sequenceSummary } from '../record/sequence.js'

type Checkpoint = NonNullable<BundleVerdict['checkpoint']>

/** The verdict as lines for a terminal, with what a command adds to it. */
export function verdictText(path: string, verdict: BundleVerdict, added: Addition | null = null): string {
  const { valid, checkpoint, findings } = verdict
  const head = isBundleValid(verdict) ? `valid${valid ? '' : noReport}${added?.head ?? ''}` : 'NOT VALID'
  const lines = [`${printable(path)}: ${head}`, '']
  if (verdict.log !== null && checkpoint !== null)
    lines.push(...facts(verdict, checkpoint), ...(added?.lines ?? []), '')
  for (const { code, where, message } of findings)
    lines.push(`  ✗ ${where === null ? '' : `${where}: `}${message}  [${code}]`)
  if (verdict.more_findings > 0) lines.push(`  ✗ and ${verdict.more_findings} more`)
  if (findings.length > 0) lines.push('')
  return lines.map((line) => `${printable(line)}\n`).join('')
}

const noReport = ', but the report is NOT one that it shows to be issued'

/** True if the bundle is valid: every finding concerns the given report. */
export function isBundleValid({ findings, more_findings }: BundleVerdict): boolean {
  return more_findings === 0 && findings.every(({ code }) => code === 'report_unknown')
}

interface Addition {
  readonly head: string
  readonly lines: readonly string[]
}

function facts(verdict: BundleVerdict, checkpoint: Checkpoint): string[] {
  const { made_at, payloads, since } = verdict
  const mark = isBundleValid(verdict) ? '✓' : '·'
  /** A count of zero confirms nothing. */
  const markOf = (count: number) => (count === 0 ? '–' : mark)
  return [
    ...headLines(verdict),
    ...reportLines(verdict, mark),
    row(mark, 'signed', signedText(checkpoint)),
    row(' ', '', `key fingerprint ${checkpoint.fingerprint}; compare it with one from another channel`),
    row(' ', 'made', `${made_at}, by the clock of the platform`),
    row(markOf(checkpoint.witnesses.length), 'witnesses', witnessText(checkpoint)),
    ...(verdict.container === 'repacked' ? [row('!', 'container', repacked)] : []),
    ...(since === null
      ? []
      : [row(mark, 'since', `the log continues the kept checkpoint of ${count(since, 'entry', 'entries')}`)]),
    row(markOf(Object.keys(verdict.entries).length), 'entries', entryText(verdict)),
    row(mark, 'complete', completeText(verdict)),
    row(markOf(payloads.present), 'payloads', payloadText(payloads)),
    ...verdict.removal_authorizations.map(authorizationText),
    ...verdict.restarts.flatMap(restartLines),
    row(markOf(verdict.tasks.count), 'tasks', taskText(verdict)),
    ...noteLines(verdict),
  ]
}

function row(mark: string, label: string, text: string): string {
  return `  ${mark} ${label.padEnd(11)}${text}`
}

function headLines({ log, workspace, period }: BundleVerdict): string[] {
  const name = workspace === null ? null : `${brief(workspace)} (the platform's name for it; no entry confirms it)`
  return [
    row(' ', 'log', `${log}`),
    ...(name === null ? [] : [row(' ', 'workspace', name)]),
    row(' ', 'period', `${period.from ?? 'the beginning of the log'} to ${period.to ?? 'the last signed entry'}`),
  ]
}

function reportLines({ report, period }: BundleVerdict, mark: string): string[] {
  if (report === null) return []
  const { id, format, from, to, log_index, by = 'received' } = report
  const receipts = receiptsOf({ from, to, by })
  // By the times that senders state, a bundle of everything since the first receipt holds the entries of the report.
  const other = period.from !== receipts.from || (receipts.to !== null && period.to !== receipts.to)
  const times = by === 'received' ? '' : ', by the times that senders state'
  return [
    row(mark, 'report', `the file is report ${brief(id)} (${brief(format)}) exactly as it was issued`),
    row(' ', '', `for ${from} to ${to}${times}; entry ${log_index} of the log holds its SHA-256`),
    ...(other
      ? [row('!', '', 'the bundle has another period than the report: get its own with `svc bundle --report ID`')]
      : []),
  ]
}

function signedText({ size, root, key }: Checkpoint): string {
  const name = /^[^+]*\+[0-9a-f]{8}/.exec(key)?.[0]
  return `${count(size, 'entry', 'entries')}, root ${root.slice(0, 16)}…, by ${name}`
}

function witnessText({ witnesses, named_witnesses, quorum }: Checkpoint): string {
  const page = '(see docs/auditors.md, split view)'
  if (named_witnesses === 0) return `none: the trust policy names no witness ${page}`
  if (witnesses.length === 0) return `none: no witness that the trust policy names has signed ${page}`
  const seen = witnesses.map(({ name, time }) => `${name} at ${time}`).join(', ')
  return quorum === null ? seen : `${seen} (required: ${quorum})`
}

const repacked = 'packed again by another program: the files are the signed ones, the zip around them is not'

function entryText({ entries }: BundleVerdict): string {
  const kinds = Object.entries(entries).sort(([, a], [, b]) => b - a)
  const total = kinds.reduce((sum, [, number]) => sum + number, 0)
  return total === 0
    ? 'none in this period'
    : `${total}: ${kinds.map(([kind, number]) => `${number} ${kind}`).join(', ')}`
}

const starts = {
  neighbour: 'the entry before the first is older than the period',
  log_begins: 'the log begins here',
  pruned_before: 'all earlier entries were pruned',
  unproven: 'the start is not proven',
} as const
const ends = {
  neighbour: 'the entry after the last is newer than the period',
  as_signed: 'the last entry is the last signed one',
  unproven: 'the end is not proven',
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
  // The last signature may be older than the end of the period, and only a witness states when it saw the checkpoint.
  const isOver = to === null || (checkpoint?.witnesses ?? []).some(({ time }) => time >= to)
  const caution = end === 'as_signed' && !isOver ? ', but no witness shows that the period was over' : ''
  return `${starts[start]}; ${ends[end]}${caution}`
}

function payloadText({ present, erased, pruned }: BundleVerdict['payloads']): string {
  const missing = `${erased > 0 ? `, ${erased} erased` : ''}${pruned > 0 ? `, ${pruned} pruned` : ''}`
  return `${present} ${present === 1 ? 'matches its commitments' : 'match their commitments'}${missing}`
}

function authorizationText({
  type,
  id,
  by,
  at,
  reason,
  entries,
}: BundleVerdict['removal_authorizations'][number]): string {
  const done = type === 'erasure' ? 'erased' : 'pruned'
  return `    ${entries} ${done}, authorized by ${brief(by)} on ${brief(at)}: ${brief(reason)} (${brief(id)})`
}

const restOfLog = {
  unchanged: 'the others are as signed',
  changed: 'some of the others have changed',
  not_shown: 'this bundle does not show whether the others are as signed',
} as const

function restartLines({ log_index, old_size, kept_size, gone, left, by, at, reason }: RestartView): string[] {
  const lost = `${gone} of the ${count(old_size, 'entry', 'entries')} that were signed before are gone`
  const compared =
    kept_size === null ? '' : `; the first ${Math.min(kept_size, old_size)} were as signed at the restart`
  return [
    row('!', 'restarted', `at entry ${log_index} by ${brief(by)} on ${brief(at)}: ${brief(reason)}`),
    `    ${lost}; ${restOfLog[left]}${compared}`,
  ]
}

function taskText(verdict: BundleVerdict): string {
  const { tasks } = verdict
  const earlier = tasks.began_earlier > 0 ? `, ${tasks.began_earlier} of which began earlier` : ''
  return `${count(tasks.count, 'chain', 'chains')}${isBundleValid(verdict) ? ' intact' : ''}${earlier}`
}

function noteLines({ unsigned_logs, new_keys, tasks }: BundleVerdict): string[] {
  return [
    ...unsigned_logs.map(
      (name) =>
        `    the trust policy has no key of ${name}, an earlier epoch of this log: its signatures are not verified`,
    ),
    ...new_keys.map((key) => `    the log signs with a new key; for your trust policy: log ${key}`),
    ...sequenceLines(tasks),
  ]
}

/** Text of the log on one line of the verdict. */
function brief(text: string): string {
  const plain = text.replaceAll(/\s+/g, ' ')
  return plain.length > maxQuoteLength ? `${plain.slice(0, maxQuoteLength)}…` : plain
}

const maxQuoteLength = 200

function sequenceLines({ out_of_sequence, after_end, issues }: BundleVerdict['tasks']): string[] {
  const line = (tasks: number, text: string | null) =>
    tasks === 0 ? [] : [`    ${count(tasks, 'task has', 'tasks have')} ${text}`]
  return [...line(out_of_sequence, sequenceSummary(issues, false)), ...line(after_end, sequenceSummary({}, true))]
}

function count(number: number, one: string, many: string): string {
  return `${number} ${number === 1 ? one : many}`
}
