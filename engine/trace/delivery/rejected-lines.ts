// Lines that the receiver does not take, beside the journal with the reason of each, for people.
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { openingOwn } from '../../files/durable-file.js'
import type { RejectedLine } from './sender.js'

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
  const keep = async (file: string, { problem, detail, bytes }: RejectedLine) => {
    const rejected_at = new Date(clock()).toISOString()
    const text = `${JSON.stringify({ rejected_at, problem, detail, line: bytes.toString() })}\n`
    const opened = await open(file, openingOwn.append, 0o600)
    try {
      const { size } = await opened.stat()
      if (size + text.length <= maxRejectedBytes) await opened.writeFile(text)
      else reportOnce(`\`${file}\` is full: further rejected lines are only counted; move the file away`)
    } finally {
      await opened.close()
    }
  }
  /** One line after the other, so that a request that comes meanwhile waits for one of them only. */
  return async (lines: readonly RejectedLine[]) => {
    for (const line of lines) {
      reportOnce(path === null ? line.problem : `${line.problem}: the reason is in \`${path}\``)
      try {
        if (path !== null) await keep(path, line)
      } catch (error) {
        reportOnce(`\`${path}\` cannot be written: ${error instanceof Error ? error.message : String(error)}`)
      }
    }
  }
}
