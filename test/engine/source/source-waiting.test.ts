// A platform source that waits for changes: what it asks, and what counts as a failure.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { apiSource } from '../../../engine/source/api.js'
import { delayBefore, notConnected, waitOf } from '../../../engine/source/connection.js'
import { emptyMemory } from '../../../engine/source/memory.js'
import type { PolicySource } from '../../../engine/source/source.js'
import { policyDefaults } from '../../support/engine/policy.js'
import { soon } from '../../support/server/soon.js'

const policy = ({ id }: { id: number }) => ({
  ...policyDefaults,
  id,
  name: 'named',
  rule_type: 'field_not_empty',
  params: { field: 'step_name' },
  severity: 'low',
})

const agent = {
  agent_id: 'ag_0',
  agent_key: 'a',
  name: 'a',
  purpose: null,
  owner_id: null,
  risk_classification: 'unclassified',
  effective_risk_classification: 'unclassified',
  environment: 'development',
  declared_tools: null,
  attributes: {},
  active: true,
  created_at: '2026-01-05T09:00:00.000Z',
  updated_at: '2026-01-05T09:00:00.000Z',
}
/** The answer with one policy of this id. */
const bodyOf = (id: number) =>
  JSON.stringify({ agent, policies: [policy({ id })], policies_offered: 1, manifests: [], ttl_seconds: 300 })

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

interface Endpoint {
  etag: string
  /** What happens to a request that would wait. */
  hold: (request: IncomingMessage, response: ServerResponse) => void
  /** The header Prefer of each request. */
  readonly asked: string[]
  readonly url: string
}

async function startEndpoint(hold: Endpoint['hold'], confirms = true): Promise<Endpoint> {
  const server: Server = createServer((request, response) => {
    const prefer = String(request.headers.prefer ?? '')
    endpoint.asked.push(prefer)
    const applied = prefer !== '' && confirms ? { 'preference-applied': prefer } : {}
    if (request.headers['if-none-match'] !== endpoint.etag)
      response.writeHead(200, { etag: endpoint.etag, ...applied }).end(bodyOf(Number(endpoint.etag.slice(1, -1))))
    else if (prefer === '' || !confirms) response.writeHead(304, applied).end()
    else endpoint.hold(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const endpoint: Endpoint = { etag: '"1"', hold, asked: [], url }
  closing.push(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return endpoint
}

async function startSource(url: string) {
  const lines: string[] = []
  const cache = { read: () => null, write: () => undefined, remove: () => undefined }
  const report = (line: string) => lines.push(line)
  const address = { url, api_key: 'k', agent_key: 'a' }
  const source = await apiSource({
    ...address,
    cache,
    ttl: null,
    clock: Date.now,
    random: () => 0,
    fail_closed: false,
    report,
  })
  closing.push(source.close)
  return { source, lines }
}

const idOf = (source: PolicySource) => source.current().set.policies[0]?.policy.id

describe('a source', () => {
  it('waits at the platform, gets a change at once, and reloads while it waits', async () => {
    let answerHeld = () => undefined as unknown
    const endpoint = await startEndpoint((_request, response) => {
      answerHeld = () => response.writeHead(200, { etag: endpoint.etag }).end(bodyOf(2))
    })
    const { source } = await startSource(endpoint.url)
    await vi.waitFor(() => expect(endpoint.asked).toEqual(['wait=25', 'wait=25']), soon)
    endpoint.etag = '"2"'
    answerHeld()
    await vi.waitFor(() => expect(idOf(source)).toBe(2), soon)
    // The answer did not confirm the wait: the next request is one TTL away, but a reload is not.
    endpoint.etag = '"3"'
    await source.reload()
    expect([idOf(source), endpoint.asked.at(-1)]).toEqual([3, ''])
  })

  it('reloads at once while the platform holds its request, and waits again', async () => {
    const endpoint = await startEndpoint(() => undefined)
    const { source } = await startSource(endpoint.url)
    await vi.waitFor(() => expect(endpoint.asked).toHaveLength(2), soon)
    expect((await source.reload()).last_fetch_succeeded).toBe(true)
    await vi.waitFor(() => expect(endpoint.asked).toEqual(['wait=25', 'wait=25', '', 'wait=25']), soon)
  })

  it('takes a cut connection for no failure while the platform answers, and waits for less time', async () => {
    const endpoint = await startEndpoint((request) => setTimeout(() => request.destroy(), 1_100))
    const { source, lines } = await startSource(endpoint.url)
    await vi.waitFor(() => expect(endpoint.asked.length).toBeGreaterThan(4), soon)
    expect(endpoint.asked.slice(0, 4)).toEqual(['wait=25', 'wait=25', '', 'wait=5'])
    expect(source.current()).toMatchObject({ load_state: 'enforcing', last_fetch_problem: null })
    expect(lines).toEqual([])
  })

  it('asks a platform that does not confirm the wait once each TTL', async () => {
    const endpoint = await startEndpoint(() => undefined, false)
    const { source } = await startSource(endpoint.url)
    await source.reload()
    await source.reload()
    expect(endpoint.asked).toEqual(['wait=25', '', ''])
  })
})

describe('the next request', () => {
  const memory = { ...emptyMemory(0, 300_000), started: true }
  it.each([
    { what: 'connected', connection: { holds: true }, memory: {}, wait: 25, delay: 50 },
    { what: 'not connected', connection: { holds: false }, memory: {}, wait: 25, delay: 216_000 },
    { what: 'after a quick 304', connection: { holds: true, is_hasty: true }, memory: {}, wait: 25, delay: 500 },
    { what: 'after a cut', connection: { holds: true, is_cut: true }, memory: {}, wait: 0, delay: 0 },
    { what: 'after a failure', connection: { holds: true }, memory: { failures: 1 }, wait: 0, delay: 400 },
    { what: 'with a short TTL', connection: { holds: true }, memory: { ttl: 10_000 }, wait: 8, delay: 50 },
    { what: 'with the shortest TTL', connection: { holds: true }, memory: { ttl: 1_000 }, wait: 0, delay: 720 },
  ])('$what', ({ connection, memory: more, wait, delay }) => {
    const at = { ...notConnected, ...connection }
    expect([waitOf(at, { ...memory, ...more }), delayBefore(at, { ...memory, ...more }, 0)]).toEqual([wait, delay])
  })
})
