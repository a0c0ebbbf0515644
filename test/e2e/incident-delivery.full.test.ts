// A local engine that delivers its incidents to a platform which is away, killed and started again: each arrives once.
import type { IncidentList, IncidentOccurrenceList } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { freePort } from '../support/postgres.js'
import { type PlatformProcess, startProcess } from '../support/process.js'
import { folderWith, type Serve, startServe } from '../support/serve.js'
import { soon } from '../support/soon.js'

const api_key = `SvcKey-${'k'.repeat(43)}`
const operator = 'operator-token-of-this-test-1234567890'

describe('incidents of svc serve with a platform', () => {
  let platform: PlatformProcess
  let serve: Serve
  let env: Record<string, string>
  beforeAll(async () => {
    env = {
      SVC_DATA_DIR: folderWith({}),
      SVC_PORT: String(await freePort()),
      SVC_SEED_API_KEY: api_key,
      SVC_OPERATOR_TOKEN: operator,
      SVC_CHECKPOINT_SECONDS: '0',
    }
    platform = await startProcess(env)
    await call('POST', 'agents', api_key, { agent_key: 'a', owner_id: 'o', purpose: 'p' })
    serve = await startServe(
      [],
      {},
      {
        SVC_API_URL: platform.url,
        SVC_API_KEY: api_key,
        SVC_AGENT_KEY: 'a',
        SVC_INCIDENT_LOCATION: 'api',
        // The steps are logged below.
        SVC_LOG_LOCATION: 'file:data/traces.jsonl',
      },
    )
  })
  afterAll(async () => {
    await serve.discard()
    await platform.terminate()
  })
  async function call<T>(method: string, path: string, token: string, body?: unknown): Promise<T> {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const options = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
    return (await fetch(`http://127.0.0.1:${env.SVC_PORT}/api/v1/${path}`, options)).json() as Promise<T>
  }
  const violate = async (task_id: string, step: number) => {
    const sent = { step_type: 'step.exec', task_id, step, agent_id: 'the local name' }
    expect((await serve.post('/record', { step: sent })).status).toBe(200)
  }
  const incidents = async (task_id: string) => {
    const { incidents } = await call<IncidentList>('GET', `incidents?task_id=${task_id}&q=gate`, operator)
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
    platform = await startProcess(env)
    await counted('t', 5)
    for (const step of [1, 2, 3, 4, 5]) {
      const logged = { agent_key: 'a', task_id: 't', step, step_type: 'step.exec', timestamp: '2026-01-05T09:00:00Z' }
      await call('POST', 'logs', api_key, logged)
    }
    await counted('t', 5)
    const [incident] = await incidents('t')
    const { occurrences } = await call<IncidentOccurrenceList>('GET', `incidents/${incident?.id}/occurrences`, operator)
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
