// Named views of a list: filters that the members of a workspace share under a name, next to the presets.
import type { View } from '@svc/schemas'
import type { Query } from '../../http/query.js'
import { address, api, filterIn } from '../paths.js'
import { type Html, nothing, piece } from '../views/html.js'
import { type Act, field, type Visit } from '../visit.js'
import { endpointQuery, type Listing } from './listing.js'

/** The lists that have views, by their endpoints. */
const lists: Readonly<Record<string, View['list']>> = {
  '/api/v1/logs/tasks': 'tasks',
  '/api/v1/logs': 'logs',
  '/api/v1/incidents': 'incidents',
  '/api/v1/incidents/groups': 'incident_groups',
  '/api/v1/agents': 'agents',
  '/api/v1/policies': 'policies',
  '/api/v1/events': 'events',
}

const path = '/api/v1/views'

/** Ready queries of a list: its presets, then its named views. */
export function pillsOf(visit: Visit, listing: Listing<never>, named: readonly View[], filter: Query): Html {
  const current = textOf(endpointQuery(listing, filter))
  const pill = (label: string, query: Query, about = '') => ({
    label,
    about,
    href: address(listing.path, query),
    here: textOf(endpointQuery(listing, query)) === current,
  })
  const presets = (listing.presets ?? []).map((preset) => pill(...preset))
  const views = named.map((view) => ({ ...pill(view.name, queryOf(view.query)), id: view.id }))
  const isKnown = current === '' || [...presets, ...views].some(({ here }) => here)
  const menu = menuOf(visit, listing, views, isKnown)
  if (presets.length + views.length === 0 && menu === nothing) return nothing
  const about = presets.find(({ here }) => here)?.about ?? ''
  return pills({ pills: [pill('All', {}), ...presets], views, menu, about })
}

const pills = piece(`<ul class="pills no-print" aria-label="Views">
{{#each pills}}<li><a class="btn btn-sm{{#if here}} btn-primary{{/if}}" href="{{href}}"{{#if here}} aria-current="true"{{/if}}>{{label}}</a></li>
{{/each}}{{#if views}}<li class="small text-secondary">Saved:</li>{{/if}}
{{#each views}}<li><a class="btn btn-sm{{#if here}} btn-primary{{/if}}" href="{{href}}"{{#if here}} aria-current="true"{{/if}}><bdi>{{label}}</bdi></a></li>
{{/each}}{{menu}}</ul>
{{#if about}}<p class="text-secondary">{{about}}</p>{{/if}}`)

/** What a person who may change views can do: save the filter if it has no name yet, and remove views. */
function menuOf(
  { api: { may }, csrf, form, here }: Visit,
  listing: Listing<never>,
  views: readonly { readonly id: string; readonly label: string }[],
  isKnown: boolean,
): Html {
  const mayName = !isKnown && lists[listing.endpoint] !== undefined
  if (!may('post', path) || (!mayName && views.length === 0)) return nothing
  const failed = field(form, 'act') === 'save_view'
  return menu({ views, csrf, here, mayName, failed, name: failed ? field(form, 'name') : '' })
}

const menu = piece(`<li class="menu"><details{{#if failed}} open{{/if}}>
<summary class="btn btn-sm btn-ghost-secondary">{{#if mayName}}Save this filter as…{{else}}Remove saved views…{{/if}}</summary>
<div class="card card-body">{{#if mayName}}<form class="bar mb-0" method="post" action="{{here}}"><input type="hidden" name="csrf" value="{{csrf}}">
<div class="grow"><label class="form-label" for="view-name">Name of the view. All members of the workspace see it.</label>
<input class="form-control form-control-sm" id="view-name" name="name" value="{{name}}" maxlength="100" required></div>
<button class="btn btn-sm btn-primary" name="act" value="save_view">Save</button></form>{{/if}}
{{#if views}}<div class="form-label{{#if mayName}} mt-3{{/if}}">Saved views</div>{{/if}}
{{#each views}}<form class="d-flex gap-2 align-items-center mb-1" method="post" action="{{../here}}"><input type="hidden" name="csrf" value="{{../csrf}}">
<input type="hidden" name="id" value="{{id}}"><bdi>{{label}}</bdi>
<button class="btn btn-sm" name="act" value="remove_view" aria-label="Remove the view {{label}}">Remove</button></form>{{/each}}</div></details></li>`)

/** The views of a list, by name. */
export async function viewsOf({ api: { read } }: Visit, { endpoint }: Listing<never>): Promise<readonly View[]> {
  const list = lists[endpoint]
  return list === undefined ? [] : (await read('view-list', path, { list })).views
}

/** The acts of the menu. */
export function viewActs(listing: Listing<never>): Readonly<Record<string, Act>> {
  const list = lists[listing.endpoint]
  if (list === undefined) return {}
  return {
    save_view: async ({ api: { change }, query, here }, form) => {
      const filter = textOf(endpointQuery(listing, filterIn(query)))
      await change('view', 'post', path, { list, name: field(form, 'name').trim(), query: filter })
      return here
    },
    remove_view: async ({ api: { change }, here }, form) => {
      await change(null, 'delete', api`/api/v1/views/${field(form, 'id')}`)
      return here
    },
  }
}

/** True if the filter is that of a preset, which is then marked. */
export function isPreset(listing: Listing<never>, filter: Query): boolean {
  const current = textOf(endpointQuery(listing, filter))
  return (listing.presets ?? []).some(([, query]) => textOf(endpointQuery(listing, query)) === current)
}

/** A query string in one order of its filters. */
function textOf(query: Query): string {
  const sorted = Object.entries(query).sort(([one], [other]) => (one < other ? -1 : 1))
  return address('', Object.fromEntries(sorted)).slice(1)
}

/** The filters of a query string; repeated ones with commas. */
function queryOf(text: string): Query {
  const given = new URLSearchParams(text)
  return Object.fromEntries([...new Set(given.keys())].map((name) => [name, given.getAll(name).join(',')]))
}
