// The endpoint of a platform that supplies policies, with answers that a test chooses.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { policyDefaults } from '../engine/policy.js'

export const policy = (name: string, rule_type: string, params: object) => ({
  ...policyDefaults,
  id: 1,
  name,
  rule_type,
  params,
  severity: 'critical',
})
export const named = policy('steps have names', 'field_not_empty', { field: 'step_name' })
export const wrong = policy('steps have names', 'field_not_emptied', { field: 'step_name' })
const agent = {
  agent_id: 'ag_1',
  agent_key: 'desk',
  name: 'desk',
  purpose: null,
  owner_id: null,
  risk_classification: 'limited',
  effective_risk_classification: 'limited',
  environment: 'production',
  declared_tools: ['search', 'book'],
  attributes: {},
  active: true,
  created_at: '2026-01-05T09:00:00.000Z',
  updated_at: '2026-01-05T09:00:00.000Z',
}

/** Behaves as the endpoint: checks the key, the agent and the entity tag. */
export async function startEndpoint(port = 0) {
  const state = { policies: [named] as object[], status: 200, etag: '"1"', asked: 0, unchanged: 0 }
  const platform = createServer((request, response) => {
    state.asked += 1
    const url = new URL(request.url ?? '', 'http://x')
    if (request.headers.authorization !== 'Bearer SvcKey-secret') return response.writeHead(401).end()
    if (url.pathname !== '/api/v1/policies/effective') return response.writeHead(404).end('<html>')
    if (url.searchParams.get('agent_key') !== 'desk')
      return response
        .writeHead(404, { 'content-type': 'application/problem+json; charset=utf-8' })
        .end(JSON.stringify({ code: 'NOT_FOUND', detail: 'no such agent for this key: register it first' }))
    if (state.status !== 200) return response.writeHead(state.status, { location: 'http://elsewhere.example/' }).end()
    if (request.headers['if-none-match'] === state.etag) {
      state.unchanged += 1
      return response.writeHead(304).end()
    }
    const { policies } = state
    const body = { agent, policies, policies_offered: policies.length, manifests: [], ttl_seconds: 300 }
    return response.writeHead(200, { etag: state.etag }).end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => platform.listen(port, '127.0.0.1', () => resolve()))
  const close = async () => {
    platform.closeAllConnections()
    await new Promise((resolve) => platform.close(resolve))
  }
  return { state, url: `http://127.0.0.1:${(platform.address() as AddressInfo).port}`, close }
}
export const envFor = (url: string, more: object = {}) => ({
  SVC_API_URL: url,
  SVC_API_KEY: 'SvcKey-secret',
  SVC_AGENT_KEY: 'desk',
  SVC_POLICY_TTL_SECONDS: '0.2',
  ...more,
})
