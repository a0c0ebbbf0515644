// A local engine that delivers its incidents to a platform which is away, killed and started again: each arrives once.
import type { IncidentList, IncidentOccurrenceList } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Serve, startServe } from '../support/engine/serve.js'
import { type PlatformProcess, startProcess } from '../support/server/process.js'
import { type SiteProcess, siteProcess } from '../support/server/site-process.js'
import { soon } from '../support/server/soon.js'

describe('incidents of svc serve with a platform', () => {
  let platform: PlatformProcess
  let serve: Serve
  let site: SiteProcess
  beforeAll(async () => {
    site = await siteProcess({ SVC_CHECKPOINT_SECONDS: '0' })
    platform = await startProcess(site.env)
    await site.asKey('POST', 'agents', { agent_key: 'a', owner_id: 'o', purpose: 'p' })
    // The steps are logged below.
    const locations = { SVC_INCIDENT_LOCATION: 'api', SVC_LOG_LOCATION: 'file:data/traces.jsonl' }
    serve = await startServe([], {}, { ...site.bind('a'), ...locations })
  })
  afterAll(async () => {
    await serve.discard()
    await platform.terminate()
  })
  const violate = async (task_id: string, step: number) => {
    const sent = { step_type: 'step.exec', task_id, step, agent_id: 'a' }
    expect((await serve.post('/record', { step: sent })).status).toBe(200)
  }
  const incidents = async (task_id: string) => {
    const { incidents } = await site.asOperator<IncidentList>('GET', `incidents?task_id=${task_id}&q=gate`)
    return incidents
  }
  const counted = (task_id: string, count: number) =>
    vi.waitFor(
      async () => expect((await incidents(task_id)).map(({ occurrences }) => occurrences)).toEqual([count]),
      soon,
    )

  it('arrive once, while it is up, away, and after both were killed, and join the steps that are logged', async () => {
    await violate('t', 1)
    await counted('t', 1)
    await platform.terminate()
    for (const step of [2, 3, 4]) await violate('t', step)
    serve = await serve.restart()
    await violate('t', 5)
    platform = await startProcess(site.env)
    await counted('t', 5)
    for (const step of [1, 2, 3, 4, 5]) {
      const logged = { agent_key: 'a', task_id: 't', step, step_type: 'step.exec', timestamp: '2026-01-05T09:00:00Z' }
      await site.asKey('POST', 'logs', logged)
    }
    await counted('t', 5)
    const [incident] = await incidents('t')
    const { occurrences } = await site.asOperator<IncidentOccurrenceList>(
      'GET',
      `incidents/${incident?.id}/occurrences`,
    )
    expect(occurrences.map(({ step }) => step)).toEqual([1, 2, 3, 4, 5])
    expect(occurrences.every(({ log_id, is_evaluated, is_reported }) => log_id && is_evaluated && is_reported)).toBe(
      true,
    )
    // Restarted again, the engine has nothing left to send.
    serve.signal('SIGTERM')
    expect(await serve.ended).toBe(0)
    expect(serve.printed().err).not.toContain('not sent yet')
  })
})
