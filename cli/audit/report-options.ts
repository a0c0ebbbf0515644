// The options of `svc report`, and the name of its file.
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Report } from '@svc/schemas'
import { UsageError } from '../errors.js'

export interface ReportOptions {
  readonly from?: string
  readonly to?: string
  readonly by?: string
  readonly format?: string
  readonly cutOff?: string
  readonly id?: string
  readonly out?: string
  readonly agents: readonly string[]
}

/** True if one of them decides the content, besides the format. */
export function isOfPeriod({ from, to, by, cutOff, agents }: ReportOptions): boolean {
  return [from, to, by, cutOff].some((one) => one !== undefined) || agents.length > 0
}

/** A report can take minutes: its place is checked before. */
export function assertFolder(out: string): void {
  const folder = dirname(out)
  if (!existsSync(folder)) throw new UsageError(`\`--out\` is \`${out}\`: the folder \`${folder}\` does not exist`)
}

/** Such as `report-2026-01-01--2026-01-31.pdf`, and `report-2026-01-01--2026-01-31-occurred.pdf` by the times of senders. */
export function fileNameOf({ from, to, by, format }: Pick<Report, 'from' | 'to' | 'by' | 'format'>): string {
  const last = new Date(Date.parse(to) - 1).toISOString()
  return `report-${from.slice(0, 10)}--${last.slice(0, 10)}${by === 'occurred' ? '-occurred' : ''}.${format}`
}
