// Which version of a manifest applies to a running task when its manifests change.
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readPolicy, writePolicy } from '@svc/engine/parts'
import type { EffectivePolicies, Evaluation, Policy } from '@svc/schemas'
import { afterAll, describe, expect, it } from 'vitest'
import { readLines } from '../../../engine/trace/recall/read-lines.js'
import { fileSink } from '../../../engine/trace/sinks/file.js'
import { answerWith, changingSource, type SentManifest, type SentPolicy } from '../../support/engine/changing-source.js'
import { type EngineHere, engineHere } from '../../support/engine/local-engine.js'
import { folderWith } from '../../support/engine/serve.js'

const folder = folderWith({})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const named: SentPolicy = { rule_type: 'field_not_empty', params: { field: 'step_name' }, severity: 'critical' }
const single: SentPolicy = { rule_type: 'execution_max_steps', params: { step_type: 'step.exec', max_steps: 2 } }
const manifest = (manifest_id: string, sha: string, pin?: 'task', policies = [named]): SentManifest => ({
  manifest_id,
  sha,
  policies,
  ...(pin !== undefined && { pin }),
})

let files = 0
const minute = 60_000

/** An engine with a trace on disk, which can be started again on the same trace. */
function desk(first: EffectivePolicies | null) {
  let now = Date.UTC(2026, 0, 5, 9)
  files += 1
  const path = join(folder, `${files}.jsonl`)
  const start = (body: EffectivePolicies | null) => {
    const source = changingSource(() => now)
    source.answer(body)
    const sink = fileSink(path, () => undefined)
    const here: EngineHere = engineHere({ source, sink, clock: () => now })
    return { source, sink, here }
  }
  let current = start(first)
  const context = (task_id: string) => ({ agent_id: 'ag_1', task_id, environment: 'test' as const })
  const evaluate = (task_id: string, step_name = 'x') =>
    current.here.engine.evaluate({ intended: { step_type: 'step.exec', step_name }, context: context(task_id) })
  return {
    evaluate,
    /** The versions that a step of the task is evaluated under. */
    versions: async (task_id: string) => versionsOf(await evaluate(task_id)),
    record: (task_id: string, step_type: 'task.start' | 'step.exec' = 'step.exec') =>
      current.here.engine.record({ step: { step_type, step_name: 'x', task_id } }),
    answer: (body: EffectivePolicies | null, later = minute) => {
      now += later
      current.source.answer(body)
    },
    restart: async (body: EffectivePolicies | null, edit?: (trace: string) => string) => {
      await current.sink.close()
      if (edit !== undefined) writeFileSync(path, edit(readFileSync(path, 'utf8')))
      current = start(body)
    },
    engine: () => current.here.engine,
    notes: () => current.here.notes,
    lines: async () => {
      await current.sink.flush()
      const lines: Record<string, unknown>[] = []
      for await (const line of readLines(path))
        if (line.problem === null && line.text !== '') lines.push(JSON.parse(line.text))
      return lines
    },
  }
}

function versionsOf({ manifests }: Pick<Evaluation, 'manifests'>): string[] {
  return manifests.map(({ manifest_id, sha }) => `${manifest_id} ${sha}`)
}

