// Risk levels and the score of a decision (docs/design/engine.md §4, §5).
import type { Agent, PolicyResult } from '@svc/schemas'

export type RiskLevel = Agent['risk_classification']

/** The level; a missing or invalid value is unclassified. */
export function riskLevelOf(value: unknown): RiskLevel {
  return order.find((level) => level === value) ?? 'unclassified'
}

const order: readonly RiskLevel[] = ['minimal', 'limited', 'high', 'unacceptable']

/**
 * True when a manifest's policy of that level applies to an agent. Policies above the level of the agent are skipped; all
 * policies apply to an unclassified agent.
 */
export function levelApplies(policy_level: RiskLevel | null, agent_level: RiskLevel): boolean {
  if (policy_level === null || agent_level === 'unclassified') return true
  return order.indexOf(policy_level) <= order.indexOf(agent_level)
}

/** Positive when `next` is the higher level, negative when it is lower; unclassified is the highest, because all policies apply to it. */
export function compareLevels(next: RiskLevel, known: RiskLevel): number {
  const rank = (level: RiskLevel) => (level === 'unclassified' ? order.length : order.indexOf(level))
  return rank(next) - rank(known)
}

/** The risk score of a violated policy by severity; the highest counts. */
export const riskOf: Readonly<Record<PolicyResult['severity'], number>> = {
  low: 0.25,
  medium: 0.5,
  high: 0.75,
  critical: 1,
}
