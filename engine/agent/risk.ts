// Risk levels and the score of a decision (docs/design/engine.md §4, §5).
import type { Agent, PolicyResult } from '@svc/schemas'

export type RiskLevel = Agent['risk_classification']

/** The level that is meant; what is none, or missing, is unclassified. */
export function riskLevelOf(said: unknown): RiskLevel {
  return order.find((level) => level === said) ?? 'unclassified'
}

const order: readonly RiskLevel[] = ['minimal', 'limited', 'high', 'unacceptable']

/**
 * True when a manifest's policy of that level is put on an agent: a level above the agent's is skipped,
 * and an unclassified agent skips nothing.
 */
export function levelApplies(policy_level: RiskLevel | null, agent_level: RiskLevel): boolean {
  if (policy_level === null || agent_level === 'unclassified') return true
  return order.indexOf(policy_level) <= order.indexOf(agent_level)
}

/** Positive when `next` is the higher level, negative when it is lower; unclassified stands above all, as it skips nothing. */
export function compareLevels(next: RiskLevel, known: RiskLevel): number {
  const rank = (level: RiskLevel) => (level === 'unclassified' ? order.length : order.indexOf(level))
  return rank(next) - rank(known)
}

/** What a violated policy of each severity adds to the risk score; the highest counts. */
export const riskOf: Readonly<Record<PolicyResult['severity'], number>> = {
  low: 0.25,
  medium: 0.5,
  high: 0.75,
  critical: 1,
}
