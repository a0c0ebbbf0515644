// Histories read back from a journal: over several files, after files were deleted, and where steps are missing.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { type Journal, openJournal } from '../../engine/trace/journal.js'
import { createRecall, type Recall } from '../../engine/trace/recall.js'

const parent = mkdtempSync(join(tmpdir(), 'svc-recall-'))
afterAll(() => rmSync(parent, { recursive: true, force: true }))
const open: Journal[] = []
afterEach(async () => {
  for (const journal of open.splice(0)) await journal.close().catch(() => undefined)
})
let names = 0
const recorded_at = '2026-01-05T09:00:00.000Z'
const limits = { max_bytes: 1_000_000, reserved_bytes: 0, kept_bytes: 0, file_bytes: 400 }

function opened(name: string) {
  const journal = openJournal(parent, name, limits, () => undefined)
  open.push(journal)
  return { journal, recall: createRecall(journal.bytes, journal.drain) }
}
interface Written {
  readonly journal: Journal
  /** Null for lines of an earlier process. */
  readonly recall: Recall | null
}
async function add({ journal, recall }: Written, line: object): Promise<void> {
  const { kind, task_id, step_type } = line as { kind: string; task_id: string; step_type: string }
  if (kind === 'step') recall?.noteStep(task_id, step_type, journal.position())
  if (kind === 'end') recall?.noteEnd(task_id)
  journal.add(JSON.stringify(line))
  await journal.settled()
}
const step = (task_id: string, number: number, step_type = 'step.exec') => ({
  kind: 'step',
  recorded_at,
  task_id,
  step: number,
  step_type,
})
const gap = (task_id: string | null) => ({ kind: 'gap', recorded_at, task_id, gap_id: 'g', steps: 1 })
const numbers = async (recall: Recall, task_id: string) => {
  const is_held = await recall.holds(task_id)
  return is_held ? ((await recall.steps(task_id))?.map((past) => past.step.step) ?? null) : []
}
/** Lines of an earlier process, of which the first `sent` have arrived; then a new one. */
async function after(lines: readonly object[], sent = 0) {
  const name = `r${names++}`
  const earlier = { ...opened(name), recall: null }
  for (const line of lines) await add(earlier, line)
  if (sent > 0) {
    await earlier.journal.first(sent, Number.POSITIVE_INFINITY)
    earlier.journal.remove(sent)
  }
  await earlier.journal.close()
  return opened(name)
}
const many = Array.from({ length: 20 }, (_, index) => [step('a', index + 1), step('b', index + 1)]).flat()

describe('the history of a task in a journal', () => {
  it('is read over all files, by the process that wrote it and by the next one', async () => {
    const name = `r${names++}`
    const one = opened(name)
    for (const line of many) await add(one, line)
    const whole = Array.from({ length: 20 }, (_, index) => index + 1)
    expect([await numbers(one.recall, 'a'), await numbers(one.recall, 'b')]).toEqual([whole, whole])
    await one.journal.close()
    const two = opened(name)
    expect(await numbers(two.recall, 'b')).toEqual(whole)
    await add(two, step('b', 21))
    expect(await numbers(two.recall, 'b')).toEqual([...whole, 21])
  })

  it('is missing when files with its first steps are deleted, and whole when they are not', async () => {
    const lines = [...many, step('c', 1), step('c', 2)]
    const { recall, journal } = await after(lines, 30)
    expect(journal.bytes.start()).toBeGreaterThan(0)
    expect([await numbers(recall, 'a'), await numbers(recall, 'c')]).toEqual([null, [1, 2]])
  })

  it('is missing when its files are deleted while the process runs', async () => {
    const { recall, journal } = await after(many)
    expect(await recall.holds('a')).toBe(true)
    await journal.first(30, Number.POSITIVE_INFINITY)
    journal.remove(30)
    expect(await recall.steps('a')).toBeNull()
  })

  it('is missing where a gap says so, for the task or for all that ran', async () => {
    const one = await after([step('a', 1), step('b', 1), gap('a'), step('a', 3)])
    expect([await numbers(one.recall, 'a'), await numbers(one.recall, 'b')]).toEqual([null, [1]])
    const all = await after([step('a', 1), gap(null), step('b', 1), step('c', 2)])
    expect([await numbers(all.recall, 'a'), await numbers(all.recall, 'b')]).toEqual([null, [1]])
    expect(await numbers(all.recall, 'c')).toBeNull()
  })

  it('is whole again for the next run of the id', async () => {
    const ended = await after([step('a', 1), gap('a'), { kind: 'end', recorded_at, task_id: 'a' }, step('a', 1)])
    expect(await numbers(ended.recall, 'a')).toEqual([1])
    const closed = await after([step('a', 1), gap('a'), step('a', 3, 'task.end'), step('a', 1, 'task.start')])
    expect(await numbers(closed.recall, 'a')).toEqual([1])
  })

  it('is missing for steps that were dropped in this process, or counted by the one before', async () => {
    const { recall, journal } = await after([step('a', 1), step('b', 1), step('c', 1)])
    recall.noteGap('b', journal.position())
    expect([await numbers(recall, 'a'), await numbers(recall, 'b')]).toEqual([[1], null])
    recall.noteLost('a', 'step.exec', journal.position())
    recall.noteLost('new', 'task.start', journal.position())
    expect([await numbers(recall, 'a'), await numbers(recall, 'new')]).toEqual([null, null])
    expect(await numbers(recall, 'c')).toEqual([1])
  })
})
