// A task that continues without its lines in the trace is not mistaken for a new one.
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Evaluation } from '@svc/schemas'
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest'
import { openLastSteps } from '../../../engine/trace/memory/last-steps.js'
import { answerWith, platformAgent } from '../../support/engine/changing-source.js'
import { type Serve, startServe } from '../../support/engine/serve.js'
import { callsOf } from '../../support/engine/task-calls.js'
import { startTracePlatform } from '../../support/engine/trace-platform.js'
import { soon } from '../../support/server/soon.js'

const payment = { step_type: 'step.exec', step_name: 'pay' }
const limit = {
  name: 'at most two payments',
  rule_type: 'execution_max_steps',
  params: { step_type: 'step.exec', max_steps: 2 },
  severity: 'critical',
  scope: 'step_execution',
} as const
const manifest = `name: Payments
version: '1'
policies:
  - name: at most two payments
    rule_type: execution_max_steps
    params: { step_type: step.exec, max_steps: 2 }
    severity: critical
    scope: step_execution
`
const lost = { blocked: true, code: 'HISTORY_LOST', history_lost: true }
const atLimit = { blocked: true, code: 'TOO_MANY_STEPS', history_lost: undefined }
const allowed = { blocked: false, code: undefined, history_lost: undefined }

let serve: Serve
let platform: Awaited<ReturnType<typeof startTracePlatform>> | null = null
afterEach(async () => {
  await serve?.discard()
  expect(platform?.faults ?? []).toEqual([])
  await platform?.stop()
  platform = null
})
const { evaluate, record, endTask } = callsOf(() => serve)
const decisionOn = async (task_id: string, step: object = payment) => {
  const { blocked, violations, history_lost }: Evaluation = await evaluate(task_id, step)
  return { blocked, code: violations[0]?.violation_details?.code, history_lost }
}
const inFolder = (path: string) => join(serve.folder, 'data', path)
/** Stops the engine in order and starts it again; `between` runs in the meantime. */
const restart = async (between: () => void = () => undefined) => {
  serve.signal('SIGTERM')
  expect(await serve.ended).toBe(0)
  between()
  serve = await serve.restart()
}
const withFile = async (env: Record<string, string> = {}, args: readonly string[] = []) => {
  serve = await startServe(['--policy-file', 'pay.yaml', ...args], { 'pay.yaml': manifest }, env)
}
const withPlatform = async (env: Record<string, string> = {}) => {
  const policies = answerWith([{ manifest_id: 'm_1', sha: 'a'.repeat(40), policies: [limit] }])
  platform = await startTracePlatform({ policies: { ...policies, agent: platformAgent } })
  serve = await startServe([], {}, { ...platform.env, ...env })
}
/** A task at its limit that runs, and one that has ended. */
const reachLimit = async () => {
  for (const task_id of ['running', 'ended']) for (const _ of [1, 2]) await record(task_id, payment)
  await endTask('ended')
}
const removeTrace = () => rmSync(inFolder('traces.jsonl'))

