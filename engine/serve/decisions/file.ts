// Decisions that wait for their steps, on disk, so that a restart does not forget them. Nothing of it is on the path of an
// evaluation; recording a step that has waited for long writes one short line.
import { parseJson } from '@svc/proof'
import { appendedFile, attempts } from '../../files/appended-file.js'
import { replaceFile } from '../../files/durable-file.js'
import { type LastingLines, takeLines } from '../../trace/journal/lasting-lines.js'
import { keyOf, type OpenDecision, type WaitingDecision } from './open-decision.js'

export interface DecisionFile {
  /** The decisions of earlier processes, the one that has waited longest first. */
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

/** The file in the first folder that no other process holds; null, and a line for the operator, when there is none. */
export function openDecisionFile(data_folder: string, report: (line: string) => void): DecisionFile | null {
  const taken = takeLines(data_folder, 'decisions', 'open.jsonl', report)
  if (taken === null) {
    report(`no folder below \`${data_folder}\` can be used: decisions that wait for their steps end with this process`)
    return null
  }
  const { file, is_written } = decisionFile(taken, report)
  taken.release(is_written)
  return file
}

function decisionFile({ own, path, left: files }: LastingLines, report: (line: string) => void) {
  const left = files.flatMap(decisionsIn)
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

function lineOf(decision: OpenDecision | WaitingDecision): string {
  return `+${JSON.stringify({ ...decision, since: undefined })}\n`
}

function decisionsIn(lines: readonly string[]): readonly OpenDecision[] {
  const found = new Map<string, OpenDecision>()
  for (const line of lines) {
    const decision = line.startsWith('+') ? decisionIn(line.slice(1)) : null
    if (decision !== null) found.set(keyOf(decision), decision)
    else if (line.startsWith('-')) found.delete(line.slice(1))
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
