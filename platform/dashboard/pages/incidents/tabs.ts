// The two lists of incidents, which keep the filter that both know.
import type { Query } from '../../../http/query.js'
import { filterIn, paths } from '../../paths.js'
import { type Html, piece } from '../../views/html.js'

/** The filters of the list of groups. */
const ofGroups = ['state', 'severity', 'min_severity', 'agent_id', 'policy_id', 'code', 'effect', 'q']

export function tabs(here: 'incidents' | 'groups', query: Query): Html {
  const filter = filterIn(query)
  const shared = Object.fromEntries(Object.entries(filter).filter(([name]) => ofGroups.includes(name)))
  return view({
    tabs: [
      { label: 'One by one', href: paths.incidents(filter), here: here === 'incidents' },
      { label: 'Groups', href: paths.groups(shared), here: here === 'groups' },
    ],
  })
}

const view = piece(`<ul class="nav nav-underline mb-3 no-print" aria-label="Lists of incidents">
{{#each tabs}}<li class="nav-item"><a class="nav-link{{#if here}} active{{/if}}" href="{{href}}"{{#if here}} aria-current="page"{{/if}}>{{label}}</a></li>
{{/each}}</ul>
`)
