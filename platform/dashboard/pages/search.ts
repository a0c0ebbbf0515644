// The search: results by kind, each with its page. The exact id of something leads to its page at once.
import type { SearchResult } from '@svc/schemas'
import type { DashboardPage } from '../page.js'
import { paths } from '../paths.js'
import { type Html, link, piece, text, time } from '../views/html.js'
import { reasonText, violatedText } from '../views/violation.js'
import type { Shown, Visit } from '../visit.js'

/** The API returns at most this many results of a kind. */
const maxOfKind = 8

interface Kind {
  readonly kind: SearchResult['kind']
  readonly title: string
  readonly href: (id: string) => string
  /** The list of everything that matches; null if the list cannot search so. */
  readonly all: ((q: string) => string) | null
}

const kinds: readonly Kind[] = [
  { kind: 'task', title: 'Tasks', href: paths.task, all: (q) => paths.tasks({ q }) },
  { kind: 'agent', title: 'Agents', href: paths.agent, all: (q) => paths.agents({ q }) },
  { kind: 'policy', title: 'Policies', href: paths.policy, all: (q) => paths.policies({ q }) },
  { kind: 'incident', title: 'Incidents', href: paths.incident, all: null },
]

async function showSearch({ api: { read }, query }: Visit): Promise<Shown | string> {
  const q = (query.q ?? '').trim()
  if (q === '') return { title: 'Search', content: view({ q, found: [], none: '' }).toHTML() }
  const { results } = await read('search-result-list', '/api/v1/search', { q })
  const exact = results.filter(({ kind, id, detail }) => id === q || (kind === 'agent' && detail === q))
  const [only] = exact
  if (only !== undefined && exact.length === 1) return hrefOf(only)
  const found = kinds
    .map((kind) => ({ kind, rows: results.filter((one) => one.kind === kind.kind) }))
    .filter(({ rows }) => rows.length > 0)
    .map(({ kind, rows }) => groupOf(kind, rows, q))
  const content = view({ q, found, none: found.length === 0 ? q : '' })
  return { title: 'Search', content: content.toHTML() }
}

function hrefOf({ kind, id }: SearchResult): string {
  return kinds.find((one) => one.kind === kind)?.href(id) ?? paths.search()
}

function groupOf({ kind, title, all }: Kind, rows: readonly SearchResult[], q: string) {
  return {
    title,
    rows: rows.map((row) => ({
      name: link(hrefOf(row), kind === 'incident' ? violatedText(row.title) : row.title || row.id),
      detail: kind === 'incident' ? reasonText(row.detail) : text(row.detail),
      at: time(row.at),
    })),
    cut: rows.length === maxOfKind,
    more: all?.(q) ?? '',
  }
}

const view: (values: object) => Html =
  piece(`<form class="bar" action="/search" role="search" aria-label="Search the workspace"><div class="grow"><label class="form-label" for="q">Search for</label>
<input class="form-control" id="q" name="q" type="search" value="{{q}}" maxlength="200" required></div><button class="btn btn-primary">Search</button></form>
{{#each found}}<section class="card"><div class="card-header"><h2 class="card-title">{{title}}</h2></div>
<ul class="list-group list-group-flush">{{#each rows}}<li class="list-group-item bar mb-0 py-2"><div class="grow"><div>{{name}}</div><div class="text-secondary small">{{detail}}</div></div>
<span class="text-secondary small">{{at}}</span></li>
{{/each}}</ul>{{#if cut}}<div class="card-footer">Only the first ones. {{#if more}}<a href="{{more}}">Open the list with this search</a>{{else}}Write more of the text to find others.{{/if}}</div>{{/if}}</section>
{{/each}}{{#if none}}<div class="card"><div class="empty-state"><p>Nothing in this workspace matches <strong><bdi>{{none}}</bdi></strong>: no id or name of a task, agent, policy or incident, and no reason of a violation. Texts of steps are not searched. Who approved what is in the list of <a class="text-link" href="/steps?step_type=step.gate">approvals</a>.</p></div></div>{{/if}}
{{#unless found}}<div class="text-secondary"><p>The search finds:</p>
<ul><li>tasks by the beginning of their id, with the same upper and lower case;</li>
<li>agents and policies by their id, or by a part of their name or key;</li>
<li>incidents by their id, or by a part of the policy or of the reason, among the 100 groups that were last seen. <a class="text-link" href="/incidents">The list of incidents</a> has all.</li></ul>
<p>An exact id opens its page at once.</p></div>{{/unless}}
`)

export const searchPage: DashboardPage = { path: '/search', show: showSearch }
