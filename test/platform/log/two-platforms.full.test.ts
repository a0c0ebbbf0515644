// Two platforms on one PostgreSQL server: many writers on few tasks, and changes that each must see of the other.
import type { LoggedStep, Verification } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'
import { sharedPostgres } from '../../support/server/postgres.js'

const postgres = await sharedPostgres()

describe.skipIf(postgres === null)('two platforms on one server', () => {
  if (postgres === null) return
  const url = postgres.freshDatabase()
  const key = `SvcKey-${'s'.repeat(43)}`
  let platforms: TestPlatform[]
  beforeAll(async () => {
    const start = () => startPlatform({ database_url: url, env: { SVC_SEED_API_KEY: key } })
    platforms = await Promise.all([start(), start()])
    await send(0, '/api/v1/agents', { agent_key: 'a' })
  })
  afterAll(async () => {
    await Promise.all(platforms.map(discard))
  })
  const send = (which: number, path: string, body: unknown) => {
    const platform = platforms[which % 2]
    if (platform === undefined) throw new Error('not started')
    return platform.call<LoggedStep>('POST', path, { as: key, body })
  }
  const log = (which: number, task_id: string, step: number, step_type: string, more = {}) =>
    send(which, '/api/v1/logs', { task_id, step, step_type, timestamp: '2026-01-05T09:00:00Z', ...more })

  it('keep one order per task and one log, with 64 writers on 8 tasks', async () => {
    for (let task = 0; task < 8; task++) await log(task, `hot-${task}`, 1, 'START_NODE')
    const answers: LoggedStep[] = []
    await Promise.all(
      Array.from({ length: 64 }, async (_, writer) => {
        for (let round = 0; round < 20; round++) {
          const { status, body } = await log(
            writer + round,
            `hot-${writer % 8}`,
            2 + round * 8 + Math.floor(writer / 8),
            'step.model',
          )
          expect(status).toBe(201)
          answers.push(body)
        }
      }),
    )
    expect(new Set(answers.map((answer) => answer.log_index)).size).toBe(64 * 20)
    for (let task = 0; task < 8; task++) {
      const own = answers.filter((answer) => answer.task_id === `hot-${task}`).sort((a, b) => a.seq - b.seq)
      expect(own.map((answer) => answer.seq)).toEqual(own.map((_, index) => index + 2))
      for (const [index, answer] of own.entries()) if (index > 0) expect(answer.prev_hash).toBe(own[index - 1]?.hash)
      const verdict = await platforms[task % 2]?.call<Verification>('GET', `/api/v1/tasks/hot-${task}/verify`, {
        as: key,
      })
      expect(verdict?.body.integrity).toEqual({ ok: true, first_bad: null })
    }
  })

  it('evaluate a step after the steps that the other logged', async () => {
    await log(0, 'shared', 1, 'START_NODE')
    expect((await log(1, 'shared', 2, 'step.exec')).body.violations.map((found) => found.name)).toEqual([
      'Code runs only after a gate',
    ])
    await log(0, 'shared', 3, 'step.gate')
    expect((await log(1, 'shared', 4, 'step.exec')).body.violations).toEqual([])
    await log(0, 'shared', 5, 'ERROR_NODE')
    expect((await log(1, 'shared', 6, 'step.model')).body.violations.map((found) => found.name)).toEqual([
      'Nothing after an error',
    ])
  })

  it('see a change of an agent at the other', async () => {
    const tool = (which: number, step: number) =>
      log(which, 'tools', step, 'step.resource', { verb: 'POST', step_name: 'wire' })
    expect((await tool(0, 1)).body.violations).toEqual([])
    expect((await tool(1, 2)).body.violations).toEqual([])
    await send(0, '/api/v1/agents', { agent_key: 'a', declared_tools: ['search'] })
    expect((await tool(1, 3)).body.violations.map((found) => found.name)).toEqual(['Only declared tools'])
  })

  it('recognize a retry at the other', async () => {
    const first = await log(0, 'retry', 1, 'START_NODE')
    const again = await log(1, 'retry', 1, 'START_NODE')
    expect([again.status, again.body]).toEqual([200, first.body])
  })
})
