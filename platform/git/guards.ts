// Guards of automatic resyncs (docs/design/git.md §2): a change that takes protection away waits until a person approves it.
import { diffManifests, lastDayOf, type MemberChange, valuesInWords } from '@svc/engine/parts'
import type { Manifest } from '@svc/schemas'
import type { VersionOnAgent } from '../policies/changed-policies.js'

export type OnAgent = VersionOnAgent

type Guarded = OnAgent['policies'][number]

/** The versions that an automatic change is compared with. */
export interface Known {
  readonly in_force: OnAgent
  /** The version that a person put in force last, so that many small changes together are one; null when it is the one in force. */
  readonly approved: OnAgent | null
}

/** The losses of protection by the change, as text for people; empty for a change that applies automatically. */
export function trippedGuards({ in_force, approved }: Known, after: OnAgent): string[] {
  const old = enabled(in_force)
  const next = enabled(after)
  if (old.length > 0 && next.length === 0) return ['it removes every policy']
  const weaker = weakerOf(old, next)
  const own = moreThanHalf(weaker, old)
  const since = approved === null ? null : moreThanHalf(weakerOf(enabled(approved), next), enabled(approved))
  return [
    ...(own === null ? [] : [`it ${own}`]),
    ...(own === null && since !== null
      ? [`since the version that a person last put in force, the branch ${since}`]
      : []),
    ...weaker.flatMap(reasonOf),
    ...addedWaivers(in_force, after),
  ]
}

/** Reasons to wait of a version whose own tests fail or cannot run: policies and tests differ, and either may be wrong. */
export function failedTests(failures: readonly string[]): string[] {
  const [first] = failures
  if (first === undefined) return []
  const more = failures.length === 1 ? '' : ` (and ${failures.length - 1} more: run \`svc test\`)`
  return [`${first}${more}`]
}

function enabled({ policies }: OnAgent): Guarded[] {
  return policies.filter((policy) => policy.enabled)
}

/** A policy that is gone, or that may allow what it did not. */
interface Weaker {
  readonly was: Guarded
  /** Null for a policy that is gone. */
  readonly now: Guarded | null
  /** The members that may allow more, such as `params.max_steps`, with their values. */
  readonly members: readonly MemberChange[]
}

function weakerOf(old: readonly Guarded[], next: readonly Guarded[]): Weaker[] {
  const [before, after] = [byName(old), byName(next)]
  return diffManifests(manifestOf(old), manifestOf(next)).policies.flatMap(
    ({ name, old_name = name, members }): Weaker[] => {
      const [was, now = null] = [before.get(old_name), after.get(name)]
      if (was === undefined) return []
      const weaker = members.filter(({ path, effect }) => !isHarmless(path, effect))
      return now === null || weaker.length > 0 ? [{ was, now, members: weaker }] : []
    },
  )
}

/**
 * Both versions apply to the agent, so that their level makes no difference. Parameters without a direction, such as a pattern, change
 * with every honest correction; a target or a rule does not.
 */
function isHarmless(path: string, effect: string): boolean {
  if (effect === 'none' || effect === 'stricter' || path === 'risk_classification') return true
  return effect === 'changed' && /^params\./.test(path) && !/\btarget_/.test(path)
}

function byName(policies: readonly Guarded[]): Map<string, Guarded> {
  return new Map(policies.map((policy) => [policy.name, policy]))
}

/** The policies as a manifest; what they have besides a written policy makes no difference. */
function manifestOf(policies: readonly unknown[]): Manifest {
  return { name: '', version: '', policies: policies as Manifest['policies'] }
}

function moreThanHalf(weaker: readonly Weaker[], old: readonly Guarded[]): string | null {
  const removed = weaker.filter(({ now }) => now === null).map(({ was }) => was)
  if (removed.length * 2 <= old.length) return null
  return `removes ${removed.length} of ${old.length} policies (${namesOf(removed)})`
}

function namesOf(policies: readonly Guarded[]): string {
  const shown = policies.slice(0, 3).map(({ name }) => `\`${name}\``)
  const more = policies.length > shown.length ? `, and ${policies.length - shown.length} more` : ''
  return `${shown.join(', ')}${more}`
}

function reasonOf({ was, now, members }: Weaker): string[] {
  if (now === null) return was.severity === 'critical' ? [`it removes the critical policy \`${was.name}\``] : []
  const observes = was.mode === 'enforce' && now.mode === 'observe'
  const lowers = was.severity === 'critical' && now.severity !== 'critical'
  const others = members.filter(({ path }) => path !== 'mode' && path !== 'severity')
  const paths = others.map((one) => `\`${one.path}\` ${valuesInWords(one.old, one.new)}`).join(', ')
  return [
    ...(lowers ? [`it lowers the critical policy \`${was.name}\` to ${now.severity}`] : []),
    ...(observes ? [`it changes the policy \`${was.name}\` from enforce to observe`] : []),
    ...(was.severity === 'critical' && others.length > 0
      ? [`it may loosen the critical policy \`${was.name}\`: ${paths}`]
      : []),
  ]
}

/** Waivers that are new, or that end later. */
function addedWaivers(before: OnAgent, after: OnAgent): string[] {
  const known = new Map(before.waivers.map(({ policy, waived_until }) => [policy, waived_until]))
  return after.waivers
    .filter(({ policy, waived_until }) => waived_until > (known.get(policy) ?? ''))
    .map(
      ({ policy, waived_until }) =>
        `it waives the policy \`${policy}\` until the end of ${lastDayOf(waived_until)} (UTC)`,
    )
}
