// Which agents have other policies than before, by their marks.
import { type Resources, withSnapshot } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { configVersion, type PolicyMark, policyMarks } from '../store/policy-marks.js'

/** The agents whose mark differs from the given one, and the version of the configuration of which that is true. */
export function changedAgents({ db }: Pick<Resources, 'db'>, scope: Scope, marks: ReadonlyMap<string, PolicyMark>) {
  return withSnapshot(db, scope, async (tx) => {
    const config_version = await configVersion(scope, tx)
    const now = await policyMarks(scope, tx, [...marks.keys()])
    return { config_version, changed: [...marks].flatMap(([id, mark]) => (now.get(id) === mark ? [] : [id])) }
  })
}
