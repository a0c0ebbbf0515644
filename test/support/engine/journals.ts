// Journals in a folder of their own, closed after each test and removed with the folder after all.
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, expect } from 'vitest'
import { type Journal, openJournal } from '../../../engine/trace/journal/journal.js'

export const journalLimits = { max_bytes: 100_000, reserved_bytes: 0, kept_bytes: 100_000, file_bytes: 64 }

/** For a test file: `opened` opens the journal of a name in `parent`, with what it reports and its files. */
export function journals() {
  const parent = mkdtempSync(join(tmpdir(), 'svc-journal-'))
  const open: Journal[] = []
  afterAll(() => rmSync(parent, { recursive: true, force: true }))
  afterEach(async () => {
    for (const journal of open.splice(0)) await journal.close().catch(() => undefined)
  })
  const opened = (name: string, more: Partial<typeof journalLimits> = {}) => {
    const reports: string[] = []
    const journal = openJournal(parent, name, { ...journalLimits, ...more }, (line) => reports.push(line))
    open.push(journal)
    return Object.assign(journal, { reports, files: () => segmentsOf(join(parent, name)) })
  }
  /** What a process that was killed leaves: a lock of a process that has ended. */
  const kill = (name: string) => writeFileSync(join(parent, name, 'lock'), '999999999 1')
  return { parent, opened, kill }
}

export function segmentsOf(folder: string): string[] {
  return readdirSync(folder).filter((file) => /^\d+\.jsonl$/.test(file))
}

export async function allLines(journal: Journal): Promise<string[]> {
  return (await journal.first(1_000_000, Number.POSITIVE_INFINITY)).map(String)
}

export function linesOf(from: number, to: number): string[] {
  return Array.from({ length: to - from }, (_, index) => `{"n":${from + index}}`)
}

export async function addAll(journal: Journal, lines: readonly string[]): Promise<void> {
  for (const line of lines) {
    expect(journal.add(line)).toBe(true)
    await journal.settled()
  }
}

export async function removeFirst(journal: Journal, count: number): Promise<void> {
  await journal.first(count, Number.POSITIVE_INFINITY)
  journal.remove(count)
}