describe('a manifest that changes while a task runs', () => {
  it('changes for the task, unless it is pinned to tasks', async () => {
    const { answer, versions } = desk(answerWith([manifest('a', '1'), manifest('b', '1', 'task')]))
    expect(await versions('t')).toEqual(['a 1', 'b 1'])
    answer(answerWith([manifest('a', '2'), manifest('b', '2', 'task')]))
    expect(await versions('t')).toEqual(['b 1', 'a 2'])
    expect(await versions('later')).toEqual(['a 2', 'b 2'])
    answer(answerWith([manifest('a', '3'), manifest('b', '3', 'task')]))
    expect(await versions('t')).toEqual(['b 1', 'a 3'])
    expect(await versions('later')).toEqual(['b 2', 'a 3'])
  })

  it('does not begin to apply to a running task when it is pinned, and does otherwise', async () => {
    const { answer, versions } = desk(answerWith([manifest('a', '1')]))
    await versions('t')
    answer(answerWith([manifest('a', '1'), manifest('b', '2', 'task'), manifest('c', '3')]))
    expect(await versions('t')).toEqual(['a 1', 'c 3'])
    expect(await versions('later')).toEqual(['a 1', 'b 2', 'c 3'])
  })

  it('leaves running tasks when it is unassigned, and stays away when it is assigned again', async () => {
    const { answer, versions } = desk(answerWith([manifest('a', '1', 'task')]))
    await versions('t')
    answer(answerWith([]))
    expect(await versions('t')).toEqual([])
    answer(answerWith([manifest('a', '1', 'task')]))
    expect(await versions('t')).toEqual([])
    expect(await versions('later')).toEqual(['a 1'])
  })

  it('applies as it is now once it is no longer pinned', async () => {
    const { answer, versions } = desk(answerWith([manifest('a', '1', 'task')]))
    await versions('t')
    answer(answerWith([manifest('a', '2', 'task')]))
    expect(await versions('t')).toEqual(['a 1'])
    answer(answerWith([manifest('a', '2')]))
    expect(await versions('t')).toEqual(['a 2'])
  })

  it('stays at the version in effect when it is pinned while the task runs', async () => {
    const { answer, versions } = desk(answerWith([manifest('a', '1')]))
    await versions('t')
    answer(answerWith([manifest('a', '2')]))
    await versions('t')
    answer(answerWith([manifest('a', '2', 'task')]))
    answer(answerWith([manifest('a', '3', 'task')]))
    expect(await versions('t')).toEqual(['a 2'])
  })

  it('applies to tasks that began before the source gave policies', async () => {
    const began = desk(null)
    expect(await began.versions('t')).toEqual([])
    await began.record('t')
    began.answer(answerWith([manifest('a', '1', 'task')]))
    expect(await began.versions('t')).toEqual(['a 1'])
    await began.restart(answerWith([manifest('a', '1', 'task')]))
    expect(await began.versions('t')).toEqual(['a 1'])
  })

  it('does not change for a task while the version that replaces it is rejected', async () => {
    const { answer, versions } = desk(answerWith([manifest('a', '1')]))
    await versions('t')
    answer(answerWith([manifest('a', '2', undefined, [{ ...named, rule_type: 'unknown' }])]))
    expect(await versions('t')).toEqual(['a 1'])
  })
})

describe('a task that runs while the engine starts again', () => {
  const old = manifest('a', '1', 'task')
  const next = manifest('a', '2', 'task')
  const steps = [['task.start', 'step.exec'], ['step.exec']] as const

  it.each(steps)('keeps its version from its trace, which begins with %s', async (...types) => {
    const task = desk(answerWith([old]))
    for (const type of types) await task.record('t', type)
    await task.restart(answerWith([next], [old]))
    expect(await task.versions('t')).toEqual(['a 1'])
    expect(await task.versions('later')).toEqual(['a 2'])
    expect(task.notes()).toEqual([])
  })

  it('takes the current version, and says so once, when its own is no longer known', async () => {
    const task = desk(answerWith([old]))
    await task.record('t')
    await task.record('u')
    await task.restart(answerWith([next]))
    expect([await task.versions('t'), await task.versions('u')]).toEqual([['a 2'], ['a 2']])
    expect(task.notes()).toEqual([
      'tasks began under version `1` of manifest `Desk`, which is no longer known: version `2` applies to them',
    ])
    await task.record('t')
    await task.restart(answerWith([next], [old]))
    expect(await task.versions('t')).toEqual(['a 2'])
  })

  it('has no pinned manifest that was assigned after its begin', async () => {
    const task = desk(answerWith([manifest('b', '1')]))
    await task.record('t', 'task.start')
    await task.restart(answerWith([manifest('b', '2'), old]))
    expect(await task.versions('t')).toEqual(['b 2'])
  })

  it('keeps its version in a trace whose evaluations name no manifests', async () => {
    const task = desk(answerWith([old]))
    await task.record('t', 'task.start')
    const [start] = await task.lines()
    expect(start?.meta).toMatchObject({
      'svc.eval': { manifests: [{ manifest_id: 'a', sha: '1' }] },
      'svc.manifests': [{ manifest_id: 'a', name: 'Desk', path: 'desk.yaml', sha: '1' }],
    })
    await task.restart(answerWith([next], [old]), (trace) => trace.replaceAll(/"manifests":\[[^\]]*\],/g, ''))
    expect(await task.versions('t')).toEqual(['a 1'])
  })
})

