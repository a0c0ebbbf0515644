// The page of a list.
import type { Agent } from '@svc/schemas'
import type { Query } from '../../http/query.js'
import { agentsOf, nameOf } from '../agents.js'
import type { DashboardPage } from '../page.js'
import { address, filterIn } from '../paths.js'
import { membersIn } from '../people.js'
import { countedOrNone, type Html, link, nothing, number, piece, text } from '../views/html.js'
import type { Shown, Visit } from '../visit.js'
import { chipsOf } from './chips.js'
import { type Column, type Listing, type NamedFilter, type Rows, readRows, selecting } from './listing.js'
import { pillsOf, viewActs, viewsOf } from './views.js'

/** The page of a list; `acts` are those of its bulk form. */
export function listPage<Row>(listing: Listing<Row>, acts: DashboardPage['acts'] = {}): DashboardPage {
  return {
    path: listing.path,
    listing,
    show: (visit) => showList(visit, listing),
    acts: { ...viewActs(listing), ...acts },
  }
}

async function showList<Row>(visit: Visit, listing: Listing<Row>): Promise<Shown> {
  const { place, heading } = listing
  const content = (await listOf(visit, listing)).toHTML()
  return { title: (await heading?.(visit)) ?? listing.title, place, content }
}

/** The list as a part of a page, whose address has its filter. */
export async function listOf<Row>(visit: Visit, listing: Listing<Row>): Promise<Html> {
  const { limit = 50, skips = false, above } = listing
  const { cursor, skip = '0' } = visit.query
  const filter = filterIn(visit.query)
  const page = skips ? { skip } : cursor === undefined ? {} : { cursor }
  const [found, views] = await Promise.all([
    readRows(visit, listing, filter, { limit: String(limit), ...page }),
    viewsOf(visit, listing),
  ])
  const all = typeof listing.columns === 'function' ? await listing.columns(visit) : listing.columns
  const filters = await filtersOf(visit, listing, filter)
  const columns = all.filter(({ may }) => may?.(visit) !== false)
  return list({
    above: (await above?.(visit)) ?? nothing,
    pills: pillsOf(visit, listing, views, filter),
    controls: controlsOf(listing, filters, filter),
    chips: await chipsOf(visit, { ...listing, filters }, filter),
    table: found.rows.length === 0 ? emptyOf(listing, filter, page) : tableOf(visit, listing, columns, found, filter),
    count: countText(found, Number(skip)),
    pages: pagesOf(listing, found, filter, page),
    live: listing.live !== undefined && found.rows.some(listing.live) ? visit.here : '',
    csv: address(`${listing.path}.csv`, filter),
    json: address(`${listing.path}.json`, filter),
  })
}

const list = piece(`{{above}}{{pills}}{{controls}}{{chips}}
<section class="card" id="live" aria-label="Rows"{{#if live}} hx-get="{{live}}" hx-trigger="every 3s" hx-select="#live" hx-target="#live" hx-swap="outerHTML"{{/if}}>{{table}}
<div class="card-footer bar no-print"><span>{{count}}</span>{{pages}}
<span class="push">Download all: <a href="{{csv}}" download>CSV</a> · <a href="{{json}}" download>JSON</a></span></div></section>
`)

/** The controls by name: people as a select, and agents where one request lists them. */
async function filtersOf(visit: Visit, { filters }: Listing<never>, filter: Query): Promise<NamedFilter[]> {
  const named = filters.map(async (one): Promise<NamedFilter> => {
    if (one.kind === 'person') return { ...one, kind: 'choice', values: await membersIn(visit, filter[one.name] ?? '') }
    if (one.kind !== 'agent') return one
    const { listed, complete } = await agentsOf(visit)
    if (!complete) return { kind: 'text', name: one.typed[0], label: one.typed[1] }
    const values = listed.map((agent) => [agent.agent_id, labelIn(listed, agent)] as const)
    const { agent_id } = filter
    const isListed = agent_id === undefined || listed.some((agent) => agent.agent_id === agent_id)
    const all = isListed ? values : [...values, [agent_id, agent_id] as const]
    return {
      kind: 'choice',
      name: 'agent_id',
      label: 'Agent',
      values: all.toSorted(([, a], [, b]) => (a < b ? -1 : 1)),
    }
  })
  return Promise.all(named)
}

/** The name, with the key where another agent has the same name. */
function labelIn(agents: readonly Agent[], agent: Agent): string {
  const name = nameOf(agent)
  return agents.some((one) => one !== agent && nameOf(one) === name) ? `${name} (${agent.agent_key})` : name
}

function controlsOf({ path }: Listing<never>, filters: readonly NamedFilter[], filter: Query): Html {
  const names = new Set(filters.map(({ name }) => name))
  const hidden = Object.entries(filter).filter(([name]) => !names.has(name))
  if (filters.length === 0) return nothing
  return controls({
    path,
    active: selecting(filter).filter((name) => names.has(name)).length,
    hidden: hidden.map(([name, value]) => ({ name, value })),
    fields: filters.map((one) => control(one, filter[one.name] ?? '')),
  })
}

/** Folded, because the controls would fill the window of a phone; a script opens them in a wide one. */
const controls =
  piece(`<details class="fold no-print"><summary class="btn btn-sm">Filter{{#if active}} ({{active}}){{/if}}</summary>
<form class="bar filters" method="get" action="{{path}}">
{{#each hidden}}<input type="hidden" name="{{name}}" value="{{value}}">{{/each}}
{{#each fields}}{{this}}{{/each}}
<button class="btn btn-sm">Filter</button><a class="btn btn-sm btn-ghost-secondary" href="{{path}}">Clear</a>
</form></details>
`)

