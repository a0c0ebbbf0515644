// The times that decide what a report counts, in words: for page 1, the section on scope, and the other formats.
import { are, count, counted, joined, moment } from './figures.js'
import type { ReportData, ReportHead } from './report-data.js'

type Times = Pick<ReportData, 'report' | 'summary'>

/** True if steps count by the time that their sender states. */
export const isBySender = ({ by }: Pick<ReportHead, 'by'>): boolean => by === 'occurred'

/** The begin of the log, if the period or a part of it came before. */
export function logBegan({ report: { log_began, period } }: Pick<ReportData, 'report'>): string | null {
  return log_began !== null && log_began > period.from ? log_began : null
}

/** True if the log had no entry before the end of the period. */
export function isBeforeLog({ report, integrity }: Pick<ReportData, 'report' | 'integrity'>): boolean {
  return integrity.entries.end === 0 || (report.log_began !== null && report.log_began >= report.period.to)
}

/** The times that decide, and the number of counted steps whose other time is outside of the period. */
export function timesOfSteps({ report, summary }: Times): string {
  const { steps, steps_outside: number, outside } = summary
  if (isBySender(report)) return joined(bySender, receivedOutside(report, summary))
  if (steps === 0) return ''
  if (outside === null) return 'Times are times of receipt.'
  const when =
    outside.first === outside.last ? moment(outside.first) : `${moment(outside.first)} to ${moment(outside.last)}`
  return `Times are times of receipt: ${count(number)} of ${counted(steps, 'step')} ${are(number, 'claims', 'claim')} a time outside the period (${when} UTC).`
}

const bySender = 'Steps count by the time that their sender stated; the log does not prove that time.'

function receivedOutside(report: ReportHead, { steps, steps_outside: number, outside }: ReportData['summary']): string {
  if (steps === 0) return ''
  if (outside === null) return 'All of them were received in the period.'
  const which = `${count(number)} of ${counted(steps, 'step')} ${are(number, 'was', 'were')} received`
  if (outside.first >= report.period.to) return `${which} after the period, until ${moment(outside.last)} UTC.`
  return `${which} before or after the period, from ${moment(outside.first)} to ${moment(outside.last)} UTC.`
}

/** The meaning of the times of a report, for the section on scope. */
export function timesInFull(data: Times): readonly string[] {
  if (!isBySender(data.report))
    return ['Times are times of receipt by the platform: a step that claims another time counts when it was received.']
  return [
    joined(timesOfSteps(data), 'A step without a readable time counts by the time of its receipt.'),
    'An incident that a step opened counts with that step, also if it was opened later; further violations of the same policy in the same task count on the same incident. Other incidents, answers, decisions without a step, changes, erasures and the time without enforcement count by the time of receipt.',
    'Steps that were received more than one day before the period are not read: one that claims a time in the period does not count.',
  ]
}
