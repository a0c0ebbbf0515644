// The end of a task is final: earlier steps do not count when the id is used again.
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { compile } from '../../engine/policy/compile.js'
import { createTasks } from '../../engine/serve/tasks.js'
import { fileSink } from '../../engine/trace/file.js'
import { type Serve, startServe } from '../support/serve.js'
import { callsOf, gate } from '../support/task-calls.js'

let serve: Serve
afterEach(() => serve.discard())
const { evaluate, record, endTask } = callsOf(() => serve)

describe('a task id that is used again', () => {
  it('is a new task where payloads are not kept', async () => {
    serve = await startServe(['--baseline'], {}, { SVC_LOG_PAYLOADS: 'metadata_only' })
    await record('t1', gate)
    await endTask('t1')
    expect((await evaluate('t1')).blocked).toBe(true)
    serve = await serve.restart()
    expect((await evaluate('t1')).blocked).toBe(true)
    expect(serve.trace().map(({ kind }) => kind)).toContain('end')
  })

  it('is the running task until its end is acknowledged, and a new one afterwards', async () => {
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

  it('numbers on from the last step of the earlier task, also after a restart', async () => {
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

  it('adds no end to a task that has no recorded step', async () => {
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

  it('does not take part in the rules of the task that ended', async () => {
    serve = await startServe(['--baseline'])
    await record('t1', { step_type: 'task.start' })
    await record('t1', { step_type: 'task.end' })
    await record('t1', { step_type: 'step.model' })
    await endTask('t1')
    const incidents = serve.trace().filter(({ kind }) => kind === 'incident')
    expect(incidents.map(({ violation }) => (violation as { name: string }).name)).toEqual([
      'Records begin with a start',
    ])
  })
})

describe('/end_task', () => {
  it('says whether a task of the id was running', async () => {
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
  it('is restored while it runs, and is a new one after its end', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-end-'))
    try {
      const sink = fileSink(join(folder, 'traces.jsonl'), () => undefined)
      const set = compile([])
      const policies = { set, source_set: set, versions: null }
      const always = { atBegin: () => policies, after: () => policies, withVersions: () => policies }
      const tasks = createTasks({ policies: always, recall: sink.recall, maxTasks: 1, maxIdleMs: 1e9, maxWords: 1e9 })
      const recordIn = async (task_id: string, step_type: 'step.gate' | 'task.end') => {
        const task = await tasks.open(task_id, step_type, 0)
        task.ended = step_type === 'task.end'
        const recorded_at = '2026-01-05T09:00:00.000Z'
        sink.write({ kind: 'step', recorded_at, task_id, step_type, step: task.last_step + 1 })
        task.last_step += 1
      }
      for (const task_id of ['ended', 'running', 'ended', 'running']) await recordIn(task_id, 'step.gate')
      await recordIn('ended', 'task.end')
      await recordIn('filler', 'step.gate')
      expect(await tasks.open('running', 'step.exec', 0)).toMatchObject({ last_step: 2, history_lost: false })
      expect(await tasks.open('ended', 'step.exec', 0)).toMatchObject({ last_step: 3, history_lost: false })
      await sink.close()
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