const input = piece(`<div><label class="form-label" for="f-{{name}}">{{label}}</label>
<input class="form-control form-control-sm" id="f-{{name}}" name="{{name}}" type="{{type}}" value="{{value}}" maxlength="200"></div>`)
const select = piece(`<div><label class="form-label" for="f-{{name}}">{{label}}</label>
<select class="form-select form-select-sm" id="f-{{name}}" name="{{name}}"><option value="">{{any}}</option>
{{#each values}}<option value="{{value}}"{{#if on}} selected{{/if}}>{{label}}</option>{{/each}}</select></div>`)
const checks = piece(`<fieldset class="checks"><legend class="form-label">{{label}}</legend>
{{#each values}}<label class="form-check form-check-inline"><input class="form-check-input" type="checkbox" name="{{../name}}" value="{{value}}"{{#if on}} checked{{/if}}>
<span class="form-check-label">{{label}}</span></label>{{/each}}</fieldset>`)

function control(filter: NamedFilter, value: string): Html {
  const { name, label } = filter
  if (!('values' in filter))
    return input({
      name,
      label,
      ...(filter.kind === 'day' ? { value: value.slice(0, 10), type: 'date' } : { value, type: 'text' }),
    })
  const chosen = value.split(',')
  const values = filter.values.map((one) => {
    const [known, shown] = typeof one === 'string' ? [one, one.replaceAll('_', ' ')] : one
    return { value: known, label: shown, on: chosen.includes(known) }
  })
  return filter.kind === 'choice'
    ? select({ name, label, values, any: filter.any ?? 'any' })
    : checks({ name, label, values })
}

function tableOf<Row>(
  visit: Visit,
  { bulk, title }: Listing<Row>,
  columns: readonly Column<Row>[],
  { rows }: Rows<Row>,
  filter: Query,
): Html {
  const selects = bulk?.may(visit) === true
  const made = table({
    title,
    selects,
    heads: columns.map(({ head, numeric = false }) => ({ head, numeric })),
    rows: rows.map((row) => ({
      value: selects ? (bulk?.value(row) ?? '') : '',
      label: selects ? (bulk?.label(row) ?? '') : '',
      cells: columns.map(({ head, cell, numeric = false }) => ({ head, numeric, cell: cell(row, filter) })),
    })),
  })
  if (!selects) return made
  return form({
    table: made,
    csrf: visit.csrf,
    acts: bulk.acts.map(([act, label]) => ({ act, label })),
  })
}

const table =
  piece(`<div class="table-responsive" tabindex="0" role="region" aria-label="{{title}}"><table class="table table-vcenter rows"><thead><tr>
{{#if selects}}<th class="w-1"><input type="checkbox" class="form-check-input needs-script" data-all="selected" aria-label="Select all rows" hidden></th>{{/if}}
{{#each heads}}<th scope="col"{{#if numeric}} class="num"{{/if}}>{{head}}</th>{{/each}}</tr></thead><tbody>
{{#each rows}}<tr>{{#if value}}<td data-label="Select"><input class="form-check-input" type="checkbox" name="selected" value="{{value}}" aria-label="Select {{label}}"></td>{{/if}}{{#each cells}}<td data-label="{{head}}"{{#if numeric}} class="num"{{/if}}>{{cell}}</td>{{/each}}</tr>
{{/each}}</tbody></table></div>`)

const form = piece(`<form method="post"><input type="hidden" name="csrf" value="{{csrf}}">{{table}}
<div class="card-body bar no-print">{{#each acts}}<button class="btn" name="act" value="{{act}}">{{label}}</button>{{/each}}</div></form>`)

/** Rows without a filter and without a page: nothing is there yet. */
function emptyOf({ empty, path }: Listing<never>, filter: Query, page: Query): Html {
  const isFiltered = selecting(filter).length > 0 || page.cursor !== undefined || (page.skip ?? '0') !== '0'
  return isFiltered
    ? emptyView({ text: 'Nothing matches this filter.', link: link(path, 'Remove the filter') })
    : emptyView({ text: empty, link: nothing })
}

const emptyView = piece('<div class="empty-state"><p>{{text}}</p>{{link}}</div>')

function countText({ rows, total }: Rows<unknown>, skipped: number): Html {
  if (total === null) return text(countedOrNone(rows.length, 'row on this page', 'rows on this page'))
  if (skipped > 0 && rows.length === 0) return text(`none here, ${countedOrNone(total, 'row')} in all`)
  if (skipped > 0) return text(`${number(skipped + 1)} to ${number(skipped + rows.length)} of ${number(total)}`)
  return text(rows.length < total ? `${number(rows.length)} of ${number(total)}` : countedOrNone(total, 'row'))
}

function pagesOf(
  { path, skips, limit = 50 }: Listing<never>,
  { total, next_cursor, rows }: Rows<unknown>,
  filter: Query,
  page: Query,
): Html {
  const skip = Number(page.skip ?? 0)
  const next = skips
    ? total !== null && skip + rows.length < total && { ...filter, skip: skip + limit }
    : next_cursor !== null && { ...filter, cursor: next_cursor }
  const isFirst = page.cursor === undefined && skip === 0
  return pages({
    first: isFirst ? '' : address(path, filter),
    previous: skip > 0 ? address(path, { ...filter, skip: Math.max(0, skip - limit) || undefined }) : '',
    next: next === false ? '' : address(path, next),
  })
}

const pages =
  piece(`<nav class="btn-list" aria-label="Pages of the list">{{#if first}}<a class="btn btn-sm" href="{{first}}">First</a>{{/if}}
{{#if previous}}<a class="btn btn-sm" rel="prev" href="{{previous}}">Previous</a>{{/if}}
{{#if next}}<a class="btn btn-sm" rel="next" href="{{next}}">Next</a>{{/if}}</nav>`)
