// Policies that change while a task runs, at step 50 of 100: for every rule with a history.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { rules } from '@svc/engine'
import type { EffectivePolicies, EvaluateRequest, PolicyResult, RecordRequest } from '@svc/schemas'
import { afterAll, describe, expect, it } from 'vitest'
import { fileSink } from '../../../engine/trace/sinks/file.js'
import { answerWith, changingSource, type SentManifest } from '../../support/engine/changing-source.js'
import { engineHere } from '../../support/engine/local-engine.js'
import { folderWith } from '../../support/engine/serve.js'
import { changesAfter, type LongTask, longTasks, taskLength } from '../../support/log/long-tasks.js'

const folder = folderWith({})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const begin = Date.UTC(2026, 0, 5, 9)
/** Steps follow so that a minute holds some of them. */
const betweenMs = 7_000

type Answers = Readonly<Record<number, EffectivePolicies>>

interface Way {
  /** What the platform answers from before the step of this number on. */
  readonly answers: Answers
  /** The engine starts again before these steps. */
  readonly restarts?: readonly number[]
  readonly trace?: false
}

let runs = 0

/** The results of all policies, for each step and for the end of the task. */
async function play({ steps }: LongTask, { answers, restarts = [], trace }: Way) {
  let now = begin
  runs += 1
  const path = join(folder, `${runs}.jsonl`)
  const start = (before: EffectivePolicies | undefined) => {
    const source = changingSource(() => now)
    if (before !== undefined) source.answer(before)
    const sink = trace === false ? undefined : fileSink(path, () => undefined)
    return { source, sink, ...engineHere({ source, clock: () => now, ...(sink !== undefined && { sink }) }) }
  }
  let here = start(undefined)
  let answer: EffectivePolicies | undefined
  const results: (readonly PolicyResult[])[] = []
  const lost: boolean[] = []
  for (const [index, { step, context }] of [...steps, { step: { step_type: 'task.end' }, context: {} }].entries()) {
    now = begin + index * betweenMs
    if (restarts.includes(index)) {
      await here.sink?.close()
      here = start(answer)
    }
    answer = answers[index] ?? answer
    if (answers[index] !== undefined) here.source.answer(answers[index])
    const request = { intended: step, context: { agent_id: 'ag_1', task_id: 't', environment: 'test', ...context } }
    const { policies, history_lost = false } = await here.engine.evaluate(request as EvaluateRequest)
    results.push(policies)
    lost.push(history_lost)
    await here.engine.record({ step: { ...step, task_id: 't' } } as RecordRequest)
  }
  await here.sink?.close()
  return { results, lost, notes: here.notes }
}

const after = <T>(list: readonly T[]) => list.slice(changesAfter)
const version = ({ policies }: Pick<LongTask, 'policies'>, sha: string, pin?: 'task' | undefined): SentManifest => ({
  manifest_id: 'man_1',
  sha,
  policies,
  ...(pin !== undefined && { pin }),
})
const tasks = longTasks()

/** Two versions with other parameters, and some in common; a rule and its negation are in the same version. */
const half = ({ policies }: LongTask, own: 0 | 1) => ({
  policies: policies.filter((_, index) => Math.floor(index / 2) % 2 === own || index % 10 === 0),
})
const changes = (task: LongTask, pin?: 'task') => ({
  old: version(half(task, 0), '1', pin),
  next: version(half(task, 1), '2', pin),
})

describe('the tasks of a hundred steps', () => {
  it('are there for every rule of steps that has a history, or takes `target_after`', () => {
    const names = new Set(tasks.map(({ rule }) => rule))
    expect(rules.flatMap(({ name }) => (names.has(name) ? [] : [name]))).toEqual([])
    for (const { steps } of tasks) expect(steps).toHaveLength(taskLength)
  })
})

/** The full tests run every rule; these run some, of each category. */
const chosen = tasks.filter((_, index) => process.env.SVC_ALL_RULES === '1' || index % 6 === 0)

describe.each(chosen)('a running task under $rule', (task) => {
  const v1 = version(task, '1')
  let played: ReturnType<typeof play> | null = null
  const playWhole = () => {
    played ??= play(task, { answers: { 0: answerWith([v1]) } })
    return played
  }

  it('has later steps that violate a policy and others that pass it, because of earlier steps', async () => {
    const whole = await playWhole()
    const verdicts = new Map<number, Set<boolean>>()
    for (const { policy_id, violated } of after(whole.results).flat())
      verdicts.set(policy_id, (verdicts.get(policy_id) ?? new Set()).add(violated))
    const isOnlyAtEnd = whole.results[0]?.length === 0
    const both = isOnlyAtEnd
      ? new Set(
          after(whole.results)
            .flat()
            .map(({ violated }) => violated),
        )
      : null
    expect(both ?? [...verdicts.values()].find(({ size }) => size === 2)).toEqual(new Set([true, false]))
    const lost = await play(task, { answers: { 50: answerWith([v1]) }, trace: false })
    expect(lost.lost.slice(changesAfter)).not.toContain(false)
    expect(after(lost.results)).not.toEqual(after(whole.results))
  })

  it('gets new policies with its whole history', async () => {
    const whole = await playWhole()
    const changed = await play(task, { answers: { 0: answerWith([]), 50: answerWith([v1]) } })
    expect(after(changed.results)).toEqual(after(whole.results))
    expect(changed.lost).not.toContain(true)
  })

  it('keeps the history under changed parameters', async () => {
    const { old, next } = changes(task)
    const whole = await play(task, { answers: { 0: answerWith([next]) } })
    const changed = await play(task, { answers: { 0: answerWith([old]), 50: answerWith([next]) } })
    expect(after(changed.results)).toEqual(after(whole.results))
    expect(changed.lost).not.toContain(true)
  })

  it('keeps the version of a pinned manifest, also when the engine starts again', async () => {
    const { old, next } = changes(task, 'task')
    const before = await play(task, { answers: { 0: answerWith([old]) } })
    const answers = { 0: answerWith([old]), 50: answerWith([next]), 60: answerWith([next], [old]) }
    for (const restarts of [[], [75]]) {
      const pinned = await play(task, { answers, restarts })
      expect(pinned.results).toEqual(before.results)
      expect(pinned.notes.filter((line) => line.includes('manifest'))).toEqual([])
      expect(pinned.lost).not.toContain(true)
    }
  })

  it('loses the policies of a manifest that is no longer assigned, pinned or not', async () => {
    for (const pin of [undefined, 'task'] as const) {
      const removed = await play(task, { answers: { 0: answerWith([version(task, '1', pin)]), 50: answerWith([]) } })
      expect(after(removed.results).flat()).toEqual([])
    }
  })
})
