// Overrides of people on policies of manifests: `enabled` and `mode`. They hold as long as the manifest has the policy as it was.
import { canonical } from '@svc/proof'
import type { Policy } from '@svc/schemas'

type Switches = Pick<Policy, 'enabled' | 'mode' | 'overridden'>

/** The policy as its manifest has it. */
export function asWritten<P extends Switches>({ overridden, ...policy }: P): Omit<P, 'overridden'> {
  return { ...policy, ...overridden }
}

/** The values of the manifest that the set values replace; null when they are the same. */
export function overriddenBy(
  known: Switches,
  next: Pick<Policy, 'enabled' | 'mode'>,
): NonNullable<Policy['overridden']> | null {
  const { enabled, mode } = asWritten(known)
  const own = { ...(enabled !== next.enabled && { enabled }), ...(mode !== next.mode && { mode }) }
  return Object.keys(own).length === 0 ? null : own
}

type Content = Omit<Policy, 'id' | 'version' | 'waived_until'>

/** The overrides of the same policy in the version before; null when the policies differ. A waiver makes no difference. */
export function keptSwitches(policy: Content, overridden: readonly Policy[]) {
  const old = overridden.find(({ name }) => name === policy.name)
  if (old === undefined || contentOf(old) !== contentOf(policy)) return null
  const { enabled, mode, overridden: written = null } = old
  return { enabled, mode, overridden: written }
}

function contentOf(policy: Content): string {
  const { name, rule_type, params, scope, severity, description, risk_classification } = policy
  const { approval = null, controls } = policy
  const { enabled, mode } = asWritten(policy)
  const content = { name, rule_type, params, scope, severity, description, risk_classification, approval, controls }
  return canonical({ ...content, enabled, mode })
}
