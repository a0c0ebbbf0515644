// Guards of automatic resyncs (docs/design/git.md §2): a change that takes protection away waits until a person approves it.
import { canonical } from '@svc/proof'
import type { Assignment, JsonMap, Policy } from '@svc/schemas'

type Guarded = Omit<Policy, 'id' | 'version' | 'waived_until'>

/** The policies of an agent from one manifest, with the waivers for the agent. */
export interface OnAgent {
  readonly policies: readonly Guarded[]
  readonly waivers: Assignment['waivers']
}

/** What the change takes away, in words for people; empty for a change that applies automatically. */
export function trippedGuards(before: OnAgent, after: OnAgent): string[] {
  const old = before.policies.filter(({ enabled }) => enabled)
  const next = after.policies.filter(({ enabled }) => enabled)
  if (old.length === 0) return addedWaivers(before, after)
  if (next.length === 0) return ['it removes every policy']
  const pairs = pairsOf(old, next)
  const removed = pairs.filter(([, now]) => now === undefined).map(([was]) => was)
  const critical = removed.filter(({ severity }) => severity === 'critical')
  return [
    ...(removed.length * 2 > old.length
      ? [`it removes ${removed.length} of ${old.length} policies (${namesOf(removed)})`]
      : []),
    ...critical.map(({ name }) => `it removes the critical policy \`${name}\``),
    ...pairs.flatMap(([was, now]) => (now === undefined ? [] : loweredBy(was, now))),
    ...addedWaivers(before, after),
  ]
}

function namesOf(policies: readonly Guarded[]): string {
  const shown = policies.slice(0, 3).map(({ name }) => `\`${name}\``)
  const more = policies.length > shown.length ? `, and ${policies.length - shown.length} more` : ''
  return `${shown.join(', ')}${more}`
}

/** Each policy with its successor: the policy of the same name, else a new one that differs in its name only. */
function pairsOf(old: readonly Guarded[], next: readonly Guarded[]): (readonly [Guarded, Guarded | undefined])[] {
  const named = new Map(next.map((policy) => [policy.name, policy]))
  const known = new Set(old.map(({ name }) => name))
  const renamed = new Map(next.filter(({ name }) => !known.has(name)).map((policy) => [meaningOf(policy), policy]))
  return old.map((policy) => [policy, named.get(policy.name) ?? renamed.get(meaningOf(policy))])
}

function meaningOf({
  rule_type,
  params,
  scope,
  severity,
  mode,
  risk_classification,
  approval = null,
}: Guarded): string {
  return canonical({ rule_type, params: params as JsonMap, scope, severity, mode, risk_classification, approval })
}

function loweredBy(was: Guarded, now: Guarded): string[] {
  return [
    ...(was.severity === 'critical' && now.severity !== 'critical'
      ? [`it lowers the critical policy \`${was.name}\` to ${now.severity}`]
      : []),
    ...(was.mode === 'enforce' && now.mode === 'observe'
      ? [`it changes the policy \`${was.name}\` from enforce to observe`]
      : []),
  ]
}

/** Waivers that are new, or that end later. */
function addedWaivers(before: OnAgent, after: OnAgent): string[] {
  const known = new Map(before.waivers.map(({ policy, waived_until }) => [policy, waived_until]))
  return after.waivers
    .filter(({ policy, waived_until }) => waived_until > (known.get(policy) ?? ''))
    .map(({ policy, waived_until }) => `it waives the policy \`${policy}\` until ${waived_until.slice(0, 10)}`)
}
