// Keys of agents that read the same: an agent that is stopped or deactivated is not free under another spelling of its key.
import type { AgentList, RegisteredAgent } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'

interface Answer {
  readonly code: string
  readonly errors: readonly { readonly path: string; readonly message: string }[]
}

let platform: TestPlatform
beforeAll(async () => {
  platform = await startPlatform()
})
afterAll(() => discard(platform))

const register = (agent_key: string, as = 'key') =>
  platform.call<RegisteredAgent & Answer>('POST', '/api/v1/agents', { as, body: { agent_key } })

describe('an agent key that differs from a known one only by case or outer spaces', () => {
  const spellings = ['Refund-Desk', 'REFUND-DESK', 'refund-desk ', ' refund-desk', '  Refund-desk  ']

  it('is not the key of a new agent, at any door that registers', async () => {
    const first = await register('refund-desk')
    expect(first.status).toBe(201)
    await platform.call('POST', '/api/v1/stops', { body: { agent_key: 'refund-desk', reason: 'x' } })
    for (const agent_key of spellings) {
      const { status, body } = await register(agent_key)
      expect([agent_key, status, body.code]).toEqual([agent_key, 409, 'CONFLICT'])
      expect(body.errors).toEqual([{ path: 'agent_key', message: expect.stringContaining('`refund-desk`') }])
      const flat = { agent_key, conversation_id: 'c', text: 'hello' }
      // This door reads outer spaces as none: the step is one of the known agent.
      const { status: taken } = await platform.call('POST', '/api/v1/copilot/log', { as: 'key', body: flat })
      expect([agent_key, taken]).toEqual([agent_key, agent_key.trim() === 'refund-desk' ? 201 : 409])
    }
    const { agents } = (await platform.call<AgentList>('GET', '/api/v1/agents')).body
    expect(agents.map(({ agent_key }) => agent_key)).toEqual(['refund-desk'])
    await platform.call('DELETE', `/api/v1/agents/${first.body.agent_id}`)
    for (const agent_key of spellings) expect((await register(agent_key)).status).toBe(409)
  })

  it('is not the id of a new bot either, whatever its letters and Unicode form are', async () => {
    const log = (bot_id: string) => {
      const flat = { bot_id, name: 'the café', conversation_id: bot_id, text: 'hello' }
      return platform.call<Answer>('POST', '/api/v1/copilot/log', { as: 'key', body: flat })
    }
    expect((await log('Café-Bot')).status).toBe(201)
    for (const bot_id of ['café-bot', 'CAFÉ-BOT', 'Café-Bot'.normalize('NFD'), '\uff23afé-Bot']) {
      const { status, body } = await log(bot_id)
      expect([bot_id, status, body.code]).toEqual([bot_id, 409, 'CONFLICT'])
      expect(body.errors).toEqual([{ path: 'agent_key', message: expect.stringContaining('(`the café`)') }])
    }
    expect([(await log('Café-Bot')).status, (await log('Cafe-Bot')).status]).toEqual([201, 201])
    expect((await register('\uff23afe-bot')).status).toBe(422)
    expect((await log('\uff23afe-bot')).status).toBe(409)
  })

  it('is the key of an agent that has it already, and of agents of other API keys', async () => {
    expect([(await register('Other')).status, (await register('Other')).status]).toEqual([201, 200])
    expect((await register('other desk')).status).toBe(201)
    const body = { name: 'second', scopes: ['ingest'] }
    const made = await platform.call<{ key: string }>('POST', '/auth/api-keys', { body })
    expect((await register('other', made.body.key)).status).toBe(201)
  })
})
