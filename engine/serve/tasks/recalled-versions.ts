// The versions of manifests that a task had, as its trace has them.
import type { Step } from '@svc/schemas'
import type { PastStep } from '../../task/past-steps.js'
import type { Versions } from './task-policies.js'

/** Those of its last evaluation, else those that its start names; null when its trace names none. */
export function recalledVersions(steps: readonly PastStep[]): Versions | null {
  for (const { step } of steps.toReversed()) {
    const versions = versionsIn(evaluationOf(step).manifests)
    if (versions !== null) return versions
  }
  for (const { step } of steps) {
    const versions = versionsIn(step.meta?.['svc.manifests'])
    if (versions !== null && versions.size > 0) return versions
  }
  return null
}

function evaluationOf({ meta }: Step): { readonly manifests?: unknown } {
  return Object(meta?.['svc.eval']) as { readonly manifests?: unknown }
}

/** A file that was edited by hand may hold anything. */
function versionsIn(manifests: unknown): Versions | null {
  if (!Array.isArray(manifests)) return null
  const versions = manifests.map((manifest: unknown) => Object(manifest) as Record<string, unknown>)
  const read = versions.flatMap(({ manifest_id, sha }) =>
    typeof manifest_id === 'string' && typeof sha === 'string' ? [[manifest_id, sha] as const] : [],
  )
  return new Map(read)
}
