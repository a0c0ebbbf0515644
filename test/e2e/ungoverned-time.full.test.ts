// What a platform knows of the time in which it was stopped, in which the local engine was killed, and in which it had stopped.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EngineHealth, EngineIntervals } from '@svc/schemas'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { type Serve, startServe } from '../support/engine/serve.js'
import { discard, startPlatform as startOwnPlatform } from '../support/server/platform.js'
import { freePort } from '../support/server/postgres.js'
import { type PlatformProcess, startProcess } from '../support/server/process.js'
import { soon } from '../support/server/soon.js'

describe('ungoverned time of real processes', async () => {
  const data_dir = mkdtempSync(join(tmpdir(), 'svc-ungoverned-'))
  const caches = ['one', 'two'].map((name) => mkdtempSync(join(tmpdir(), `svc-ungoverned-${name}-`)))
  const port = String(await freePort())
  let platform: PlatformProcess
  let serve: Serve
  afterAll(async () => {
    await serve.discard()
    await platform.terminate()
    for (const folder of [data_dir, ...caches]) rmSync(folder, { recursive: true, force: true })
  })

  const startPlatform = async () => {
    platform = await startProcess({ SVC_DATA_DIR: data_dir, SVC_PORT: port })
  }
  const startEngine = async (cache = caches[0] ?? '') => {
    const bound = { SVC_API_URL: platform.url, SVC_API_KEY: platform.api_key, SVC_AGENT_KEY: 'desk' }
    serve = await startServe([], {}, { ...bound, SVC_POLICY_TTL_SECONDS: '1', SVC_CACHE_DIR: cache })
  }
  const run = async () => (await serve.call<EngineHealth>('GET', '/health')).body.instance_id
  const state = (load_state: string) =>
    vi.waitFor(async () => {
      expect((await serve.call<EngineHealth>('GET', '/health')).body).toMatchObject({ load_state })
    }, soon)
  const engines = async (): Promise<EngineIntervals> => {
    const headers = { authorization: `Bearer ${platform.operator_token}` }
    const read = async (path: string) => (await fetch(`${platform.url}/api/v1/agents${path}`, { headers })).json()
    const { agents } = (await read('')) as { agents: { agent_id: string }[] }
    return (await read(`/${agents[0]?.agent_id}/engines`)) as EngineIntervals
  }
  /** The states of a run, oldest first, once the platform has them. */
  const arrived = (instance_id: string, states: readonly string[]) =>
    vi.waitFor(async () => {
      const { intervals } = await engines()
      const own = intervals.filter((interval) => interval.instance_id === instance_id).reverse()
      expect(own.map(({ load_state }) => load_state)).toEqual(states)
    }, soon)
  const missing = async () =>
    (await engines()).governance.intervals.map(({ reason, instance_id }) => [reason, instance_id])

  let first: string

  it('is not the time in which the platform was stopped and the engine enforced its cache', async () => {
    await startPlatform()
    const headers = { authorization: `Bearer ${platform.api_key}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ agent_key: 'desk' })
    expect((await fetch(`${platform.url}/api/v1/agents`, { method: 'POST', headers, body })).status).toBe(201)
    await startEngine()
    first = await run()
    await state('enforcing')
    await arrived(first, ['enforcing'])
    await platform.kill9()
    await state('stale_cache')
    await startPlatform()
    await state('enforcing')
    await arrived(first, ['enforcing', 'stale_cache', 'enforcing'])
    expect(await missing()).toEqual([['no_engine', null]])
  })

  it('is not the time after an engine has stopped, in which no engine runs', async () => {
    serve.signal('SIGTERM')
    expect(await serve.ended).toBe(0)
    const { intervals } = await engines()
    expect(intervals[0]).toMatchObject({ instance_id: first, until: expect.any(String), unknown_since: null })
    expect(await missing()).toEqual([
      ['no_engine', null],
      ['stopped', null],
    ])
  })

  it('is the time in which an engine had neither a platform nor a cache, also after it was restarted', async () => {
    await platform.kill9()
    await startEngine(caches[1])
    const third = await run()
    await state('unavailable')
    serve.signal('SIGTERM')
    expect(await serve.ended).toBe(0)
    await startEngine(caches[1])
    const fourth = await run()
    await startPlatform()
    await state('enforcing')
    await arrived(third, ['unavailable'])
    await arrived(fourth, ['unavailable', 'enforcing'])
    expect((await missing()).slice(1)).toEqual([
      ['stopped', null],
      ['unavailable', third],
      ['stopped', null],
      ['unavailable', fourth],
    ])
    const { governance } = await engines()
    expect(governance.ungoverned_seconds).toBeGreaterThan(0)
  })
})

describe('the time after an engine was killed', () => {
  it('is unknown until the next one starts, and after the last heartbeat of that one', async () => {
    let passed = 0
    const platform = await startOwnPlatform({ clock: () => Date.now() + passed })
    const { body } = await platform.call<{ agent_id: string }>('POST', '/api/v1/agents', {
      as: 'key',
      body: { agent_key: 'desk' },
    })
    const engines = async () =>
      (await platform.call<EngineIntervals>('GET', `/api/v1/agents/${body.agent_id}/engines`)).body
    const runs = () => vi.waitFor(async () => expect((await engines()).intervals).toHaveLength(started), soon)
    let started = 1
    const bound = { SVC_API_URL: platform.url, SVC_API_KEY: platform.api_key, SVC_AGENT_KEY: 'desk' }
    const killed = await startServe([], {}, bound)
    await runs()
    started = 2
    const serve = await killed.restart()
    await runs()
    await serve.discard()
    passed = 600_000
    const { intervals, governance } = await engines()
    const [second, first] = intervals.map(({ instance_id }) => instance_id)
    const silent = governance.intervals.slice(1)
    expect(silent).toMatchObject([
      { state: 'unknown', reason: 'silent', instance_id: first, to: intervals[0]?.since },
      { state: 'unknown', reason: 'silent', instance_id: second, from: intervals[0]?.unknown_since, to: governance.to },
    ])
    await discard(platform)
  })
})
