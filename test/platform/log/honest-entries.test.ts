// Every verifier accepts what the API accepts: odd numbers, names, strings and depths.
import { canonical, parseJson } from '@svc/proof'
import type { Agent } from '@svc/schemas'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { deepObject, oddObject } from '../../support/engine/odd-json.js'
import { describeHonestEntries } from '../../support/log/honest-log.js'

await describeHonestEntries(100, (started, seed) => {
  it('include agents, whose attributes are stored as they were sent', async () => {
    const platform = started()
    const holdsNul = /\\u0000/
    const sent = [...fc.sample(oddObject, { numRuns: 15, seed }), deepObject(63), deepObject(63, '"constructor"')]
    for (const [at, text] of sent.entries()) {
      const raw = `{"agent_key":"odd ${at}","more":${text}}`
      const { status, body } = await platform.call<Agent>('POST', '/api/v1/agents', { as: 'key', raw })
      expect([text, status]).toEqual([text, holdsNul.test(text) ? 422 : 201])
      if (status !== 201) continue
      const agent = await platform.call<Agent>('GET', `/api/v1/agents/${body.agent_id}`)
      expect(canonical(agent.body.attributes.more)).toBe(canonical(parseJson(text)))
    }
  })
})
