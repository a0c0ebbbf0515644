// Requests of a task to `svc serve`, all of which succeed.
import type { EndedTask, Evaluation, RecordedStep } from '@svc/schemas'
import { expect } from 'vitest'
import type { Serve } from './serve.js'

/** A step that the baseline blocks, unless a gate passed shortly before. */
export const exec = { step_type: 'step.exec', step_name: 'make' }
export const gate = { step_type: 'step.gate', properties: { guard: { result: 'passed' } } }

/** Calls of the process that `serve` returns at that time: it may be restarted. */
export function callsOf(serve: () => Serve) {
  return {
    evaluate: async (task_id: string, intended: object = exec) => {
      const context = { agent_id: 'desk', task_id, environment: 'test', risk_classification: 'limited' }
      const { status, body } = await serve().post<Evaluation>('/evaluate', { intended, context })
      expect(status).toBe(200)
      return body
    },
    record: async (task_id: string, step: object) => {
      const { status, body } = await serve().post<RecordedStep>('/record', { step: { task_id, ...step } })
      expect(status).toBe(200)
      return body.step
    },
    endTask: async (task_id: string) => {
      const { status, body } = await serve().post<EndedTask>('/end_task', { task_id })
      expect([status, body.status, body.task_id]).toEqual([200, 'ok', task_id])
      return body.known
    },
  }
}
