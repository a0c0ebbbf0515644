// `svc serve` with a manifest that is pinned to tasks, over HTTP: a change, and a restart while the platform is unavailable.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { EffectivePolicies, EngineHealth, Evaluation } from '@svc/schemas'
import { afterEach, describe, expect, it } from 'vitest'
import { answerWith, type SentManifest } from '../../support/engine/changing-source.js'
import { type Serve, startServe } from '../../support/engine/serve.js'

const version = (sha: string): SentManifest => ({
  manifest_id: 'man_1',
  sha,
  pin: 'task',
  policies: [{ rule_type: 'field_not_empty', params: { field: 'step_name' }, severity: 'high' }],
})

let serve: Serve | null = null
let platform: Server | null = null
afterEach(async () => {
  await serve?.discard()
  platform?.closeAllConnections()
  platform?.close()
})

async function startEndpoint(body: EffectivePolicies) {
  const state = { body }
  platform = createServer((request, response) => {
    if (!request.url?.startsWith('/api/v1/policies/effective')) return response.writeHead(404).end()
    return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(state.body))
  })
  await new Promise<void>((resolve) => platform?.listen(0, '127.0.0.1', () => resolve()))
  return { state, url: `http://127.0.0.1:${(platform.address() as AddressInfo).port}` }
}

async function shaFor(task_id: string) {
  const context = { agent_id: 'ag_1', task_id, environment: 'test', risk_classification: 'limited' }
  const answer = await serve?.post<Evaluation>('/evaluate', { intended: { step_type: 'step.exec' }, context })
  return answer?.body.manifests
}

describe('a running task of `svc serve`', () => {
  it('keeps the version of a pinned manifest, also after a restart from the cache', async () => {
    const { state, url } = await startEndpoint(answerWith([version('1')]))
    serve = await startServe([], {}, { SVC_API_URL: url, SVC_API_KEY: 'SvcKey-x', SVC_AGENT_KEY: 'desk' })
    await serve.post('/record', { step: { step_type: 'task.start', task_id: 't', agent_id: 'ag_1' } })
    state.body = answerWith([version('2')], [version('1')])
    await serve.post<EngineHealth>('/reload', {})
    const old = [{ manifest_id: 'man_1', sha: '1' }]
    const next = [{ manifest_id: 'man_1', sha: '2' }]
    expect([await shaFor('t'), await shaFor('later')]).toEqual([old, next])
    platform?.closeAllConnections()
    await new Promise((resolve) => platform?.close(resolve))
    serve = await serve.restart()
    const health = await serve.call<EngineHealth>('GET', '/health')
    expect(health.body.load_state).toBe('stale_cache')
    expect([await shaFor('t'), await shaFor('later')]).toEqual([old, next])
  })
})
