// A client that reads only the answer can follow it: it posts the steps of the remedy and evaluates again.
import type { Evaluation, RecordedStep } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Serve, startServe } from '../../support/engine/serve.js'

let serve: Serve
beforeAll(async () => {
  serve = await startServe(['--baseline'])
})
afterAll(() => serve.discard())

describe('a blocked client', () => {
  it('is allowed after it has posted the first step of the remedy to /record unchanged', async () => {
    const request = {
      intended: { step_type: 'step.exec', properties: { exec: { command: 'make' } } },
      context: { agent_id: 'me', task_id: 'remedy', environment: 'development' },
    }
    const before = await serve.post<Evaluation>('/evaluate', request)
    expect(before.body).toMatchObject({ blocked: true, violations: [{ name: 'Code runs only after a gate' }] })
    const [step] = before.body.violations[0]?.violation_details?.remedy_steps ?? []
    // The rule names the steps of its remedy.
    expect(step).toMatchObject({ step: { task_id: 'remedy', step_type: 'step.gate' } })
    expect((await serve.post<RecordedStep>('/record', step)).body).toEqual({ step: 1, task_id: 'remedy' })
    const after = await serve.post<Evaluation>('/evaluate', request)
    expect(after.body).toMatchObject({ action: 'allow', blocked: false, reason: null })
  })
})
