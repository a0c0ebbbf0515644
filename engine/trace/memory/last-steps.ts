// The numbers of the last steps of tasks, which outlive what the trace has of them: a task that continues without its lines is
// not mistaken for a new one. Nothing of it is on disk when a step is answered.
import { parseJson } from '@svc/proof'
import { appendedFile, attempts } from '../../files/appended-file.js'
import { replaceFile } from '../../files/durable-file.js'
import { type LastingLines, takeLines } from '../journal/lasting-lines.js'

export interface LastSteps {
  /** Undefined for a task that is not remembered; 0 for one without a recorded step. */
  readonly of: (task_id: string) => number | undefined
  readonly note: (task_id: string, last_step: number) => void
  /** Writes what was noted since the last call, once the lines of its steps have left the process. */
  readonly save: () => Promise<void>
  /** Writes all of them, once the lines of their steps have left the process, and gives the folder free. */
  readonly close: () => void
}

/** Remembered tasks; the one that was noted longest ago is forgotten first. */
const maxTasks = 100_000
/** Lines beyond those that are needed before the file is written anew. */
const maxSpareLines = 1000

/** For an engine without a folder whose contents outlive it. */
export function lastStepsInProcess(max_tasks = maxTasks): LastSteps {
  const { of, note } = rememberedSteps(max_tasks)
  return { of, note, save: async () => undefined, close: () => undefined }
}

/**
 * Those of earlier processes included. `settled` resolves when the lines of all recorded steps have left the process. A file
 * that cannot be written goes to `report`.
 */
export function openLastSteps(
  data_folder: string,
  settled: () => Promise<void>,
  report: (line: string) => void,
  max_tasks = maxTasks,
): LastSteps {
  const taken = takeLines(data_folder, 'tasks', 'last-steps.jsonl', report)
  if (taken !== null) return lastStepsIn(taken, settled, report, max_tasks)
  report(
    `no folder below \`${data_folder}\` can be used: tasks whose steps are not in the trace count as new at a restart`,
  )
  return lastStepsInProcess(max_tasks)
}

function lastStepsIn(
  { own, path, left, release }: LastingLines,
  settled: () => Promise<void>,
  report: (line: string) => void,
  max_tasks: number,
): LastSteps {
  const table = rememberedSteps(max_tasks)
  const file = appendedFile(path)
  const attempt = attempts(path, report)
  /** Null while nothing is being saved. */
  let saving: Promise<void> | null = null
  let is_closed = false

  /** INVARIANT (no number before its line): a kill between the two would make a whole task one that lacks steps. */
  const write = async (lines: readonly string[], act: (lines: readonly string[]) => void) => {
    await settled()
    if (!is_closed) attempt.act(() => act(lines))
  }
  const save = async () => {
    // The end of the file may be cut off after a failure, and nothing is appended to it.
    while (!attempt.isFailing() && !is_closed && table.hasChanged()) await write(table.changed(), file.append)
    if (attempt.isFailing() || file.lines() > 2 * table.size() + maxSpareLines) await write(table.all(), renewed)
    saving = null
  }
  const renewed = (lines: readonly string[]) => {
    own.renew()
    file.rewrite(lines)
  }
  if (left.some((lines) => lines.length > 0)) {
    for (const lines of left) table.read(lines)
    attempt.act(() => file.rewrite(table.all()))
  }
  release(!attempt.isFailing())
  return {
    of: table.of,
    note: table.note,
    save: () => {
      saving ??= save()
      return saving
    },
    close: () => {
      is_closed = true
      attempt.act(() => {
        file.close()
        own.renew()
        replaceFile(path, table.all().join(''))
      })
      attempt.act(own.release)
    },
  }
}

function rememberedSteps(max_tasks: number) {
  /** The task that was noted longest ago is first. */
  const steps = new Map<string, number>()
  const unsaved = new Set<string>()
  const note = (task_id: string, last_step: number) => {
    const known = steps.get(task_id)
    // A task that takes many steps between two saves is moved to the end once.
    if (!unsaved.has(task_id)) steps.delete(task_id)
    steps.set(task_id, last_step)
    if (last_step > 0 && last_step !== known) unsaved.add(task_id)
    if (steps.size <= max_tasks) return
    const [first = task_id] = steps.keys()
    steps.delete(first)
    unsaved.delete(first)
  }
  const linesOf = (ids: readonly string[]) =>
    ids.flatMap((id) => {
      const last_step = steps.get(id) ?? 0
      return last_step > 0 ? [`${JSON.stringify([id, last_step])}\n`] : []
    })
  return {
    size: () => steps.size,
    of: (task_id: string) => steps.get(task_id),
    note,
    /** Lines of earlier processes. */
    read: (lines: readonly string[]) => {
      for (const [task_id, last_step] of lines.flatMap(entryIn))
        note(task_id, Math.max(last_step, steps.get(task_id) ?? 0))
      unsaved.clear()
    },
    hasChanged: () => unsaved.size > 0,
    /** Lines of tasks that were noted since they were taken here. */
    changed: () => {
      const lines = linesOf([...unsaved])
      unsaved.clear()
      return lines
    },
    /** The lines of all tasks. */
    all: () => linesOf([...steps.keys()]),
  }
}

/** None for a line that is not one of this file. */
function entryIn(line: string): readonly (readonly [string, number])[] {
  try {
    const [task_id, last_step] = parseJson(line) as readonly unknown[]
    const isEntry = typeof task_id === 'string' && Number.isSafeInteger(last_step) && Number(last_step) > 0
    return isEntry ? [[task_id, Number(last_step)]] : []
  } catch {
    return []
  }
}
