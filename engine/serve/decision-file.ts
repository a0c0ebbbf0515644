// Decisions that wait for their steps, on disk, so that a restart does not forget them. Nothing of it is on the path of an
// evaluation; recording a step that has waited for long writes one short line.
import { closeSync, openSync, renameSync, rmSync, truncateSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { readIfThere, replaceFile } from '../files/durable-file.js'
import { holdFolder, leftFolders } from '../trace/journal-folders.js'
import { keyOf, type OpenDecision } from './open-decision.js'

export interface DecisionFile {
  /** What earlier processes left, the one that has waited longest first. */
  readonly read: () => readonly OpenDecision[]
  readonly add: (decisions: ReadonlyMap<string, OpenDecision>) => void
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
  const file = decisionFile(join(own.folder, fileName), left, own.release, report)
  for (const { folder, release } of ended) {
    rmSync(join(folder, fileName), { force: true })
    release()
  }
  return file
}

function decisionFile(
  path: string,
  left: readonly OpenDecision[],
  release: () => void,
  report: (line: string) => void,
): DecisionFile {
  /** The line of each action in the file. */
  const saved = new Map<string, string>()
  /** Lines that take others back, to be written. */
  let removed: string[] = []
  const attempt = attempts(path, report)
  const file = appendedFile(path)
  const writeRemoved = () => {
    if (removed.length > 0) attempt(saved.size === 0 ? file.empty : () => file.append(removed))
    removed = []
  }
  const keep = (decisions: ReadonlyMap<string, OpenDecision>) => {
    for (const [key, decision] of decisions) saved.set(key, lineOf(decision))
  }
  const rewrite = () => attempt(() => file.rewrite([...saved.values()]))
  const sorted = left.toSorted((one, other) => one.at - other.at)
  if (left.length > 0) {
    keep(new Map(sorted.map((decision) => [keyOf(decision), decision])))
    rewrite()
  }
  return {
    read: () => sorted,
    add: (decisions) => {
      writeRemoved()
      keep(decisions)
      if (decisions.size > 0) attempt(() => file.append([...decisions.keys()].map((key) => saved.get(key) ?? '')))
      if (file.lines() > 2 * saved.size + maxSpareLines) rewrite()
    },
    remove: (key, at_once) => {
      if (!saved.delete(key)) return
      removed.push(`-${key}\n`)
      if (at_once) writeRemoved()
    },
    close: (open) => {
      attempt(() => {
        file.close()
        replaceFile(path, [...open.values()].map(lineOf).join(''))
      })
      attempt(release)
    },
  }
}

/** What is written survives a crash of the process, and not one of the machine: flushing it would block the event loop. */
function appendedFile(path: string) {
  let file: number | null = null
  let lines = 0
  const close = () => {
    if (file !== null) closeSync(file)
    file = null
  }
  return {
    lines: () => lines,
    append: (added: readonly string[]) => {
      file ??= openSync(path, 'a', 0o600)
      writeAll(file, added.join(''))
      lines += added.length
    },
    empty: () => {
      truncateSync(path)
      lines = 0
    },
    rewrite: (all: readonly string[]) => {
      const draft = `${path}.new`
      writeFileSync(draft, all.join(''), { mode: 0o600 })
      renameSync(draft, path)
      close()
      lines = all.length
    },
    close,
  }
}

/** A failure is reported once: the decisions stay in memory. */
function attempts(path: string, report: (line: string) => void) {
  let reported = false
  return (act: () => void) => {
    try {
      act()
    } catch (error) {
      if (!reported) report(`\`${path}\` cannot be written: ${error instanceof Error ? error.message : String(error)}`)
      reported = true
    }
  }
}

function writeAll(file: number, text: string): void {
  const bytes = Buffer.from(text)
  for (let written = 0; written < bytes.length; ) written += writeSync(file, bytes, written)
}

function lineOf(decision: OpenDecision): string {
  return `+${JSON.stringify(decision)}\n`
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
    const decision = JSON.parse(text) as OpenDecision
    const { task_id, action_digest, evaluation_id, at } = decision
    const isWhole = [task_id, action_digest, evaluation_id].every((member) => typeof member === 'string')
    return isWhole && Number.isFinite(at) ? decision : null
  } catch {
    return null
  }
}
