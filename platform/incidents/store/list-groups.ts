// Groups of incidents with the same policy, agent, code and effect, from the counts that the database keeps (docs/adr/0078-groups.md).
import { type IncidentGroup, isoTime, type ViolationDetails } from '@svc/schemas'
import type { Transaction } from '../../db/db.js'
import { type Condition, type Filter, type Listed, type Page, raw, read, rowsOf } from '../../db/list.js'
import type { Scope } from '../../db/scope.js'
import { readByIndex, utc } from '../../db/sql.js'
import { cursorInvalid } from '../../http/paging.js'
import { onCounted, policyNames } from './list-incidents.js'

type Row = Omit<IncidentGroup, 'reason'> & { readonly total: number; readonly violation_details: ViolationDetails }

/** A page of groups, last seen first, and their number. Throws INVALID for an invalid cursor. */
export async function listGroups(
  scope: Scope,
  tx: Transaction,
  filter: Filter,
  page: Page,
): Promise<Listed<IncidentGroup>> {
  await readByIndex(tx)
  const counted = onCounted(scope, filter, filter.q === undefined ? undefined : await policyNames(scope, tx, filter.q))
  const grouped = rowsOf(scope, 'incident_counts')
    .where(counted)
    .where('incidents', '>', 0)
    .groupBy('org_id', 'policy_id', 'agent_id', 'code', 'effect')
    .select(raw(groupColumns))
  const ofGroup = () => rowsOf(scope, 'incidents i').where(counted).whereRaw(isOfGroup).limit(1)
  const latest = ofGroup().orderBy('i.log_index', 'desc').select(raw('i.*'))
  const oldest = ofGroup().orderBy('i.log_index').select('i.first_seen')
  const found = rowsOf(scope, 'grouped').where(isAfter(page)).orderByRaw(order).limit(page.limit)
  const groups = raw(
    `with grouped as ?, page as ?
     select t.total, p.policy_id, l.policy_name, l.rule_type, l.severity, p.agent_id, a.name as agent_name, p.code,
       l.violation_details, p.effect, p.incidents, p.open, p.occurrences, ${utc('o.first_seen')}, ${utc('p.last_seen')},
       l.id as latest_incident_id
     from (select count(*)::float8 as total from grouped) t
     left join (page p cross join lateral ? l cross join lateral ? o
       join agents a on a.org_id = p.org_id and a.agent_id = p.agent_id) on true
     order by ${order.replaceAll(/\w+(?= desc)/g, 'p.$&')}`,
    [grouped, found, latest, oldest],
  )
  const rows = await read<Row>(tx, groups)
  const shown = rows.filter(({ policy_id }) => policy_id !== null)
  return {
    rows: shown.map(({ total: _, violation_details: { reason }, ...group }) => ({ ...group, reason })),
    total: rows[0]?.total ?? 0,
  }
}

const groupColumns = `org_id, policy_id, agent_id, code, effect, sum(incidents)::float8 as incidents,
  coalesce(sum(incidents) filter (where state in ('open', 'active')), 0)::float8 as open,
  sum(occurrences)::float8 as occurrences, max(last_seen) as last_seen`

const isOfGroup = 'i.policy_id = p.policy_id and i.agent_id = p.agent_id and i.code = p.code and i.effect = p.effect'

/** Groups that were last seen in one batch are in the order of their members. */
const order = 'last_seen desc, policy_id desc, agent_id desc, code desc, effect desc'

function isAfter({ after }: Page): Condition {
  return (list) => {
    if (after === null) return
    const [, last_seen, policy_id, effect, code, agent_id] =
      /^(\d{1,15})-(\d{1,15})-([a-z]+)-([A-Z0-9_]+)-([\w-]+)$/.exec(String(after)) ?? []
    if (agent_id === undefined) throw cursorInvalid()
    const place = [isoTime(Number(last_seen)), policy_id, agent_id, code, effect] as string[]
    list.whereRaw('(last_seen, policy_id, agent_id, code, effect) < (?::timestamptz, ?::bigint, ?, ?, ?)', place)
  }
}

/** The position of a group in the list, for a cursor. */
export function positionOf({ last_seen, policy_id, effect, code, agent_id }: IncidentGroup): string {
  return [Date.parse(last_seen), policy_id, effect, code, agent_id].join('-')
}
