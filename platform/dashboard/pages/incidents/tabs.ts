// The two lists of incidents, which keep the filter that both know.
import type { Query } from '../../../http/query.js'
import { filterIn, paths } from '../../paths.js'
import type { Html } from '../../views/html.js'
import { tabList } from '../../views/tabs.js'

/** The filters of the list of groups. */
const ofGroups = ['state', 'severity', 'min_severity', 'agent_id', 'policy_id', 'code', 'effect', 'reviewed_by', 'q']

export function tabs(here: 'incidents' | 'groups', query: Query): Html {
  const filter = filterIn(query)
  const shared = Object.fromEntries(Object.entries(filter).filter(([name]) => ofGroups.includes(name)))
  const all = [
    ['incidents', 'One by one', paths.incidents(filter)],
    ['groups', 'Groups', paths.groups(shared)],
  ] as const
  return tabList('Lists of incidents', all, here)
}
