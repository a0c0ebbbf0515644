// Histories read back from a journal: over several files, after files were deleted, and where steps are missing.
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { type Journal, openJournal } from '../../../engine/trace/journal/journal.js'
import { createRecall, type Recall } from '../../../engine/trace/recall/recall.js'

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
  const { kind, task_id } = line as { kind: string; task_id: string }
  if (kind === 'step') recall?.noteStep(task_id, journal.position())
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
  if (!(await recall.holds(task_id))) return []
  const { steps, is_whole } = await recall.steps(task_id)
  return is_whole ? steps.map((past) => past.step.step) : null
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
    expect(await recall.steps('a')).toMatchObject({ is_whole: false })
  })

  it('is missing where a gap says so, and after a gap of several tasks where a number is missing', async () => {
    const one = await after([step('a', 1), step('b', 1), gap('a'), step('a', 3)])
    expect([await numbers(one.recall, 'a'), await numbers(one.recall, 'b')]).toEqual([null, [1]])
    const lines = [step('a', 1), step('a', 2), step('d', 1), gap(null), step('b', 1), step('c', 2), step('d', 3)]
    const all = await after(lines)
    expect([await numbers(all.recall, 'a'), await numbers(all.recall, 'b')]).toEqual([[1, 2], [1]])
    expect([await numbers(all.recall, 'c'), await numbers(all.recall, 'd')]).toEqual([null, null])
    // What is known of a history that is not whole is its last number.
    expect((await all.recall.steps('d')).steps.map((past) => past.step.step)).toEqual([1, 3])
  })

  it('is whole when a process was killed between the arrival of a line and the write of the next one', async () => {
    const name = `r${names++}`
    const one = opened(name)
    await add(one, step('a', 1))
    await add(one, step('b', 1))
    await one.journal.first(1, Number.POSITIVE_INFINITY)
    // This line is not written yet, so that its step is not acknowledged.
    one.journal.add(JSON.stringify(step('b', 2)))
    one.journal.remove(1)
    const killed = `r${names++}`
    cpSync(join(parent, name), join(parent, killed), { recursive: true, filter: (path) => !/lock/.test(path) })
    const { journal, recall } = opened(killed)
    expect([journal.lost(), await numbers(recall, 'a'), await numbers(recall, 'b')]).toEqual([0, [1], [1]])
  })

  it('has the ends of the task, and stays missing after them', async () => {
    const end = { kind: 'end', recorded_at, task_id: 'a', step: 2 }
    const ended = await after([step('a', 1), end, step('a', 3, 'task.start'), step('a', 4, 'task.end')])
    expect(await numbers(ended.recall, 'a')).toEqual([1, 2, 3, 4])
    const lost = await after([step('a', 1), gap('a'), { ...end, step: 3 }, step('a', 4, 'task.start')])
    expect(await numbers(lost.recall, 'a')).toBeNull()
    expect((await lost.recall.steps('a')).steps.map((past) => past.step.step)).toEqual([1, 3, 4])
  })

  it('is missing for steps that were dropped in this process, or counted by the one before', async () => {
    const { recall, journal } = await after([step('a', 1), step('b', 1), step('c', 1)])
    recall.noteGap('b', journal.position())
    expect([await numbers(recall, 'a'), await numbers(recall, 'b')]).toEqual([[1], null])
    recall.noteLost('a', journal.position())
    recall.noteLost('new', journal.position())
    expect([await numbers(recall, 'a'), await numbers(recall, 'new')]).toEqual([null, null])
    expect(await numbers(recall, 'c')).toEqual([1])
  })

  it('are not whole where the lines are in memory only', async () => {
    writeFileSync(join(parent, 'a file'), '')
    const journal = openJournal(join(parent, 'a file'), 'queue', limits, () => undefined)
    open.push(journal)
    const recall = createRecall(journal.bytes, journal.drain)
    await add({ journal, recall }, step('a', 1))
    expect([await numbers(recall, 'a'), await numbers(recall, 'new')]).toEqual([null, []])
  })
})
