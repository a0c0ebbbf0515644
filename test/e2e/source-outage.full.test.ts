// An outage of the platform, seen from the local engine, which evaluates all the time.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EngineHealth, EngineIntervals } from '@svc/schemas'
import { expect, it, vi } from 'vitest'
import { startServe } from '../support/engine/serve.js'
import { freePort } from '../support/server/postgres.js'
import { type PlatformProcess, startProcess } from '../support/server/process.js'
import { soon } from '../support/server/soon.js'

it('enforcing, stale_cache, a restart, stale_cache, enforcing', async () => {
  const data_dir = mkdtempSync(join(tmpdir(), 'svc-away-'))
  const cache = mkdtempSync(join(tmpdir(), 'svc-away-cache-'))
  const port = String(await freePort())
  let platform: PlatformProcess = await startProcess({ SVC_DATA_DIR: data_dir, SVC_PORT: port })
  const env = {
    SVC_API_URL: platform.url,
    SVC_API_KEY: platform.api_key,
    SVC_AGENT_KEY: 'desk',
    SVC_POLICY_TTL_SECONDS: '1',
    SVC_CACHE_DIR: cache,
  }
  const operator = () => ({ authorization: `Bearer ${platform.operator_token}` })
  const headers = { authorization: `Bearer ${platform.api_key}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ agent_key: 'desk' })
  expect((await fetch(`${platform.url}/api/v1/agents`, { method: 'POST', headers, body })).status).toBe(201)
  let serve = await startServe([], {}, env)
  const health = async () => (await serve.call<EngineHealth>('GET', '/health')).body
  const eventually = (expected: object) => vi.waitFor(async () => expect(await health()).toMatchObject(expected), soon)

  await eventually({ load_state: 'enforcing', policy_count: 15, stale: false, last_fetch_succeeded: true })

  await platform.kill9()
  await eventually({ load_state: 'stale_cache', policy_count: 15, stale: true, last_fetch_succeeded: false })
  serve.signal('SIGTERM')
  expect(await serve.ended).toBe(0)
  await serve.discard()
  serve = await startServe([], {}, env)
  expect(await health()).toMatchObject({ load_state: 'stale_cache', policy_count: 15, stale: true })

  platform = await startProcess({ SVC_DATA_DIR: data_dir, SVC_PORT: port })
  await eventually({ load_state: 'enforcing', policy_count: 15, stale: false, last_fetch_succeeded: true })
  // The platform learns the states of both runs of the engine, also those during the outage.
  const listed = await fetch(`${platform.url}/api/v1/agents`, { headers: operator() })
  const { agents } = (await listed.json()) as { agents: { agent_id: string }[] }
  const states = async () => {
    const answer = await fetch(`${platform.url}/api/v1/agents/${agents[0]?.agent_id}/engines`, { headers: operator() })
    const { intervals } = (await answer.json()) as EngineIntervals
    return [...new Set(intervals.map(({ instance_id }) => instance_id))]
      .reverse()
      .map((run) => intervals.filter(({ instance_id }) => instance_id === run).map(({ load_state }) => load_state))
  }
  const expected = [
    ['stale_cache', 'enforcing'],
    ['enforcing', 'stale_cache'],
  ]
  await vi.waitFor(async () => expect(await states()).toEqual(expected), soon)
  await serve.discard()
  await platform.terminate()
  for (const folder of [data_dir, cache]) rmSync(folder, { recursive: true, force: true })
})
