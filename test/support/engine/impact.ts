// The impact of a change of manifests, as the platform computes it, on its database.
import { parseManifest } from '@svc/engine'
import type { ReplayManifest } from '@svc/engine/parts'
import { type ImpactOptions, type ImpactRequest, impactOf, type Reading, readConfig } from '@svc/platform'
import { type Database, openDatabase, withSnapshot } from '../../../platform/db/db.js'
import { scopeOf } from '../../../platform/db/scope.js'
import type { TestPlatform } from '../server/platform.js'

export interface ImpactOn {
  readonly db: Database
  readonly read: Reading
  readonly scope: ReturnType<typeof scopeOf>
  readonly impact: (request: Partial<ImpactRequest>, options?: Partial<ImpactOptions>) => ReturnType<typeof impactOf>
  readonly close: () => Promise<void>
}

/** A manifest at the head of a branch. */
export function nextManifest(text: string, file = 'refunds.yaml'): ReplayManifest {
  const { value, errors, lines } = parseManifest(text, file)
  if (value === null) throw new Error(JSON.stringify(errors))
  return { manifest: value, file, lines }
}

/** For a platform on a server. Every transaction is checked to be unable to write. */
export async function openImpact({ env }: TestPlatform, org_id: string, clock = Date.now): Promise<ImpactOn> {
  const db = await openDatabase(readConfig(env).value)
  const scope = scopeOf(org_id, { kind: 'system', id: 'test' })
  const read: Reading = (work) =>
    withSnapshot(db, scope, async (tx) => {
      const [row] = await tx.query<{ read_only: string }>(
        `select current_setting('transaction_read_only') as read_only`,
      )
      if (row?.read_only !== 'on') throw new Error('the transaction can write')
      return work(tx)
    })
  const impact: ImpactOn['impact'] = (request, options) => {
    const all = { repo_id: 0, changes: [], days: 30, max_tasks: 10_000, max_steps: 300_000, ...request }
    return impactOf(read, scope, all, { clock, seed: 'head', ...options })
  }
  return { db, read, scope, impact, close: () => db.close() }
}
