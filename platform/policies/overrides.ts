// What people set on policies of manifests: `enabled` and `mode`. It holds as long as the manifest has the policy as it was.
import { canonical } from '@svc/proof'
import type { Policy } from '@svc/schemas'

type Switches = Pick<Policy, 'enabled' | 'mode' | 'overridden'>

/** The policy as its manifest has it. */
export function asWritten<P extends Switches>({ overridden, ...policy }: P): Omit<P, 'overridden'> {
  return { ...policy, ...overridden }
}

/** What the manifest has instead of what is set; null when it has the same. */
export function overriddenBy(
  known: Switches,
  next: Pick<Policy, 'enabled' | 'mode'>,
): NonNullable<Policy['overridden']> | null {
  const { enabled, mode } = asWritten(known)
  const own = { ...(enabled !== next.enabled && { enabled }), ...(mode !== next.mode && { mode }) }
  return Object.keys(own).length === 0 ? null : own
}

/** Whether a manifest has the same policy in another version; its waiver for the agent is no part of it. */
export function isSamePolicy(some: Omit<Policy, 'id' | 'version'>, other: Omit<Policy, 'id' | 'version'>): boolean {
  return contentOf(some) === contentOf(other)
}

function contentOf(policy: Omit<Policy, 'id' | 'version'>): string {
  const { name, rule_type, params, scope, severity, description, risk_classification } = policy
  const { approval = null, controls } = policy
  const { enabled, mode } = asWritten(policy)
  const content = { name, rule_type, params, scope, severity, description, risk_classification, approval, controls }
  return canonical({ ...content, enabled, mode })
}
