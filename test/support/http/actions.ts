// Actions of a platform, and violations that trigger them.
import type { Action, Delivery, DeliveryList, IncidentList, MadeAction } from '@svc/schemas'
import { expect, vi } from 'vitest'
import type { TestPlatform } from '../server/platform.js'
import { soon } from '../server/soon.js'

type Caller = Pick<TestPlatform, 'call'>

export async function makeAction(platform: Caller, more: object): Promise<{ action: Action; secret: string }> {
  const body = { name: 'tell', on: 'incident.created', kind: 'webhook', ...more }
  const { status, body: made } = await platform.call<MadeAction>('POST', '/api/v1/actions', { body })
  expect([status, made]).toEqual([201, expect.anything()])
  return { action: made.action, secret: made.secret ?? '' }
}

/** Registers the agent whose steps violate the baseline. */
export const registerAgent = (platform: Caller, as = 'key') =>
  platform.call<{ agent_id: string }>('POST', '/api/v1/agents', {
    as,
    body: { agent_key: 'a', owner_id: 'o', purpose: 'p' },
  })

/** Opens an incident in a new task with this name; returns its id. */
export async function violate(platform: Caller, task_id: string): Promise<string> {
  const body = { task_id, step: 1, step_type: 'step.exec', timestamp: '2026-01-05T09:00:00Z' }
  const { status } = await platform.call('POST', '/api/v1/logs', { as: 'key', body })
  expect(status).toBe(201)
  const { incidents } = (await platform.call<IncidentList>('GET', `/api/v1/incidents?task_id=${task_id}`)).body
  expect(incidents).toHaveLength(1)
  return incidents[0]?.id ?? ''
}

/** The deliveries of an action, oldest first. */
export async function deliveriesOf(platform: Caller, action_id: string, more = ''): Promise<Delivery[]> {
  const path = `/api/v1/actions/${action_id}/deliveries?limit=200${more}`
  return (await platform.call<DeliveryList>('GET', path)).body.deliveries.toReversed()
}

/** Waits until the deliveries of an action are in these states, oldest first. */
export function inStates(platform: Caller, action_id: string, states: readonly string[]): Promise<Delivery[]> {
  return vi.waitFor(async () => {
    const deliveries = await deliveriesOf(platform, action_id)
    expect(deliveries.map(({ state }) => state)).toEqual(states)
    return deliveries
  }, soon)
}
