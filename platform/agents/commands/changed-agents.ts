// The agents that have other policies than before, by their marks.
import { type Resources, withSnapshot } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { configVersion, type PolicyMark, policyMarks, stopsIn } from '../store/policy-marks.js'

/**
 * The agents whose mark differs from the given one, those with another stop first, and the version of the configuration of which
 * that is true.
 */
export function changedAgents({ db }: Pick<Resources, 'db'>, scope: Scope, marks: ReadonlyMap<string, PolicyMark>) {
  return withSnapshot(db, scope, async (tx) => {
    const config_version = await configVersion(scope, tx)
    const now = await policyMarks(scope, tx, [...marks.keys()])
    const changed = [...marks].filter(([id, mark]) => now.get(id) !== mark)
    const isOther = ([id, mark]: readonly [string, PolicyMark]) => stopsIn(now.get(id) ?? '') !== stopsIn(mark)
    const inOrder = [...changed.filter(isOther), ...changed.filter((one) => !isOther(one))]
    return { config_version, changed: inOrder.map(([id]) => id) }
  })
}
