// Links from a row to those before and after it, in the filtered list that the page was opened from.
import type { Query } from '../../http/query.js'
import { address } from '../paths.js'
import { type Html, piece } from '../views/html.js'
import type { Visit } from '../visit.js'
import { endpointQuery, type Listing } from './listing.js'

interface Neighbours {
  readonly previous?: string | null
  readonly next?: string | null
}

/** `one` is what a row is called, such as `task`. Rejects as the endpoint does, with an unknown filter too. */
export async function neighboursOf(
  { api: { read } }: Visit,
  listing: Listing<never>,
  { id, filter, one }: { readonly id: string; readonly filter: Query; readonly one: string },
  hrefOf: (id: string) => string,
): Promise<Html> {
  const asked = { ...endpointQuery(listing, filter), limit: '1', around: id }
  const { previous = null, next = null } = (await read(listing.schema, listing.endpoint, asked)) as Neighbours
  return view({
    list: address(listing.path, filter),
    previous: previous === null ? '' : hrefOf(previous),
    next: next === null ? '' : hrefOf(next),
    title: listing.title,
    one,
  })
}

const view =
  piece(`<nav class="btn-list mb-3 no-print" aria-label="{{title}} of the list"><a class="btn btn-sm" href="{{list}}">Back to the list</a>
{{#if previous}}<a class="btn btn-sm" rel="prev" href="{{previous}}">Previous {{one}} <kbd class="needs-script" hidden>k</kbd></a>{{/if}}
{{#if next}}<a class="btn btn-sm" rel="next" href="{{next}}">Next {{one}} <kbd class="needs-script" hidden>j</kbd></a>{{/if}}</nav>`)
