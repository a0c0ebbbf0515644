// When agents had policies that are enforced on steps. Each list is ordered as one index is: without statistics, as in the embedded
// database, the planner would not always choose that index. Times are ms since 1970.
import { isoTime } from '@svc/schemas'
import type { Transaction } from '../../db/db.js'
import { type Condition, type List, raw, read, rowsOf } from '../../db/list.js'
import type { Scope } from '../../db/scope.js'

/** The assignments of these agents, removed ones too. */
export function everAssigned(scope: Scope, tx: Transaction, agent_ids: readonly string[]) {
  return tx.query<{ agent_id: string; id: number }>(
    'select agent_id, id from assignments where org_id = $1 and agent_id = any($2::text[]) order by agent_id, id',
    [scope.org_id, agent_ids],
  )
}

export interface VersionPeriod {
  readonly assignment_id: number
  readonly number: number
  readonly from_index: number
  readonly from: number
  /** Null: in force at the cut-off. */
  readonly until: number | null
}

/**
 * The versions of assignments that were in force between two times (RFC 3339) as of a size of the log: those after one of them, in
 * order of assignment and number; at most `limit`.
 */
export function versionsBetween(
  scope: Scope,
  tx: Transaction,
  assignment_ids: readonly number[],
  { from, to, size }: { readonly from: string; readonly to: string; readonly size: number },
  after: Pick<VersionPeriod, 'assignment_id' | 'number'>,
  limit: number,
): Promise<VersionPeriod[]> {
  return tx.query<VersionPeriod>(
    `select assignment_id, number, from_index, ${ms('from_at')} as "from",
       case when until_index < $3 then ${ms('until_at')} end as until
     from assignment_versions
     where org_id = $1 and assignment_id = any($2::bigint[]) and (assignment_id, number) > ($6, $7)
       and from_index < $3 and from_at < $5 and (until_index is null or until_index >= $3 or until_at > $4)
     order by assignment_id, number limit $8`,
    [scope.org_id, assignment_ids, size, from, to, after.assignment_id, after.number, limit],
  )
}

/**
 * Since when each of these versions had a policy that is enforced on steps: enabled, not in observe mode, and not waived. A waived
 * policy counts from the end of its waiver; 0 for a version with a policy that is not waived. Versions without one are left out, and
 * so are policies on which a person set something: they have versions of their own.
 */
export function enforcedSince(scope: Scope, tx: Transaction, versions: readonly VersionPeriod[]) {
  return tx.query<{ assignment_id: number; from_index: number; since: number }>(
    `select assignment_id, from_index, min(coalesce(${ms('waived_until')}, 0)) as since from policies
     where org_id = $1 and assignment_id = any($2::bigint[]) and from_index = any($3::bigint[]) and mode = 'enforce'
       and scope <> 'agent_registration' and deleted_at is null
       and case when until_index is null then enabled else was_enabled end
       and not exists (select from policy_versions v where v.org_id = $1 and v.policy_id = policies.id)
     group by assignment_id, from_index order by assignment_id, from_index`,
    [
      scope.org_id,
      [...new Set(versions.map(({ assignment_id }) => assignment_id))],
      [...new Set(versions.map(({ from_index }) => from_index))],
    ],
  )
}

function enforcedAt(scope: Scope, at: number): List {
  return rowsOf(scope, 'enforced_counts').where('policies', '>', 0).where('waived_until', '<', isoTime(at))
}

/** The targets with a policy that is enforced on steps at `at`: each of these agents, and all agents (an empty id). */
export async function enforcedNow(scope: Scope, tx: Transaction, at: number, agent_ids: readonly string[]) {
  const targets = enforcedAt(scope, at).whereRaw('agent_id = any(?)', [['', ...agent_ids]])
  return read<{ agent_id: string; target_level: string }>(tx, targets.select(raw('distinct agent_id, target_level')))
}

/** The levels of enforced policies for all agents ('' for all levels), and whether a policy for one agent names a level. */
interface SharedTargets {
  readonly levels: readonly string[]
  readonly is_any_leveled: boolean
}

export async function sharedTargets(scope: Scope, tx: Transaction, at: number): Promise<SharedTargets> {
  const shared = await enforcedNow(scope, tx, at, [])
  const leveled = enforcedAt(scope, at).where('target_level', '<>', '').where('agent_id', '<>', '')
  const [any] = await read(tx, leveled.select('agent_id').limit(1))
  return { levels: shared.map(({ target_level }) => target_level), is_any_leveled: any !== undefined }
}

/** True for agents with a policy that is enforced on their steps at `at` (ms since 1970). */
export function hasEnforced(scope: Scope, at: number, { levels, is_any_leveled }: SharedTargets): Condition {
  const own = () => enforcedAt(scope, at)
  const always = own().where('target_level', '').select('agent_id')
  return (agents) => {
    if (levels.includes('')) return
    // Most workspaces have these policies only, and without another choice the database stops at the end of a page.
    if (levels.length === 0 && !is_any_leveled) agents.whereIn('agent_id', always)
    else
      agents.where((any) => {
        any.whereIn('agent_id', always)
        any.orWhereRaw('(agent_id, risk_classification) in ?', [
          own().where('target_level', '<>', '').select('agent_id', 'target_level'),
        ])
        any.orWhereRaw('risk_classification = any(?)', [[...levels]])
      })
  }
}

function ms(column: string): string {
  return `(extract(epoch from ${column}) * 1000)::float8`
}
