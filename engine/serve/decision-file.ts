// Decisions that wait for their steps, on disk, so that a restart does not forget them. Nothing of it is on the path of an
// evaluation; recording a step that has waited for long writes one short line.
import { closeSync, existsSync, openSync, rmSync, truncateSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { readIfThere, replaceFile } from '../files/durable-file.js'
import { takeLock } from '../files/lock-file.js'
import { keyOf, type OpenDecision } from './open-decision.js'

export interface DecisionFile {
  /** What earlier processes left, the one that has waited longest first. */
  readonly read: () => readonly OpenDecision[]
  /** Adds those that are not in the file; `open` has all that are. */
  readonly add: (open: ReadonlyMap<string, OpenDecision>) => void
  readonly remove: (key: string) => void
  /** Writes these, and gives the folder free. */
  readonly close: (open: ReadonlyMap<string, OpenDecision>) => void
}

/** Engines that share one data directory. */
const maxFolders = 16
/** Lines beyond those that are needed before the file is written anew. */
const maxSpareLines = 1000
const fileName = 'open.jsonl'

/** The file in the first folder that no other process holds; null, and a line for the operator, when there is none. */
export function openDecisionFile(data_folder: string, report: (line: string) => void): DecisionFile | null {
  const folders = Array.from({ length: maxFolders }, (_, index) =>
    join(data_folder, index === 0 ? 'decisions' : `decisions-${index + 1}`),
  )
  for (const folder of folders) {
    const release = tryLock(folder)
    if (release === null) continue
    const own = { folder, release }
    const ended = folders.filter((other) => other !== folder && existsSync(join(other, fileName))).flatMap(held)
    const left = [own, ...ended].flatMap((each) => decisionsIn(each.folder, report))
    const file = decisionFile(join(folder, fileName), left, release, report)
    for (const other of ended) {
      rmSync(join(other.folder, fileName), { force: true })
      other.release()
    }
    return file
  }
  report(`no folder below \`${data_folder}\` can be used: decisions that wait for their steps end with this process`)
  return null
}

/** The folder, when its process has ended. */
function held(folder: string) {
  const release = tryLock(folder)
  return release === null ? [] : [{ folder, release }]
}

function decisionFile(
  path: string,
  left: readonly OpenDecision[],
  release: () => void,
  report: (line: string) => void,
): DecisionFile {
  /** The evaluation of each action in the file. */
  const saved = new Map<string, string>()
  let lines = 0
  let file: number | null = null
  const attempt = attempts(path, report)
  const append = (added: readonly string[]) =>
    attempt(() => {
      file ??= openSync(path, 'a', 0o600)
      writeAll(file, added.join(''))
      lines += added.length
    })
  const rewrite = (open: ReadonlyMap<string, OpenDecision>) =>
    attempt(() => {
      if (file !== null) closeSync(file)
      file = null
      replaceFile(path, [...open.values()].map(lineOf).join(''))
      saved.clear()
      for (const [key, { evaluation_id }] of open) saved.set(key, evaluation_id)
      lines = open.size
    })
  const sorted = left.toSorted((one, other) => one.at - other.at)
  if (left.length > 0) rewrite(new Map(sorted.map((decision) => [keyOf(decision), decision])))
  return {
    read: () => sorted,
    add: (open) => {
      const fresh = [...open].filter(([key, { evaluation_id }]) => saved.get(key) !== evaluation_id)
      if (fresh.length > 0) append(fresh.map(([, decision]) => lineOf(decision)))
      for (const [key, { evaluation_id }] of fresh) saved.set(key, evaluation_id)
      if (lines > 2 * open.size + maxSpareLines) rewrite(open)
    },
    remove: (key) => {
      if (!saved.delete(key)) return
      if (saved.size > 0) return append([`-${key}\n`])
      attempt(() => {
        truncateSync(path)
        lines = 0
      })
    },
    close: (open) => {
      rewrite(open)
      attempt(release)
    },
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

/** Null when another process holds the folder, or it cannot be written. */
function tryLock(folder: string): (() => void) | null {
  try {
    return takeLock(folder)
  } catch {
    return null
  }
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
