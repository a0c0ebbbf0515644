// Steps that did not fit into the journal: counted per task, kept in a file until their gap lines are in the journal.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseJson } from '@svc/proof'
import { readIfThere, replaceUnflushed } from '../../files/durable-file.js'
import type { TraceLine } from './sink.js'

export type Gap = Omit<Extract<TraceLine, { kind: 'gap' }>, 'kind' | 'recorded_at'>

export interface DroppedSteps {
  /** Of an earlier process. */
  readonly earlier: readonly Gap[]
  readonly note: (line: Extract<TraceLine, { kind: 'step' }>) => void
  /** Counts lines of tasks that are not known. */
  readonly noteLost: (lines: number, at: string) => void
  /** True while gaps are not in the journal. */
  readonly isPending: () => boolean
  /** Gives the gaps to `add`, until that returns false; a gap that was added is forgotten. */
  readonly move: (add: (gap: Gap) => boolean) => void
  /** Writes the file, unless nothing has changed. */
  readonly save: () => void
}

/** Steps of further tasks are counted together. */
const maxTasks = 1_000
const fileName = 'dropped.json'
/** A kill loses the counts of less than this time. */
const saveMs = 1_000

type Counted = { -readonly [K in keyof Gap]: Gap[K] }

/**
 * `folders`: those whose counts are read and taken over; the first one is written. Empty for counts in memory only. `onSaved` gets
 * the number of steps that the file lacks, because the disk did not take them.
 */
export function createDroppedSteps(
  folders: readonly string[],
  newId: () => string,
  onSaved: (unsaved: number) => void,
): DroppedSteps {
  const gaps = new Map<string | null, Counted>()
  /** Of an earlier process: they are not added to. */
  let earlier: Gap[] = folders.flatMap((folder) => gapsIn(join(folder, fileName)))
  const [own] = folders
  const path = own === undefined ? null : join(own, fileName)
  let timer: NodeJS.Timeout | null = null
  let steps_in_file = 0

  const save = () => {
    if (timer !== null) clearTimeout(timer)
    timer = null
    const all = [...earlier, ...gaps.values()]
    const is_saved = path === null || replaceGaps(path, all)
    const steps = all.reduce((sum, gap) => sum + gap.steps, 0)
    if (is_saved) steps_in_file = steps
    onSaved(Math.max(0, steps - steps_in_file))
    return is_saved
  }
  const gapOf = (task_id: string | null, at: string) => {
    const gap = gaps.get(task_id) ?? newGap(newId(), task_id, at)
    gaps.set(task_id, gap)
    gap.to = at
    timer ??= setTimeout(save, saveMs).unref()
    return gap
  }
  if (earlier.length === 0 || save())
    for (const folder of folders.slice(1)) rmSync(join(folder, fileName), { force: true })
  return {
    earlier,
    note: ({ task_id = null, step = null, recorded_at }) => {
      const key = gaps.has(task_id) || gaps.size < maxTasks ? task_id : null
      const gap = gapOf(key, recorded_at)
      gap.steps += 1
      if (key === null || step === null) return
      gap.first_step = Math.min(gap.first_step ?? step, step)
      gap.last_step = Math.max(gap.last_step ?? step, step)
    },
    noteLost: (lines, at) => {
      gapOf(null, at).steps += lines
    },
    isPending: () => gaps.size > 0 || earlier.length > 0,
    move: (add) => {
      const all = [...earlier, ...gaps.values()]
      const rejected = all.findIndex((gap) => !add(gap))
      const moved = new Set<Gap>(rejected < 0 ? all : all.slice(0, rejected))
      earlier = earlier.filter((gap) => !moved.has(gap))
      for (const [key, gap] of gaps) if (moved.has(gap)) gaps.delete(key)
      save()
    },
    save: () => {
      if (timer !== null) save()
    },
  }
}

function newGap(gap_id: string, task_id: string | null, from: string): Counted {
  return { task_id, gap_id, steps: 0, first_step: null, last_step: null, from, to: from, reason: 'spool_full' }
}

function gapsIn(path: string): Gap[] {
  try {
    const gaps: unknown = parseJson(readIfThere(path) ?? '[]')
    return Array.isArray(gaps) ? (gaps as Gap[]).filter((gap) => typeof gap?.gap_id === 'string') : []
  } catch {
    return []
  }
}

/** Not flushed: flushing each second would delay steps. False without room on the disk: the counts stay in memory. */
function replaceGaps(path: string, gaps: readonly Gap[]): boolean {
  try {
    if (gaps.length === 0) rmSync(path, { force: true })
    else replaceUnflushed(path, JSON.stringify(gaps))
    return true
  } catch {
    // The next second tries again if more steps are dropped, and so does the end of the process.
    return false
  }
}
