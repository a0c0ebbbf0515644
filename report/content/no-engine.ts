import type { AgentResult } from './report-data.js'

/** True if no local engine of the agent had reported by the end of the period: it only logged to the platform. */
export function hasNoEngine({ governance }: Pick<AgentResult, 'governance'>): boolean {
  const { governed_seconds, intervals, more } = governance
  const isOfPlatform = intervals.every(({ reason }) => reason === 'no_engine' || reason === 'no_policy')
  return governed_seconds === 0 && more === 0 && isOfPlatform && intervals.some(({ reason }) => reason === 'no_engine')
}
