// A log that grows and is signed every second.
import type { BatchAnswer, LogCheckpoint } from '@svc/schemas'
import { expect, vi } from 'vitest'
import type { TestPlatform } from '../server/platform.js'
import { soon } from '../server/soon.js'

export const fast = { SVC_CHECKPOINT_SECONDS: '1', SVC_LOG_HOST: 'log.example' }

/** Logs a task of `count` steps. */
export async function logSteps(platform: TestPlatform, task_id: string, count: number) {
  const entries = Array.from({ length: count }, (_, index) => {
    const step_type = index === 0 ? 'START_NODE' : 'step.model'
    return { task_id, step: index + 1, step_type, timestamp: '2026-01-05T09:00:00Z', input: { index } }
  })
  const { status, body } = await platform.call<BatchAnswer>('POST', '/api/v1/logs/batch', {
    as: 'key',
    body: { entries },
  })
  expect(status).toBe(200)
  return body
}

export const register = (platform: TestPlatform) =>
  platform.call('POST', '/api/v1/agents', { as: 'key', body: { agent_key: 'a' } })

/** Leaves of a log before its first step: workspace, library, key, assignment, agent, and an incident with its event. */
export const begun = 7

/** The checkpoint of a log with this number of steps. */
export async function checkpointOf(platform: TestPlatform, steps: number): Promise<LogCheckpoint> {
  const size = begun + steps
  return vi.waitFor(async () => {
    const { status, body } = await platform.call<LogCheckpoint>('GET', '/api/v1/log/checkpoint')
    expect([status, body.size]).toEqual([200, size])
    return body
  }, soon)
}
