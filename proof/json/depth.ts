// Limits on the depth of JSON: one for each kind of writer, and one for all readers.

/** Levels of arrays and objects in a request, to the platform or to the local engine. */
export const maxRequestDepth = 64

/** Nested compound rules (all_of, any_of, not) in one policy, from any source. */
export const maxCompoundDepth = 1_000

/** Levels in the parameters of a policy: 1,000 nested compound rules take three levels each. */
export const maxPolicyDepth = 3_200

/**
 * Levels in a stored text: a trace line, a record, a payload, a line of a bundle.
 * INVARIANT (readers accept what writers make): a line wraps a request or a policy in at most eight levels.
 */
export const maxStoredDepth = 4_000

/** True if the value has more levels than the limit; deeper levels are not visited. */
export function isDeeperThan(value: unknown, limit: number): boolean {
  if (isShallow(value, Math.min(limit, maxRequestDepth))) return false
  let level = containersIn([value])
  for (let depth = 0; level.length > 0; depth++) {
    if (depth === limit) return true
    level = containersIn(level.flatMap((container) => Object.values(container)))
  }
  return false
}

/** The same for a limit that recursion is safe with, without a list for each level. */
function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  if (levels === 0) return false
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) if (!isShallow(value[index], levels - 1)) return false
    return true
  }
  for (const name in value) if (!isShallow((value as Record<string, unknown>)[name], levels - 1)) return false
  return true
}

function containersIn(values: readonly unknown[]): object[] {
  return values.filter((value) => typeof value === 'object' && value !== null)
}
