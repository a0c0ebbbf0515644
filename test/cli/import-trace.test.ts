// `svc import trace`: the steps of a trace of the local engine, as they were recorded.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Behavior, JsonMap } from '@svc/schemas'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { readTraceLine } from '../../engine/convert/trace-line.js'
import { createStepCheck, toolsDeclaredBy } from '../../engine/convert/trace-step.js'
import { runSvc } from '../support/cli/svc.js'
import { engineHere } from '../support/engine/local-engine.js'

const folder = mkdtempSync(join(tmpdir(), 'svc-import-test-'))
afterAll(() => rmSync(folder, { recursive: true }))

async function importTrace(lines: readonly unknown[], ...args: string[]) {
  const path = join(mkdtempSync(join(folder, 'trace-')), 'traces.jsonl')
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  const out = `${path}.out.jsonl`
  const { code, stdout, stderr } = await runSvc(['import', 'trace', path, '--out', out, '--json', ...args])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const steps = readFileSync(out, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Behavior)
  return { report: JSON.parse(stdout) as JsonMap, steps }
}

const at = '2026-01-05T09:00:00Z'
const step = (task_id: string, number: number, step_type: string, others: JsonMap = {}) => ({
  kind: 'step',
  recorded_at: at,
  task_id,
  agent_id: 'desk',
  timestamp: at,
  step: number,
  step_type,
  ...others,
})
const placed = (steps: readonly Behavior[]) =>
  steps.map(({ task_id, step: number, step_type }) => [task_id, number, step_type])

