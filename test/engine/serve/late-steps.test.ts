// Acts that were recorded without an evaluation before them are marked: no report counts them as evaluated before they ran.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Behavior } from '@svc/schemas'
import { afterAll, describe, expect, it } from 'vitest'
import { openDecisionFile } from '../../../engine/serve/decisions/file.js'
import { baselineSource } from '../../../engine/source/baseline.js'
import { engineHere } from '../../support/engine/local-engine.js'

const data = mkdtempSync(join(tmpdir(), 'svc-late-'))
afterAll(() => rmSync(data, { recursive: true, force: true }))

const exec: Behavior = { step_type: 'step.exec', step_name: 'make', properties: { exec: { command: 'make' } } }

function started(file: ReturnType<typeof openDecisionFile> = null) {
  const time = { now: Date.UTC(2026, 0, 5, 9) }
  const clock = () => time.now
  const timeout = 600_000
  const here = engineHere({ source: baselineSource(null, clock), clock, timeout, ask_timeout: timeout, file })
  const context = { agent_id: 'desk', task_id: 't', environment: 'test', risk_classification: 'limited' } as const
  return {
    time,
    decisions: here.decisions,
    evaluate: (intended: Behavior) => here.engine.evaluate({ intended, context }),
    record: (step: Behavior) => here.engine.record({ step: { task_id: 't', ...step } }),
    late: () => here.trace.flatMap((line) => (line.kind === 'step' ? [line.meta?.['svc.late'] === true] : [])),
  }
}

describe('a step that was recorded without a decision', () => {
  it('is marked when it is an act', async () => {
    const here = started()
    await here.record({ step_type: 'task.start' })
    await here.record({ step_type: 'step.message', verb: 'GET', input: { text: 'hello' } })
    await here.record({ ...exec, meta: { 'svc.late': false } })
    await here.evaluate({ ...exec, step_name: 'test' })
    await here.record({ ...exec, step_name: 'test', output: { text: 'done' } })
    await here.record({ step_type: 'step.gate', properties: { guard: { result: 'passed' } } })
    await here.record({ step_type: 'step.model', verb: 'POST' })
    await here.record({ ...exec, step_name: 'rm', output: { status: 'blocked' } })
    // The blocked step adds the two ends of its task.
    expect(here.late()).toEqual([false, false, true, false, false, true, false, false, false])
  })

  it('is not one whose decision an earlier process made', async () => {
    const one = started(openDecisionFile(data, () => undefined))
    await one.evaluate(exec)
    one.time.now += 1000
    one.decisions.save()
    // A killed process leaves its lock, which names a process that has ended.
    writeFileSync(join(data, 'decisions', 'lock'), '999999999 1')
    const two = started(openDecisionFile(data, () => undefined))
    await two.record(exec)
    await two.record(exec)
    expect(two.late()).toEqual([false, true])
  })
})
