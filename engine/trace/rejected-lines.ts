// Lines that the receiver does not take, beside the journal with the reason of each, for people.
import { closeSync, constants, openSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RejectedLine } from './sender.js'

const { O_APPEND, O_CREAT, O_WRONLY, O_NOFOLLOW } = constants
/** Bytes; further lines are only counted. */
export const maxRejectedBytes = 16 * 1024 * 1024

/** Keeps lines in `rejected.jsonl` of the folder; null keeps none. Each kind of problem is reported once. Never rejects. */
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
    const file = openSync(path, O_APPEND | O_CREAT | O_WRONLY | (O_NOFOLLOW ?? 0), 0o600)
    try {
      writeFileSync(file, text)
    } finally {
      closeSync(file)
    }
  }
  return (line: string, { problem, detail }: Rejection) => {
    reportOnce(path === null ? problem : `${problem}: the reason is in \`${path}\``)
    const rejected_at = new Date(clock()).toISOString()
    const text = `${JSON.stringify({ rejected_at, problem, detail, line: bytes.toString() })}\n`
    const { size } = await stat(file).catch(() => ({ size: 0 }))
    if (size + text.length <= maxRejectedBytes) await appendFile(file, text, { mode: 0o600 })
    else reportOnce(`\`${file}\` is full: further rejected lines are only counted; move the file away`)
  }
  /** One line after the other, so that a request that comes meanwhile waits for one of them only. */
  return async (lines: readonly RejectedLine[]) => {
    for (const line of lines) {
      reportOnce(path === null ? line.problem : `${line.problem}: the line and the reason are in \`${path}\``)
      try {
        if (path !== null) await keep(path, line)
      } catch (error) {
        reportOnce(`\`${path}\` cannot be written: ${error instanceof Error ? error.message : String(error)}`)
      }
    }
  }
}
