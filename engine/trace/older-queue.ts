// The queue of earlier versions: a file in which `+` adds a line and `-3` removes the three oldest.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { readIfThere } from '../files/durable-file.js'

const fileName = 'queue.jsonl'

/** The lines that wait in the folder; the last line of the file may have been cut off by a crash. */
export function readOlderQueue(folder: string): string[] {
  const lines: string[] = []
  let removed = 0
  for (const line of (readIfThere(join(folder, fileName)) ?? '').split('\n').slice(0, -1)) {
    if (line.startsWith('+')) lines.push(line.slice(1))
    else if (line.startsWith('-')) removed += Number(line.slice(1)) || 0
  }
  return lines.slice(removed)
}

export function removeOlderQueue(folder: string): void {
  rmSync(join(folder, fileName), { force: true })
}
