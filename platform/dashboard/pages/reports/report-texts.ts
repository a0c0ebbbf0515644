// How pages word the state, the format and the period of a report.
import type { Report } from '@svc/schemas'
import { badge, type Html, piece, text, time } from '../../views/html.js'

export const formatTexts: Readonly<Record<Report['format'], string>> = {
  pdf: 'PDF',
  xml: 'OSCAL (XML)',
  json: 'OSCAL (JSON)',
}

export function isInProgress({ status }: Report): boolean {
  return status === 'queued' || status === 'running'
}

export function stateOf({ status, progress }: Report): Html {
  if (status === 'ready') return badge('ready', 'green')
  if (status === 'failed') return badge('failed', 'red')
  if (status === 'queued') return badge('queued')
  const percent = Math.floor(progress * 100)
  return running({ state: badge('in progress', 'blue'), percent })
}

const running = piece(
  '{{state}} <progress class="progress progress-sm" max="100" value="{{percent}}" aria-label="Progress of the report">{{percent}} %</progress>',
)

const dayMs = 86_400_000

/** The first and the last day in UTC; times where the period does not consist of days. */
export function periodOf({ from, to }: Pick<Report, 'from' | 'to'>): Html {
  const [start, end] = [Date.parse(from), Date.parse(to)]
  if (start % dayMs === 0 && end % dayMs === 0) return text(`${dayOf(start)} to ${dayOf(end - dayMs)}`)
  return between({ from: start % dayMs === 0 ? text(dayOf(start)) : time(from), to: time(to) })
}

const between = piece('{{from}} to {{to}}')

/** The day of a time in UTC, such as 2026-01-31. */
export function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}