describe('a version that was replaced', () => {
  const keep = async (times: readonly number[]) => {
    const task = desk(answerWith([manifest('a', '1', 'task')]))
    await task.record('t')
    for (const [index, later] of times.entries())
      task.answer(answerWith([manifest('a', `${index + 2}`, 'task')]), later)
    for (let other = 0; other < 10_001; other++) await task.evaluate(`other ${other}`)
    return task.versions('t')
  }

  it('is known to this engine for 24 hours, also for tasks that left its memory', async () => {
    expect(await keep([minute, 23 * 60 * minute])).toEqual(['a 1'])
    expect(await keep([minute, 23 * 60 * minute, 2 * 60 * minute])).toEqual(['a 4'])
  })
})

describe('what a running task has when its policies change', () => {
  it('is kept: its decisions, its reserved steps and its limits', async () => {
    const task = desk(answerWith([manifest('a', '1')]))
    await task.record('t')
    const decided = await task.evaluate('t', 'make')
    const intended = { step_type: 'step.exec' as const, step_name: 'y' }
    const context = { agent_id: 'ag_1', task_id: 't', environment: 'test' as const, declared_tools: ['y'] }
    await task.engine().evaluate({ intended, context, reserve: true })
    const tools: SentPolicy = { rule_type: 'step_name_in_allowlist', params: {}, severity: 'high' }
    task.answer(answerWith([manifest('a', '2', undefined, [named, single, tools])]), 1000)
    const { policies } = await task.engine().evaluate({
      intended: { step_type: 'step.exec', step_name: 'x' },
      context: { agent_id: 'ag_1', task_id: 't', environment: 'test' },
    })
    // One recorded, one reserved and this step are more than two; `x` is not among the tools that the task still has.
    expect(policies.map(({ violated }) => violated)).toEqual([false, true, true])
    await task.engine().record({ step: { step_type: 'step.exec', step_name: 'make', task_id: 't', agent_id: 'ag_1' } })
    const last = (await task.lines()).findLast(({ kind }) => kind === 'step')
    expect(last?.meta).toMatchObject({ 'svc.eval': { evaluation_id: decided.evaluation_id } })
  })
})

describe('the waiver of a policy from a platform', () => {
  it('is a member only where there is one, so that policy sets keep their digests', () => {
    const [plain] = answerWith([manifest('a', '1')]).policies as [Policy]
    expect(readPolicy(plain)).toEqual(plain)
    expect(readPolicy({ ...plain, waived_until: null })).toEqual(plain)
    expect(writePolicy(readPolicy(plain))).toEqual(plain)
    const waived = { ...plain, waived_until: '2026-01-05T09:02:00.000Z' }
    expect(readPolicy(waived)).toEqual({ ...plain, waived_until: Date.UTC(2026, 0, 5, 9, 2) })
    expect(writePolicy(readPolicy(waived))).toEqual(waived)
  })

  it('ends at its time', async () => {
    const waived = { ...named, waived_until: '2026-01-05T09:02:00.000Z' }
    const task = desk(answerWith([manifest('a', '1', undefined, [waived])]))
    const blocked = async () => {
      const intended = { step_type: 'step.exec' as const }
      const context = { agent_id: 'ag_1', task_id: 't', environment: 'test' as const }
      return (await task.engine().evaluate({ intended, context })).blocked
    }
    expect(await blocked()).toBe(false)
    task.answer(null, 2 * minute)
    expect(await blocked()).toBe(true)
  })
})
