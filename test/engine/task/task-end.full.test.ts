// After each kind of end and each event, the gates before the end are void, and everything else of the task still counts.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { type Serve, startServe } from '../../support/engine/serve.js'
import { callsOf, exec, gate } from '../../support/engine/task-calls.js'

let serve: Serve
afterEach(() => serve.discard())
const { evaluate, record, endTask } = callsOf(() => serve)

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
/** The first number after the end: one gate, and the steps of the end. */
const firstAfter = (end: string) => (end === 'a blocked step' ? 5 : end.startsWith('a blocked step') ? 7 : 3)
const more = `
name: More
version: "1"
policies:
  - {name: few models, rule_type: execution_max_steps, params: {step_type: step.model, max_steps: 5}, severity: low, scope: step_execution}
`
const files = { 'more.yaml': more }
const cases = Object.keys(ends).flatMap((end) => Object.keys(between).map((then) => ({ end, then })))

describe('a task id that continues after an end', () => {
  it.each(cases)(
    'has its history without the gates after $end and $then, and the other task continues',
    async ({ end, then }) => {
      serve = await startServe(['--baseline', '--policy-file', 'more.yaml'], files)
      await record('t1', gate)
      await record('other', gate)
      expect((await evaluate('t1')).blocked).toBe(false)
      await ends[end]?.('t1')
      await record('other', { step_type: 'step.model' })
      await between[then]?.()

      const again = await evaluate('t1')
      expect(again).toMatchObject({ blocked: true, reason: expect.stringContaining('task `t1` ended at step') })
      expect(again).not.toHaveProperty('history_lost')
      expect((await evaluate('other')).blocked).toBe(false)
      expect(await record('t1', { step_type: 'task.start' })).toBe(firstAfter(end))
      expect(await record('other', { step_type: 'step.model' })).toBe(3)

      await between[then]?.()
      expect((await evaluate('t1')).blocked).toBe(true)
      expect(await record('t1', gate)).toBe(firstAfter(end) + 1)
      await between[then]?.()
      // A gate does not lift the error that a recorded block leaves.
      expect((await evaluate('t1')).blocked).toBe(end.startsWith('a blocked step'))
    },
  )
})
