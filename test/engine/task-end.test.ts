// The end of a task is final: what was recorded before it counts for nothing when the id is used again.
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Evaluation, RecordedStep } from '@svc/schemas'
import { afterEach, describe, expect, it } from 'vitest'
import { compile } from '../../engine/policy/compile.js'
import { createTasks } from '../../engine/serve/tasks.js'
import { fileSink } from '../../engine/trace/file.js'
import { type Serve, startServe } from '../support/serve.js'

const exec = { step_type: 'step.exec', step_name: 'make' }
const gate = { step_type: 'step.gate', properties: { guard: { result: 'passed' } } }

let serve: Serve
afterEach(() => serve.discard())

const evaluate = async (task_id: string, intended: object = exec) => {
  const context = { agent_id: 'a', task_id, environment: 'test', risk_classification: 'limited' }
  const { status, body } = await serve.post<Evaluation>('/evaluate', { intended, context })
  expect(status).toBe(200)
  return body
}
const record = async (task_id: string, step: object) => {
  const { status, body } = await serve.post<RecordedStep>('/record', { step: { task_id, ...step } })
  expect(status).toBe(200)
  return body.step
}
const endTask = async (task_id: string) => {
  const { status, body } = await serve.post('/end_task', { task_id })
  expect([status, body]).toEqual([200, { status: 'ok', task_id }])
}

type Act = (task_id: string) => Promise<unknown>
const between: Record<string, () => Promise<unknown>> = {
  nothing: async () => undefined,
  'a restart': async () => {
    serve = await serve.restart()
  },
  'a reload of other policies': async () => {
    writeFileSync(join(serve.folder, 'more.yaml'), more.replace('max_steps: 5', 'max_steps: 6'))
    await serve.call('POST', '/reload')
  },
}
const ends: Record<string, Act> = {
  '/end_task': endTask,
  'a second /end_task': async (task_id) => {
    await endTask(task_id)
    await endTask(task_id)
  },
  'a task.end step': (task_id) => record(task_id, { step_type: 'task.end' }),
  'a task.end step and /end_task': async (task_id) => {
    await record(task_id, { step_type: 'task.end' })
    await endTask(task_id)
  },
  'a blocked step': (task_id) => record(task_id, { ...exec, output: { status: 'blocked' } }),
  'a blocked step whose end the client sends too': async (task_id) => {
    await record(task_id, { ...exec, output: { status: 'blocked' } })
    await record(task_id, { step_type: 'task.error' })
    await record(task_id, { step_type: 'task.end' })
  },
}
const more = `
name: More
version: "1"
policies:
  - {name: few models, rule_type: execution_max_steps, params: {step_type: step.model, max_steps: 5}, severity: low, scope: step_execution}
`
const files = { 'more.yaml': more }
const cases = Object.keys(ends).flatMap((end) => Object.keys(between).map((then) => ({ end, then })))

describe('a task id that is used again', () => {
  it.each(cases)('is a new task after $end and $then, and the other task goes on', async ({ end, then }) => {
    serve = await startServe(['--baseline', '--policy-file', 'more.yaml'], files)
    await record('t1', gate)
    await record('other', gate)
    expect((await evaluate('t1')).blocked).toBe(false)
    await ends[end]?.('t1')
    await record('other', { step_type: 'step.model' })
    await between[then]?.()

    const again = await evaluate('t1')
    expect(again).toMatchObject({ blocked: true })
    expect(again).not.toHaveProperty('history_lost')
    expect((await evaluate('other')).blocked).toBe(false)
    expect(await record('t1', { step_type: 'task.start' })).toBe(1)
    expect(await record('other', { step_type: 'step.model' })).toBe(3)

    // The new task is recalled, and nothing of the old one.
    await between[then]?.()
    expect((await evaluate('t1')).blocked).toBe(true)
    expect(await record('t1', gate)).toBe(2)
    await between[then]?.()
    expect((await evaluate('t1')).blocked).toBe(false)
  })

  it('is a new task where payloads are not kept', async () => {
    serve = await startServe(['--baseline'], {}, { SVC_LOG_PAYLOADS: 'metadata_only' })
    await record('t1', gate)
    await endTask('t1')
    expect((await evaluate('t1')).blocked).toBe(true)
    serve = await serve.restart()
    expect((await evaluate('t1')).blocked).toBe(true)
    expect(serve.trace().map(({ kind }) => kind)).toContain('end')
  })

  it('is the running task while its end was not answered, and a new one once it was', async () => {
    serve = await startServe(['--baseline'])
    await record('t1', gate)
    // A crash cuts the line of the end off in the middle.
    appendFileSync(join(serve.folder, 'data', 'traces.jsonl'), '{"kind":"end","recorded_at":"2026-01-05T09:00')
    serve = await serve.restart()
    expect((await evaluate('t1')).blocked).toBe(false)
    await endTask('t1')
    serve = await serve.restart()
    expect((await evaluate('t1')).blocked).toBe(true)
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
  it('has its line on disk when it answers', async () => {
    serve = await startServe(['--baseline'])
    await record('t1', gate)
    await endTask('t1')
    const text = readFileSync(join(serve.folder, 'data', 'traces.jsonl'), 'utf8')
    expect(text).toMatch(/\n\{"kind":"end","recorded_at":"[^"]+","task_id":"t1"\}\n$/)
  })
})

describe('a task that memory has let go', () => {
  it('is brought back while it runs, and is a new one after its end', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-end-'))
    try {
      const sink = fileSink(join(folder, 'traces.jsonl'), () => undefined)
      const set = compile([])
      const tasks = createTasks({ set: () => set, recall: sink.recall, most: 1, oldest: 1e9 })
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
      expect(await tasks.open('ended', 'step.exec', 0)).toMatchObject({ last_step: 0, history_lost: false })
      await sink.close()
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
