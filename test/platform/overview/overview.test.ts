// The numbers of the overview: each is the total of the list that it counts.
import type { LogList, Overview, RegisteredAgent } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'

const day = 86_400_000
let now = Date.parse('2026-01-05T12:00:00Z')
let platform: TestPlatform
beforeAll(async () => {
  platform = await startPlatform({ clock: () => now })
})
afterAll(() => discard(platform))

const overview = async () => (await platform.call<Overview>('GET', '/api/v1/overview')).body

async function total(path: string): Promise<number> {
  return (await platform.call<{ total: number }>('GET', `/api/v1/${path}`)).body.total
}

async function register(agent_key: string): Promise<string> {
  const body = { agent_key, owner_id: 'o', purpose: 'p' }
  return (await platform.call<RegisteredAgent>('POST', '/api/v1/agents', { as: 'key', body })).body.agent_id
}

function log(task_id: string, step: number, step_type: string) {
  const body = { agent_key: 'one', task_id, step, step_type, timestamp: new Date(now).toISOString() }
  return platform.call('POST', '/api/v1/logs', { as: 'key', body })
}

describe('the overview', () => {
  it('is zero everywhere in an empty workspace', async () => {
    expect(await overview()).toEqual({
      tasks: 0,
      unfinished_tasks: 0,
      open_incidents: { critical: 0, high: 0, medium: 0, low: 0 },
      stopped_agents: 0,
      agents_without_engine: 0,
      ungoverned_agents: 0,
      held_assignments: 0,
      newest_step: null,
      checkpoint: null,
    })
  })

  it('has the totals of the lists', async () => {
    const stopped = await register('one')
    await register('two')
    await log('old', 1, 'task.start')
    // This step violates a policy of the baseline.
    await log('old', 2, 'step.exec')
    now += day
    await log('new', 1, 'task.start')
    await platform.call('POST', '/api/v1/stops', { body: { agent_id: stopped, reason: 'r' } })
    const severities = ['critical', 'high', 'medium', 'low']
    const open = await Promise.all(severities.map((one) => total(`incidents?state=open,active&severity=${one}`)))
    const newest = (await platform.call<LogList>('GET', '/api/v1/logs?limit=1')).body.logs[0]
    const { checkpoint: _, ...found } = await overview()
    expect(found).toEqual({
      tasks: await total('logs/tasks'),
      unfinished_tasks: await total('logs/tasks?unfinished=true'),
      open_incidents: Object.fromEntries(severities.map((one, index) => [one, open[index]])),
      stopped_agents: await total('agents?stopped=true'),
      agents_without_engine: await total('agents?engine=false'),
      ungoverned_agents: await total('agents?governed=false'),
      held_assignments: await total('assignments?held=true'),
      newest_step: newest?.log_index,
    })
    expect(found).toMatchObject({
      tasks: 2,
      unfinished_tasks: 1,
      stopped_agents: 1,
      agents_without_engine: 2,
      ungoverned_agents: 2,
    })
    expect([Math.max(...open) > 0, Number(newest?.log_index) > 0]).toEqual([true, true])
  })
})
