// One id has one history: an end of the task voids what allows, and keeps what forbids.
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { compile } from '../../../engine/policy/compile.js'
import { createTasks } from '../../../engine/serve/tasks/tasks.js'
import { lastStepsInProcess } from '../../../engine/trace/memory/last-steps.js'
import { fileSink } from '../../../engine/trace/sinks/file.js'
import { type Serve, startServe } from '../../support/engine/serve.js'
import { callsOf, exec, gate } from '../../support/engine/task-calls.js'

let serve: Serve
afterEach(() => serve.discard())
const { evaluate, record, endTask } = callsOf(() => serve)

describe('a task id that continues after an end', () => {
  it('blocks a step again after its block was recorded, and says that the task ended', async () => {
    serve = await startServe(['--baseline'])
    await record('t1', { step_type: 'task.start' })
    expect((await evaluate('t1')).blocked).toBe(true)
    await record('t1', { ...exec, output: { status: 'blocked' } })
    const again = await evaluate('t1')
    expect(again.blocked).toBe(true)
    expect(again.reason).toContain('; task `t1` ended at step 4: use a new id for each run')
    await record('t1', gate)
    expect((await evaluate('t1')).reason).toContain('task `t1` ended at step 4')
    serve = await serve.restart()
    expect((await evaluate('t1')).reason).toContain('task `t1` ended at step 4')
  })

  it('has no gate of before the end where payloads are not kept, and is numbered on', async () => {
    serve = await startServe(['--baseline'], {}, { SVC_LOG_PAYLOADS: 'metadata_only' })
    await record('t1', gate)
    expect((await evaluate('t1')).blocked).toBe(false)
    await endTask('t1')
    expect((await evaluate('t1')).blocked).toBe(true)
    expect(await record('t1', gate)).toBe(3)
    expect((await evaluate('t1')).blocked).toBe(false)
    expect(serve.trace().map(({ kind }) => kind)).toContain('end')
  })

  it('has its gates until the end is acknowledged, and not afterwards', async () => {
    serve = await startServe(['--baseline'])
    await record('t1', gate)
    // A crash cuts off the line of the end.
    appendFileSync(join(serve.folder, 'data', 'traces.jsonl'), '{"kind":"end","recorded_at":"2026-01-05T09:00')
    serve = await serve.restart()
    expect((await evaluate('t1')).blocked).toBe(false)
    await endTask('t1')
    serve = await serve.restart()
    expect((await evaluate('t1')).blocked).toBe(true)
  })

  it('does not run a step that was allowed before the end without evaluating it again', async () => {
    serve = await startServe(['--baseline'])
    await record('t1', gate)
    const { evaluation_id } = await evaluate('t1')
    await endTask('t1')
    await record('t1', { ...exec, meta: { evaluation_id } })
    const incidents = serve.trace().filter(({ kind }) => kind === 'incident')
    expect(incidents.map(({ step }) => step)).toContain(3)
  })

  it('numbers on from its last step, also after a restart', async () => {
    serve = await startServe(['--baseline'])
    expect(await record('t1', gate)).toBe(1)
    await endTask('t1')
    expect(await record('t1', { step_type: 'task.start' })).toBe(3)
    expect(await record('t1', { step_type: 'task.end' })).toBe(4)
    expect(await record('t1', gate)).toBe(5)
    serve = await serve.restart()
    expect(await record('t1', gate)).toBe(6)
    await endTask('t1')
    serve = await serve.restart()
    expect(await record('t1', gate)).toBe(8)
    await record('t1', { step_type: 'task.end' })
    serve = await serve.restart()
    expect(await record('t1', gate)).toBe(10)
  })

  it('gets no second end while nothing was recorded after the first', async () => {
    serve = await startServe(['--baseline'])
    await record('t1', gate)
    await endTask('t1')
    await evaluate('t1')
    await endTask('t1')
    expect(
      serve
        .trace()
        .filter(({ kind }) => kind === 'end')
        .map(({ step }) => step),
    ).toEqual([2, undefined])
  })
})

describe('/end_task', () => {
  it('says whether the task was running', async () => {
    serve = await startServe(['--baseline'])
    expect(await endTask('unknown')).toBe(false)
    await record('t1', gate)
    serve = await serve.restart()
    expect(await endTask('t1')).toBe(true)
    expect(await endTask('t1')).toBe(false)
  })

  it('has its line on disk when it answers', async () => {
    serve = await startServe(['--baseline'])
    await record('t1', gate)
    await endTask('t1')
    const text = readFileSync(join(serve.folder, 'data', 'traces.jsonl'), 'utf8')
    expect(text).toMatch(/\n\{"kind":"end","recorded_at":"[^"]+","task_id":"t1","step":2\}\n$/)
  })
})

describe('an evicted task', () => {
  const set = compile([])
  const policies = { set, source_set: set, versions: null }
  const always = { atBegin: () => policies, after: () => policies, withVersions: () => policies }
  const limits = { maxTasks: 1, maxIdleMs: 1e9, maxWords: 1e9 }

  it('is read back with its ends, whether it runs or has ended', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-end-'))
    try {
      const sink = fileSink(join(folder, 'traces.jsonl'), () => undefined)
      const tasks = createTasks({ policies: always, recall: sink.recall, last_steps: lastStepsInProcess(), ...limits })
      const recordIn = async (task_id: string, step_type: 'step.gate' | 'task.end') => {
        const task = await tasks.open(task_id, 0)
        const recorded_at = '2026-01-05T09:00:00.000Z'
        const step = { task_id, step_type, step: task.last_step + 1 }
        task.add(step, 0)
        sink.write({ kind: 'step', recorded_at, ...step })
      }
      for (const task_id of ['ended', 'running', 'ended', 'running']) await recordIn(task_id, 'step.gate')
      await recordIn('ended', 'task.end')
      await recordIn('filler', 'step.gate')
      const running = { last_step: 2, is_lost: false, length: 2, finished: false }
      expect(await tasks.open('running', 0)).toMatchObject(running)
      const ended = { last_step: 3, is_lost: false, length: 3, finished: true }
      expect(await tasks.open('ended', 0)).toMatchObject(ended)
      await sink.close()
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

  it('is remembered only once it has a recorded step', async () => {
    const last_steps = lastStepsInProcess()
    const tasks = createTasks({ policies: always, recall: null, last_steps, ...limits, maxTasks: 2 })
    const task = await tasks.open('evaluated', 0)
    expect(last_steps.of('evaluated')).toBeUndefined()
    task.add({ task_id: 'evaluated', step_type: 'step.exec', step: 1 }, 0)
    tasks.weigh(task)
    expect(last_steps.of('evaluated')).toBe(1)
  })

  it('has lost its history without a trace, also when it was closed, and a closed one goes first', async () => {
    const tasks = createTasks({
      policies: always,
      recall: null,
      last_steps: lastStepsInProcess(),
      ...limits,
      maxTasks: 2,
    })
    const ended = await tasks.open('ended', 0)
    await tasks.open('running', 0)
    await tasks.open('ended', 0)
    tasks.close(ended)
    await tasks.open('new', 0)
    expect(await tasks.open('running', 0)).toMatchObject({ is_lost: false })
    expect(await tasks.open('ended', 0)).toMatchObject({ is_lost: true })
  })
})