describe('a task whose limit was reached, after an orderly restart', () => {
  it.each([
    [
      'whose lines have left the journal of the platform',
      () => withPlatform(),
      () => rmSync(inFolder('spool'), { recursive: true }),
    ],
    [
      'without payloads in the trace of the platform',
      () => withPlatform({ SVC_LOG_PAYLOADS: 'metadata_only' }),
      () => undefined,
    ],
    ['whose trace was deleted', () => withFile(), removeTrace],
    ['without payloads in a file', () => withFile({ SVC_LOG_PAYLOADS: 'metadata_only' }), () => undefined],
    ['with a trace of entries', () => withFile({}, ['--log-format', 'entry']), () => undefined],
    [
      'with a trace on standard output',
      () => withFile({ SVC_DATA_DIR: 'data', SVC_LOG_LOCATION: 'stdout' }),
      () => undefined,
    ],
    ['without a trace', () => withFile({ SVC_DATA_DIR: 'data' }, ['--log-location', 'none']), () => undefined],
  ])('%s has lost its history and is numbered on, and a new task has not', async (_what, start, between) => {
    await start()
    await reachLimit()
    expect(await decisionOn('running')).toEqual(atLimit)
    if (platform !== null) await vi.waitFor(() => expect(platform?.tasks.get('ended')).toHaveLength(3), soon)
    await restart(between)
    expect([await decisionOn('running'), await decisionOn('ended')]).toEqual([lost, lost])
    expect(await decisionOn('new')).toEqual(allowed)
    const model = { step_type: 'step.model' }
    expect([await record('running', model), await record('ended', model), await record('new', model)]).toEqual([
      3, 4, 1,
    ])
    if (platform === null) return
    const arrived = { running: [1, 2, 3], ended: [1, 2, 3, 4], new: [1] }
    await vi.waitFor(() => expect(Object.fromEntries(platform?.tasks ?? [])).toEqual(arrived), soon)
  })

  it('has lost its history when a line of its trace was damaged', async () => {
    await withFile()
    for (const _step of [1, 2, 3]) await record('limited', payment)
    await restart(() => {
      const path = inFolder('traces.jsonl')
      const lines = readFileSync(path, 'utf8').split('\n')
      writeFileSync(path, [lines[0], '{"kind":"st', ...lines.slice(2)].join('\n'))
    })
    expect(await decisionOn('limited')).toMatchObject({ blocked: true, history_lost: true })
    expect(await decisionOn('new')).toEqual(allowed)
  })

  it('has lost its history when its trace ends before its last step', async () => {
    await withFile()
    await record('running', payment)
    const path = inFolder('traces.jsonl')
    const first = readFileSync(path).length
    await record('running', payment)
    await restart(() => truncateSync(path, first))
    expect(await decisionOn('running')).toEqual(lost)
    expect(await record('running', { step_type: 'step.model' })).toBe(3)
  })
})

describe('a task whose limit was reached, after a kill', () => {
  it('has lost its history when its trace is gone', async () => {
    await withFile()
    await reachLimit()
    const saved = () => readFileSync(inFolder('tasks/last-steps.jsonl'), 'utf8')
    await vi.waitFor(() => expect(saved()).toContain('["ended",3]\n'), soon)
    serve.signal('SIGKILL')
    await serve.ended
    removeTrace()
    serve = await serve.restart()
    expect([await decisionOn('running'), await decisionOn('ended')]).toEqual([lost, lost])
  })

  it('is whole when the kill lost the numbers, because its lines are in the trace', async () => {
    await withFile()
    await reachLimit()
    serve.signal('SIGKILL')
    await serve.ended
    rmSync(inFolder('tasks'), { recursive: true, force: true })
    serve = await serve.restart()
    expect([await decisionOn('running'), await decisionOn('new')]).toEqual([atLimit, allowed])
    expect(await record('running', { step_type: 'step.model' })).toBe(3)
    await restart(removeTrace)
    expect(await decisionOn('running')).toEqual(lost)
  })
})

describe('a task whose first step has a number after 1', () => {
  it('has lost the steps before it, whether it is evaluated or recorded', async () => {
    await withFile()
    expect(await decisionOn('evaluated', { ...payment, step: 5 })).toEqual(lost)
    expect(await record('evaluated', { step_type: 'step.model' })).toBe(5)
    expect(await record('recorded', { step_type: 'step.model', step: 5 })).toBe(5)
    expect(await decisionOn('recorded')).toEqual(lost)
    expect(await decisionOn('first', { ...payment, step: 1 })).toEqual(allowed)
    expect(await record('first', { step_type: 'step.model', step: 1 })).toBe(1)
    expect(await decisionOn('first', { ...payment, step: 2 })).toEqual(allowed)
    expect(await decisionOn('late')).toEqual(allowed)
    expect(await record('late', { step_type: 'step.model', step: 2 })).toBe(2)
    expect(await decisionOn('late')).toEqual(lost)
    await restart()
    expect(await decisionOn('recorded')).toEqual(lost)
    expect(await decisionOn('first', { ...payment, step: 2 })).toEqual(allowed)
  })
})

describe('parallel steps with numbers', () => {
  it('may be recorded in another order than they were evaluated', async () => {
    await withFile()
    for (const step of [1, 2]) expect(await decisionOn('t', { ...payment, step })).toEqual(allowed)
    for (const step of [2, 1]) expect(await record('t', { ...payment, step })).toBe(step)
    expect(await decisionOn('t')).toEqual(atLimit)
    await restart()
    expect(await decisionOn('t')).toEqual(atLimit)
  })
})

