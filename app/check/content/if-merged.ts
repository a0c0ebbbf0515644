// The reaction of the platform to a branch whose manifests or tests have errors (docs/design/git.md §2).
import { type Finding, isTestFile } from '@svc/engine/parts'
import { type CheckFacts, errorsOf } from '../facts.js'
import { misnamedPath, settingsPath } from '../rules/settings.js'

/**
 * `invalid`: the manifest is unusable. `held`: its tests are wrong, and the version waits for an operator. `in_force`: the check
 * alone rejects the change.
 */
export type Merged = 'invalid' | 'held' | 'in_force'

/** The worst outcome for a manifest of the change. */
export function ifMerged({ validation }: Pick<CheckFacts, 'validation'>): Merged {
  const errors = errorsOf(validation)
  const lone = new Set(errors.filter(({ id }) => id === 'lone-test-file').map(({ file }) => file))
  // The platform reads neither tests without a manifest nor the settings of checks.
  const outcomes = errors.map((error) => (lone.has(error.file) ? 'in_force' : outcomeOf(error, validation)))
  return (['invalid', 'held'] as const).find((outcome) => outcomes.includes(outcome)) ?? 'in_force'
}

function outcomeOf({ id, file }: Finding, { manifests }: CheckFacts['validation']): Merged {
  if (id === 'no-manifest' || file === settingsPath || file === misnamedPath) return 'in_force'
  if (id !== 'no-tests') return isTestFile(file) ? 'held' : 'invalid'
  // The platform misses the tests of a manifest that has an empty list of them only.
  return manifests.find((manifest) => manifest.file === file)?.value?.tests === undefined ? 'in_force' : 'held'
}

export const mergedWords: Readonly<Record<Merged, string>> = {
  invalid:
    'If it were merged as it is, an agent that has an earlier version would keep it, and no other agent could get the manifest.',
  held: 'If it were merged as it is, an agent that has an earlier version of the manifest would keep it until an operator approves the new one, and no other agent could get the manifest.',
  in_force:
    'If it were merged as it is, the platform would put its manifests in force all the same: these errors fail this check only.',
}