describe('a trace of the local engine', () => {
  it.each([[[1, 2]], ['done'], [7], [true]])('keeps an output that is not an object, such as %j', async (output) => {
    const { steps } = await importTrace([step('t', 1, 'step.exec', { step_name: 'count', output })])
    expect(steps.map((one) => one.output)).toEqual([{ value: output }])
  })

  it('gives the steps that were recorded', async () => {
    const { engine, trace } = engineHere()
    const agent = { agent_key: 'refund-desk', name: 'Refund desk', declared_tools: ['refund', 'get_order'] }
    const sent: Behavior[] = [
      { step_type: 'task.start', meta: { agent } },
      { step_type: 'step.resource', verb: 'GET', step_name: 'get_order', input: { id: 7 }, output: { total: 1e21 } },
      { step_type: 'step.gate', properties: { 'guard.result': 'passed', guard: { check_type: 'human_approval' } } },
      {
        step_type: 'step.resource',
        verb: 'POST',
        step_name: 'refund',
        output: { status: 'blocked' },
        meta: { note: 1 },
      },
    ]
    for (const each of sent)
      for (const task_id of ['one', 'two']) await engine.record({ step: { agent_id: 'a-1', task_id, ...each } })
    await engine.evaluate({
      intended: { task_id: 'three', step_type: 'step.exec' },
      context: { agent_id: 'a-1', environment: 'test' },
    })
    const { steps, report } = await importTrace(trace)
    const recorded = trace.flatMap(({ recorded_at, ...line }) => (line.kind === 'step' ? [line] : []))
    for (const task_id of ['one', 'two']) {
      const expected = recorded
        .filter((each) => each.task_id === task_id)
        .map(({ kind, ...each }) => ({ ...each, agent_id: 'refund-desk' }))
      const imported = steps.filter((each) => each.task_id === task_id)
      expect(imported).toEqual(JSON.parse(JSON.stringify(expected)))
      expect(imported.map(({ step_type }) => step_type)).toEqual([
        ...sent.map((each) => each.step_type),
        'task.error',
        'task.end',
      ])
      expect(imported.slice(0, 4).map(withoutEngine)).toEqual(sent)
    }
    expect(report).toMatchObject({ runs: 2, steps: 12, guessed_tools: [] })
  })

  it('keeps the id of a task that continues after its end, takes the end of /end_task, and leaves out other lines', async () => {
    const evaluation = { kind: 'evaluation', recorded_at: at, task_id: 't', intended: { step_type: 'step.exec' } }
    const { steps, report } = await importTrace([
      step('t', 1, 'task.start'),
      step('u', 1, 'task.start'),
      evaluation,
      step('t', 2, 'step.exec', { output: { status: 'blocked' } }),
      { kind: 'incident', recorded_at: at },
      step('t', 3, 'task.end'),
      step('t', 4, 'task.end'),
      step('t', 5, 'task.start'),
      { kind: 'end', recorded_at: at, task_id: 't', step: 6 },
      { kind: 'end', recorded_at: at, task_id: 't' },
      step('t', 7, 'step.exec'),
      { kind: 'later', recorded_at: at },
      step('u', 2, 'task.end'),
    ])
    expect(placed(steps)).toEqual([
      ['t', 1, 'task.start'],
      ['t', 2, 'step.exec'],
      ['t', 3, 'task.end'],
      ['t', 4, 'task.end'],
      ['t', 5, 'task.start'],
      ['t', 6, 'task.end'],
      ['t', 7, 'step.exec'],
      ['u', 1, 'task.start'],
      ['u', 2, 'task.end'],
    ])
    expect(report).toMatchObject({
      runs: 2,
      left_out: { evaluations: 1, incidents: 1, ended_tasks: 1, other_lines: 1 },
    })
  })

  it('has the agent of the start, of the step or of the option', async () => {
    const start = { agent_key: 'key-1', declared_tools: ['a', { name: 'b' }, 7] }
    const lines = [
      step('t', 1, 'task.start', { meta: { agent: start } }),
      step('u', 1, 'task.start'),
      { ...step('v', 1, 'task.start'), agent_id: undefined },
    ]
    const agents = async (...args: string[]) =>
      (await importTrace(lines, ...args)).steps.map(({ agent_id }) => agent_id)
    expect(await agents()).toEqual(['key-1', 'desk', 'traces'])
    expect(await agents('--agent-key', 'mine')).toEqual(['mine', 'mine', 'mine'])
  })

  it('may be what an import wrote', async () => {
    const lines = [step('t', 1, 'task.start'), step('t', 2, 'task.end')].map(({ kind, recorded_at, ...line }) => line)
    expect((await importTrace(lines)).steps).toEqual(lines)
  })

  it('reports in one line of text what it left out', async () => {
    const path = join(folder, 'text.jsonl')
    writeFileSync(
      path,
      [step('t', 1, 'task.start'), { kind: 'end', recorded_at: at, task_id: 't' }, { kind: 'incident' }]
        .map((line) => JSON.stringify(line))
        .join('\n'),
    )
    const { stdout } = await runSvc(['import', 'trace', path, '--out', `${path}.out`])
    expect(stdout).toBe(
      '1 run, 1 step: 1 new, 0 already stored, 0 runs failed\nnot imported, because only steps are: 1 incident and 1 call of /end_task\n',
    )
  })

  it('never makes its reader throw', () => {
    const check = createStepCheck()
    fc.assert(
      fc.property(
        fc.oneof(
          fc.jsonValue(),
          fc.record({
            step_type: fc.constantFrom('task.start', 'x'),
            meta: fc.jsonValue(),
            properties: fc.jsonValue(),
          }),
        ),
        (value) => {
          const found = readTraceLine(JSON.stringify(value))
          if (found.kind === 'step' && check(found.step) === null) toolsDeclaredBy(found.step)
        },
      ),
    )
  })
})

/** A step as it was sent. */
function withoutEngine({ agent_id, task_id, timestamp, step: number, meta, ...sent }: Behavior): Behavior {
  const own = Object.entries(meta ?? {}).filter(([name]) => !name.startsWith('svc.'))
  return own.length === 0 ? sent : { ...sent, meta: Object.fromEntries(own) }
}
