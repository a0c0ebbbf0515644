// A platform with one agent, whose clock the tests move forward.
import { startPlatform } from '../../support/server/platform.js'

export const registration = { agent_key: 'booker', name: 'Travel', owner_id: 'ops', purpose: 'bookings' }

export interface Clock {
  /** ms since 1970. */
  now: number
}

export const newClock = (): Clock => ({ now: Date.UTC(2026, 0, 5, 12) })

export async function startWithAgent(clock: Clock, database_url?: string) {
  const platform = await startPlatform({ ...(database_url !== undefined && { database_url }), clock: () => clock.now })
  await platform.call('POST', '/api/v1/agents', { as: 'key', body: registration })
  return platform
}

/** A step of the agent. */
export const stepOf = (task_id: string, number: number, step_type: string) => ({
  task_id,
  step: number,
  step_type,
  timestamp: new Date(Date.UTC(2026, 0, 5, 9, 0, number)).toISOString(),
  agent_key: 'booker',
})
