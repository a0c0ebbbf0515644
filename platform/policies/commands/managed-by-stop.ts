// The policy of a stop is changed by its stop only.
import type { Transaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { PlatformError } from '../../errors.js'
import { stopOfPolicy } from '../store/stops.js'

/** For routes that change a policy. Rejects with MANAGED_BY_STOP. */
export async function assertNotOfStop(scope: Scope, tx: Transaction, policy_id: number): Promise<void> {
  const stop = await stopOfPolicy(scope, tx, policy_id)
  if (stop === null) return
  const { id, target_kind } = stop
  throw new PlatformError(
    'MANAGED_BY_STOP',
    target_kind === 'deactivated'
      ? `policy ${policy_id} blocks agents that are deactivated: reactivate one with POST /api/v1/agents/{agent_id}/reactivate`
      : `policy ${policy_id} is the stop \`${id}\`: resume it with POST /api/v1/stops/${id}/resume`,
  )
}
