// Whatever one edge accepts, every reader accepts: odd numbers, names, strings and depths, through the log to both verifiers.
import { canonical } from '@svc/proof'
import type { Agent } from '@svc/schemas'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectHonest, longPolicies, startWithLongPolicies, stop } from '../../support/honest-log.js'
import { deepObject, oddObject } from '../../support/odd-json.js'
import type { TestPlatform } from '../../support/platform.js'
import { sharedPostgres } from '../../support/postgres.js'

const postgres = await sharedPostgres()
const seed = Number(process.env.SVC_HONEST_SEED ?? Date.now() % 2 ** 31)

describe('honest entries', () => {
  let platform: TestPlatform
  beforeAll(async () => {
    platform = await startWithLongPolicies(postgres)
  })
  afterAll(() => stop(platform))

  it('are never called altered', async () => {
    const report = await expectHonest(platform, 200, seed, postgres === null ? 0 : longPolicies.length)
    expect(report).toContain('0 called altered')
  })

  it('may be agents: what they are registered with is stored as it was sent', async () => {
    const holdsNul = /\\u0000/
    const sent = [...fc.sample(oddObject, { numRuns: 40, seed }), deepObject(63), deepObject(63, '"constructor"')]
    for (const [at, text] of sent.entries()) {
      const raw = `{"agent_key":"odd ${at}","more":${text}}`
      const { status, body } = await platform.call<Agent>('POST', '/api/v1/agents', { as: 'key', raw })
      expect([text, status]).toEqual([text, holdsNul.test(text) ? 422 : 201])
      if (status !== 201) continue
      const agent = await platform.call<Agent>('GET', `/api/v1/agents/${body.agent_id}`)
      expect(canonical(agent.body.attributes.more)).toBe(canonical(JSON.parse(text)))
    }
  })
})
