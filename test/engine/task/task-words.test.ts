// The memory of tasks: histories with many words give way to others, and are read back.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compile, type PolicyInput } from '@svc/engine'
import { describe, expect, it } from 'vitest'
import { createTasks } from '../../../engine/serve/tasks/tasks.js'
import { reservationMs } from '../../../engine/task/waiting.js'
import { lastStepsInProcess } from '../../../engine/trace/memory/last-steps.js'
import type { Recall } from '../../../engine/trace/recall/recall.js'
import { fileSink } from '../../../engine/trace/sinks/file.js'
import type { Sink } from '../../../engine/trace/sinks/sink.js'
import { policyDefaults } from '../../support/engine/policy.js'

const policy = { ...policyDefaults, id: 1, name: 'p', rule_type: 'value_from', severity: 'high' }
const set = compile([{ ...policy, params: { fields: ['input.account'] } } as unknown as PolicyInput])
const policies = { set, source_set: set, versions: null }
const always = { atBegin: () => policies, after: () => policies, withVersions: () => policies }

function tasksOf(recall: Recall | null, write: Sink['write']) {
  const tasks = createTasks({
    policies: always,
    recall,
    last_steps: lastStepsInProcess(),
    maxTasks: 10,
    maxIdleMs: 1e9,
    maxWords: 100,
  })
  const note = async (task_id: string, text: string, now: number) => {
    const task = await tasks.open(task_id, now)
    const sent = { task_id, step_type: 'step.message', verb: 'GET', step: task.last_step + 1 } as const
    const step = { ...sent, properties: { counterpart: { kind: 'user' } }, output: { text } }
    task.add(step, now)
    tasks.weigh(task)
    write({ kind: 'step', recorded_at: '2026-01-05T09:00:00.000Z', ...step })
    return task
  }
  return { ...tasks, note }
}

const manyWords = Array.from({ length: 200 }, (_, index) => `word${index}`).join(' ')

describe('a task beyond the words that are kept', () => {
  it('is evicted a minute after its last request, and read back with all of them', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-words-'))
    const sink = fileSink(join(folder, 'traces.jsonl'), () => undefined)
    const tasks = tasksOf(sink.recall, sink.write)
    const { words } = await tasks.note('large', manyWords, 0)
    expect(words).toBeGreaterThan(200)
    await tasks.note('small', 'hello', reservationMs)
    expect(tasks.count()).toBe(2)
    await tasks.note('small', 'hello', reservationMs + 1)
    expect(tasks.count()).toBe(1)
    const again = await tasks.open('large', reservationMs + 2)
    expect(again).toMatchObject({ last_step: 1, is_lost: false, words })
    // It counts once, also after it was read back and has ended.
    tasks.close(again)
    expect(tasks.count()).toBe(1)
    await tasks.note('small', 'hello', 3 * reservationMs)
    expect(tasks.count()).toBe(1)
    await sink.close()
    rmSync(folder, { recursive: true, force: true })
  })

  it('has lost its history where no trace is kept', async () => {
    const tasks = tasksOf(null, () => undefined)
    await tasks.note('large', manyWords, 0)
    await tasks.note('small', 'hello', reservationMs + 1)
    expect(await tasks.open('large', reservationMs + 2)).toMatchObject({ is_lost: true, words: 0 })
  })

  it('stays while all tasks have few of them', async () => {
    const tasks = tasksOf(null, () => undefined)
    await tasks.note('other', 'hello', 0)
    await tasks.note('small', 'hello', reservationMs + 1)
    expect(tasks.count()).toBe(2)
  })
})
