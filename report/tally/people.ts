// The names of the people that a report shows by their ids. The log holds no names, so that they can be erased with an account.
import type { ReportData } from '../content/report-data.js'
import type { EventLeaf } from './leaves.js'

type Named = Pick<ReportData, 'incidents' | 'retention' | 'policy_changes' | 'oversight'>
type PersonName = ReportData['oversight']['people'][number]

export function createPeople() {
  const ids = new Set<string>()
  return {
    note: ({ actor_kind, actor_id, subject_kind, subject_id }: EventLeaf) => {
      if (actor_kind === 'person') ids.add(actor_id)
      if (subject_kind === 'person' || subject_kind === 'member') ids.add(subject_id)
    },
    wanted: () => [...ids].sort(),
  }
}

/** The people whose ids the lists show, by their ids. */
export function shownPeople(
  data: Omit<Named, 'oversight'> & { readonly oversight: Omit<Named['oversight'], 'people'> },
  names: readonly PersonName[],
): PersonName[] {
  const { incidents, retention, policy_changes, oversight } = data
  const shown = new Set([
    ...oversight.changes.rows.flatMap(({ actor, subject }) => [actor, subject]),
    ...incidents.list.rows.flatMap(({ history }) => history.map(({ by }) => by)),
    ...policy_changes.rows.map(({ actor }) => actor),
    ...retention.holds.rows.map(({ placed_by }) => placed_by),
    ...[...retention.erasures.rows, ...retention.prunes.rows].map(({ by }) => by),
  ])
  return names.filter(({ person_id: id }) => shown.has(`person:${id}`) || shown.has(`member:${id}`))
}
