// The start of an engine whose platform rejects its key, its agent or its address.
import { join } from 'node:path'
import type { EngineHealth, Evaluation } from '@svc/schemas'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { runSvc, type Serve, startServe } from '../../support/engine/serve.js'
import { envFor, startEndpoint } from '../../support/http/policy-endpoint.js'
import { soon } from '../../support/server/soon.js'

let serve: Serve | null = null
let close: (() => Promise<void>) | null = null
afterEach(async () => {
  await serve?.discard()
  await close?.()
  serve = null
  close = null
})
async function started() {
  const endpoint = await startEndpoint()
  close = endpoint.close
  return endpoint
}
const health = async () => (await serve?.call<EngineHealth>('GET', '/health'))?.body
const eventually = (expected: object) => vi.waitFor(async () => expect(await health()).toMatchObject(expected), soon)
const context = { agent_id: 'ag_1', task_id: 't', environment: 'test', risk_classification: 'minimal' as const }

describe('a platform', () => {
  it.each([
    { what: 'a wrong key', env: { SVC_API_KEY: 'SvcKey-wrong' }, status: 200, message: 'SVC_API_KEY is wrong' },
    { what: 'a key that may not read', env: {}, status: 403, message: 'set it to a key with the scope `read`' },
    {
      what: 'an unknown agent',
      env: { SVC_AGENT_KEY: 'unregistered' },
      status: 200,
      message: 'SVC_AGENT_KEY is wrong',
    },
    { what: 'a path that does not exist', env: {}, path: '/api', status: 200, message: 'SVC_API_URL is wrong' },
  ])(
    'that rejects $what at the start ends the engine with the variable',
    async ({ env, path = '', status, message }) => {
      const { state, url } = await started()
      state.status = status
      for (const fail_closed of [[], ['--fail-closed']]) {
        const { code, out, err } = await runSvc(['serve', '--port', '0', ...fail_closed], envFor(url + path, env))
        expect([code, out]).toEqual([1, ''])
        expect(err.split(message)).toHaveLength(2)
        expect(err).toMatch(/; the engine does not start\n$/)
        expect(err).not.toMatch(/SvcKey-|is allowed/)
      }
    },
  )

  it('that rejects the key of an engine with earlier policies on disk leaves them in effect', async () => {
    const { url } = await started()
    serve = await startServe([], {}, envFor(url))
    const SVC_CACHE_DIR = join(serve.folder, 'data', 'cache')
    const other = await startServe([], {}, envFor(url, { SVC_CACHE_DIR, SVC_API_KEY: 'SvcKey-revoked' }))
    const { body } = await other.call<EngineHealth>('GET', '/health')
    const { err } = other.printed()
    await other.discard()
    expect(body).toMatchObject({ load_state: 'stale_cache', stale: true, policy_count: 1 })
    expect(err).toContain('SVC_API_KEY is wrong')
    expect(err).toContain('1 policy stays in effect, stale')
  })

  it('that is away leaves an engine that fails closed with a line that is true', async () => {
    const { state, url } = await started()
    state.status = 503
    serve = await startServe(['--fail-closed'], {}, envFor(url))
    const line = 'unavailable: the source gave no policies; every step is blocked;'
    await vi.waitFor(() => expect(serve?.printed().err).toContain(line), soon)
    const intended = { step_type: 'step.exec' }
    expect((await serve.post<Evaluation>('/evaluate', { intended, context })).body.blocked).toBe(true)
    state.status = 401
    await eventually({ last_fetch_problem: expect.stringContaining('SVC_API_KEY is wrong') })
    expect(serve.printed().err).not.toContain('is allowed')
  })
})
