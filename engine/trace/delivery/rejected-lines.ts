// Lines that the receiver does not take, beside the journal with the reason of each, for people.
import { closeSync, fstatSync, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openingOwn } from '../../files/durable-file.js'
import type { RejectedLine } from './sender.js'

/** Bytes; further lines are only counted. */
export const maxRejectedBytes = 16 * 1024 * 1024

/** Keeps lines in `rejected.jsonl` of the folder; null keeps none. Each kind of problem is reported once. Never throws. */
export function keepRejected(folder: string | null, clock: () => number, report: (line: string) => void) {
  const path = folder === null ? null : join(folder, 'rejected.jsonl')
  const reported = new Set<string>()
  const reportOnce = (line: string) => {
    if (!reported.has(line)) report(line)
    reported.add(line)
  }
  const keep = (file: number, lines: readonly RejectedLine[]) => {
    const rejected_at = new Date(clock()).toISOString()
    let { size } = fstatSync(file)
    for (const { problem, detail, bytes } of lines) {
      const text = `${JSON.stringify({ rejected_at, problem, detail, line: bytes.toString() })}\n`
      size += Buffer.byteLength(text)
      if (size > maxRejectedBytes)
        return reportOnce(`\`${path}\` is full: further rejected lines are only counted; move the file away`)
      writeFileSync(file, text)
    }
  }
  return (lines: readonly RejectedLine[]) => {
    for (const { problem } of lines) reportOnce(path === null ? problem : `${problem}: the reason is in \`${path}\``)
    if (path === null || lines.length === 0) return
    try {
      const file = openSync(path, openingOwn.append, 0o600)
      try {
        keep(file, lines)
      } finally {
        closeSync(file)
      }
    } catch (error) {
      reportOnce(`\`${path}\` cannot be written: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
}
