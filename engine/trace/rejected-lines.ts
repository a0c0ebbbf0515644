// Lines that the platform does not take, beside the journal with the reason of each, for people.
import { appendFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Rejection } from './sender.js'

/** Bytes; further lines are only counted. */
export const maxRejectedBytes = 16 * 1024 * 1024

/** Keeps lines in `rejected.jsonl` of the folder; null keeps none. Each kind of problem is reported once. */
export function keepRejected(folder: string | null, clock: () => number, report: (line: string) => void) {
  const path = folder === null ? null : join(folder, 'rejected.jsonl')
  const reported = new Set<string>()
  const reportOnce = (line: string) => {
    if (!reported.has(line)) report(line)
    reported.add(line)
  }
  const keep = (text: string) => {
    if (path === null) return
    const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
    if (size + text.length > maxRejectedBytes) {
      reportOnce(`\`${path}\` is full: further rejected lines are only counted; move the file away`)
      return
    }
    appendFileSync(path, text, { mode: 0o600 })
  }
  return (line: string, { problem, detail }: Rejection) => {
    reportOnce(path === null ? problem : `${problem}: the line and the reason are in \`${path}\``)
    const rejected_at = new Date(clock()).toISOString()
    try {
      keep(`${JSON.stringify({ rejected_at, problem, detail, line })}\n`)
    } catch (error) {
      reportOnce(`\`${path}\` cannot be written: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
}
