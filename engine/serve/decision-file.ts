// Decisions that wait for their steps, on disk, so that a restart does not forget them. Nothing of it is on the path of an
// evaluation; recording a step that has waited for long writes one short line.
import { closeSync, fstatSync, ftruncateSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { parseJson } from '@svc/proof'
import { openingOwn, readIfThere, replaceFile, replaceUnflushed } from '../files/durable-file.js'
import { type HeldFolder, holdFolder, leftFolders } from '../trace/journal-folders.js'
import { keyOf, type OpenDecision, type WaitingDecision } from './open-decision.js'

export interface DecisionFile {
  /** What earlier processes left, the one that has waited longest first. */
  readonly read: () => readonly OpenDecision[]
  /** `more`: others follow at once. */
  readonly add: (decisions: ReadonlyMap<string, OpenDecision>, more: boolean) => void
  /** At once, or with what is added next. */
  readonly remove: (key: string, at_once: boolean) => void
  /** Writes these, and gives the folder free. */
  readonly close: (open: ReadonlyMap<string, OpenDecision>) => void
}

/** Lines beyond those that are needed before the file is written anew. */
const maxSpareLines = 1000
const fileName = 'open.jsonl'

/** The file in the first folder that no other process holds; null, and a line for the operator, when there is none. */
export function openDecisionFile(data_folder: string, report: (line: string) => void): DecisionFile | null {
  const own = holdFolder(data_folder, 'decisions')
  if (own === null) {
    report(`no folder below \`${data_folder}\` can be used: decisions that wait for their steps end with this process`)
    return null
  }
  const ended = leftFolders(data_folder, 'decisions', own.folder)
  const left = [own, ...ended].flatMap(({ folder }) => decisionsIn(folder, report))
  const { file, is_written } = decisionFile(own, left, report)
  for (const { folder, release } of ended) {
    if (is_written) rmSync(join(folder, fileName), { force: true })
    release()
  }
  return file
}

function decisionFile(own: HeldFolder, left: readonly OpenDecision[], report: (line: string) => void) {
  const path = join(own.folder, fileName)
  /** The line of each action in the file. */
  const saved = new Map<string, string>()
  /** Lines that take others back, to be written. */
  let removed: string[] = []
  const file = appendedFile(path)
  const attempt = attempts(path, report)
  const keep = (decisions: ReadonlyMap<string, OpenDecision>) => {
    for (const [key, decision] of decisions) saved.set(key, lineOf(decision))
  }
  const rewrite = () => {
    attempt.act(() => {
      own.renew()
      file.rewrite([...saved.values()])
    })
  }
  /** INVARIANT (whole or written anew): after a failure the end of the file may be cut off, and nothing is appended to it. */
  const append = (lines: readonly string[]) => {
    if (lines.length > 0 && !attempt.isFailing()) attempt.act(() => file.append(lines))
  }
  const writeRemoved = () => {
    if (removed.length > 0 && saved.size === 0 && !attempt.isFailing()) attempt.act(file.empty)
    else append(removed)
    removed = []
  }
  const sorted = left.toSorted((one, other) => one.at - other.at)
  if (left.length > 0) {
    keep(new Map(sorted.map((decision) => [keyOf(decision), decision])))
    rewrite()
  }
  const made: DecisionFile = {
    read: () => sorted,
    add: (decisions, more) => {
      writeRemoved()
      keep(decisions)
      append([...decisions.keys()].map((key) => saved.get(key) ?? ''))
      if (attempt.isFailing() ? !more : file.lines() > 2 * saved.size + maxSpareLines) rewrite()
    },
    remove: (key, at_once) => {
      if (!saved.delete(key)) return
      removed.push(`-${key}\n`)
      if (at_once) writeRemoved()
    },
    close: (open) => {
      attempt.act(() => {
        file.close()
        own.renew()
        replaceFile(path, [...open.values()].map(lineOf).join(''))
      })
      attempt.act(own.release)
    },
  }
  return { file: made, is_written: !attempt.isFailing() }
}

/** What is written survives a crash of the process, and not one of the machine: flushing it would block the event loop. */
function appendedFile(path: string) {
  let file: number | null = null
  let lines = 0
  const close = () => {
    if (file !== null) closeSync(file)
    file = null
  }
  const opened = () => {
    file ??= openSync(path, openingOwn.append, 0o600)
    if (fstatSync(file).nlink > 0) return file
    close()
    throw new Error('another program has removed it')
  }
  return {
    lines: () => lines,
    append: (added: readonly string[]) => {
      writeAll(opened(), added.join(''))
      lines += added.length
    },
    empty: () => {
      ftruncateSync(opened())
      lines = 0
    },
    rewrite: (all: readonly string[]) => {
      replaceUnflushed(path, all.join(''))
      close()
      lines = all.length
    },
    close,
  }
}

/** The first failure is reported, and the first success after it: the decisions are in memory meanwhile. */
function attempts(path: string, report: (line: string) => void) {
  let failing = false
  return {
    isFailing: () => failing,
    act: (act: () => void) => {
      try {
        act()
        if (failing) report(`\`${path}\` is being written again`)
        failing = false
      } catch (error) {
        if (!failing) report(`\`${path}\` cannot be written: ${error instanceof Error ? error.message : String(error)}`)
        failing = true
      }
    },
  }
}

function writeAll(file: number, text: string): void {
  const bytes = Buffer.from(text)
  for (let written = 0; written < bytes.length; ) written += writeSync(file, bytes, written)
}

function lineOf(decision: OpenDecision | WaitingDecision): string {
  return `+${JSON.stringify({ ...decision, since: undefined })}\n`
}

function decisionsIn(folder: string, report: (line: string) => void): readonly OpenDecision[] {
  const path = join(folder, fileName)
  const found = new Map<string, OpenDecision>()
  try {
    // A crash may have cut off the last line.
    for (const line of (readIfThere(path) ?? '').split('\n').slice(0, -1)) {
      const decision = line.startsWith('+') ? decisionIn(line.slice(1)) : null
      if (decision !== null) found.set(keyOf(decision), decision)
      else if (line.startsWith('-')) found.delete(line.slice(1))
    }
  } catch (error) {
    report(`\`${path}\` cannot be read: ${error instanceof Error ? error.message : String(error)}`)
  }
  return [...found.values()]
}

function decisionIn(text: string): OpenDecision | null {
  try {
    const decision = parseJson(text) as OpenDecision
    const { task_id, action_digest, evaluation_id, at } = decision
    const isWhole = [task_id, action_digest, evaluation_id].every((member) => typeof member === 'string')
    return isWhole && Number.isFinite(at)
      ? { ...decision, found: decision.found ?? [], gates: decision.gates ?? [] }
      : null
  } catch {
    return null
  }
}