describe('the numbers of last steps on disk', () => {
  const parent = mkdtempSync(join(tmpdir(), 'svc-last-steps-'))
  afterAll(() => rmSync(parent, { recursive: true, force: true }))
  const folder = () => mkdtempSync(join(parent, 'data-'))
  const fileIn = (data: string) => join(data, 'tasks', 'last-steps.jsonl')
  const textIn = (data: string) => readFileSync(fileIn(data), 'utf8')
  const reports: string[] = []
  const report = (line: string) => void reports.push(line)
  const done = async (): Promise<void> => undefined
  const opened = (data: string, max_tasks?: number, settled = done) => openLastSteps(data, settled, report, max_tasks)

  it('outlive the process; the task that was noted longest ago is forgotten first', async () => {
    const data = folder()
    const one = opened(data, 3)
    for (const [index, task_id] of ['a', 'b', 'c'].entries()) one.note(task_id, index + 1)
    await one.save()
    one.note('a', 7)
    one.note('d', 1)
    await one.save()
    one.close()
    const two = opened(data, 3)
    expect(['a', 'b', 'c', 'd'].map(two.of)).toEqual([7, undefined, 3, 1])
    two.note('e', 1)
    expect(['a', 'c', 'e'].map(two.of)).toEqual([7, undefined, 1])
    two.close()
  })

  it('are not written before the lines of their steps', async () => {
    const data = folder()
    const waiting: (() => void)[] = []
    const settled = () => new Promise<void>((resolve) => void waiting.push(resolve))
    const one = opened(data, 10, settled)
    one.note('a', 1)
    const saved = one.save()
    // The line of this step is written after that of the first one.
    one.note('a', 2)
    expect([waiting.length, existsSync(fileIn(data))]).toEqual([1, false])
    waiting.shift()?.()
    await vi.waitFor(() => expect(waiting).toHaveLength(1), soon)
    expect(textIn(data)).toBe('["a",1]\n')
    waiting.shift()?.()
    await saved
    expect(textIn(data)).toBe('["a",1]\n["a",2]\n')
    one.close()
    expect(textIn(data)).toBe('["a",2]\n')
  })

  it('take little room, however many steps their tasks have', async () => {
    const data = folder()
    const one = opened(data)
    for (let step = 1; step <= 5; step++) {
      for (let task = 0; task < 2000; task++) one.note(`t${task}`, step)
      await one.save()
      expect(textIn(data).split('\n').length).toBeLessThan(2 * 2000 + 1000 + 2000)
    }
    one.note('t0', 6)
    await one.save()
    one.close()
    expect(textIn(data).split('\n')).toHaveLength(2001)
    const two = opened(data)
    expect(['t0', 't1', 't1999', 't2000'].map(two.of)).toEqual([6, 5, 5, undefined])
    two.close()
  })

  it('of ended processes are taken over, with the highest number of each task', async () => {
    const data = folder()
    const one = opened(data)
    const two = opened(data)
    one.note('a', 3)
    one.note('b', 1)
    two.note('b', 2)
    for (const steps of [one, two]) steps.close()
    const next = opened(data)
    expect(['a', 'b'].map(next.of)).toEqual([3, 2])
    next.close()
  })

  it('may be torn or spoilt', () => {
    const data = folder()
    mkdirSync(join(data, 'tasks'))
    appendFileSync(fileIn(data), '["a",2]\nnonsense\n{}\n["b"]\n["c",-1]\n["d","x"]\n\n["a",1]\n["b",3]\n["e",1')
    const one = opened(data)
    expect(['a', 'b', 'c', 'd', 'e'].map(one.of)).toEqual([2, 3, undefined, undefined, undefined])
    one.close()
    expect(textIn(data)).toBe('["a",2]\n["b",3]\n')
  })

  it('are written again when another program has removed their folder, and the reports say so', async () => {
    const data = folder()
    const one = opened(data)
    one.note('a', 1)
    await one.save()
    rmSync(join(data, 'tasks'), { recursive: true })
    one.note('b', 1)
    reports.length = 0
    await one.save()
    expect(textIn(data)).toBe('["a",1]\n["b",1]\n')
    expect(reports.map((line) => line.replace(/.*` /, ''))).toEqual([
      'cannot be written: another program has removed it',
      'is being written again',
    ])
    one.close()
  })
})
