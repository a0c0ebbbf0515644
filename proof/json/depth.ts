// How deep JSON may be nested: one limit for each kind of writer, and one for all readers of what they wrote.

/** Levels of arrays and objects in a request, to the platform or to the local engine. */
export const maxRequestDepth = 64

/** Compound rules (all_of, any_of, not) inside each other in one policy, wherever the policy comes from. */
export const maxCompoundDepth = 1_000

/** Levels in the parameters of a policy: 1,000 compound rules inside each other take three levels each. */
export const maxPolicyDepth = 3_200

/**
 * Levels in a text that is stored or handed on: a trace line, a record, a payload, a line of a bundle.
 * INVARIANT (readers take what writers make): a line wraps a request or a policy in at most eight levels.
 */
export const maxStoredDepth = 4_000

/** True when the value has more levels than the limit; it looks no deeper than that. */
export function isDeeperThan(value: unknown, limit: number): boolean {
  let level = containersIn([value])
  for (let depth = 0; level.length > 0; depth++) {
    if (depth === limit) return true
    level = containersIn(level.flatMap((container) => Object.values(container)))
  }
  return false
}

function containersIn(values: readonly unknown[]): object[] {
  return values.filter((value) => typeof value === 'object' && value !== null)
}
