// The file of a report: its name, its type and its parts.
import type { Report } from '@svc/schemas'
import { type Database, withSnapshot } from '../db/db.js'
import type { Scope } from '../db/scope.js'
import { PlatformError } from '../errors.js'
import { readPart } from './store/reports.js'

/** The media type of each format. */
export const reportTypes: Readonly<Record<Report['format'], string>> = {
  pdf: 'application/pdf',
  xml: 'application/xml',
  json: 'application/json',
}

/** A report whose file exists. */
export interface ReadyReport extends Report {
  readonly bytes: number
  readonly sha256: string
}

/** Seconds until a report in progress may be ready. */
export const progressSeconds = 1

/** Throws CONFLICT, with the state, for a report without a file. */
export function assertReady(report: Report): ReadyReport {
  const { status, progress, error, bytes, sha256 } = report
  if (status === 'ready' && bytes !== null && sha256 !== null) return { ...report, bytes, sha256 }
  if (status === 'failed') throw new PlatformError('CONFLICT', `the report failed: ${error ?? 'no reason is known'}`)
  const state = status === 'queued' ? 'waits for its turn' : `is in progress, ${Math.floor(progress * 100)} % done`
  const headers = { 'retry-after': String(progressSeconds) }
  throw new PlatformError('CONFLICT', `the report ${state}: download it when its \`status\` is \`ready\``, { headers })
}

/** The parts of the file, one in memory at a time. Rejects with NOT_FOUND when the report is deleted meanwhile. */
export async function* readParts(db: Database, scope: Scope, { id, sha256, bytes }: ReadyReport) {
  let left = bytes
  for (let part = 0; left > 0; part++) {
    const content = await withSnapshot(db, scope, (tx) => readPart(scope, tx, id, sha256, part))
    if (content === null) throw new PlatformError('NOT_FOUND', 'the report was deleted during the download')
    left -= content.length
    yield content
  }
}

const dayMs = 86_400_000

/** Such as `acme-2026-03-01--2026-03-31.pdf`: the workspace, the first and the last day (UTC), and the times unless they are of receipt. */
export function fileNameOf(workspace: string | null, { from, to, by, format }: Report): string {
  const name = (workspace ?? '')
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 60)
    .replaceAll(/^-|-$/g, '')
  const isMidnight = Date.parse(to) % dayMs === 0
  const last = isMidnight ? new Date(Date.parse(to) - 1).toISOString() : to
  return `${name === '' ? 'report' : name}-${from.slice(0, 10)}--${last.slice(0, 10)}${by === 'occurred' ? '-occurred' : ''}.${format}`
}
