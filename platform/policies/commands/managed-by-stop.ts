// The policy of a stop is changed by its stop only.
import type { Transaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { PlatformError } from '../../errors.js'
import { stopOfPolicy } from '../store/stops.js'

/** For routes that change a policy. Rejects with MANAGED_BY_STOP. */
export async function assertNotOfStop(scope: Scope, tx: Transaction, policy_id: number): Promise<void> {
  const stop = await stopOfPolicy(scope, tx, policy_id)
  if (stop !== null)
    throw new PlatformError(
      'MANAGED_BY_STOP',
      `policy ${policy_id} is the stop \`${stop}\`: resume it with POST /api/v1/stops/${stop}/resume`,
    )
}
