// Policy sets by digest, each stored once, so that the `policy_set` of a record can be resolved years later.
import type { Transaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'

export async function rememberPolicySet(scope: Scope, tx: Transaction, digest: string, body: string): Promise<void> {
  await tx.query('insert into policy_sets (org_id, digest, body) values ($1, $2, $3) on conflict do nothing', [
    scope.org_id,
    digest,
    body,
  ])
}
