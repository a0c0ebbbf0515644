// Every address of a page and of a call of the API, from its parts.
import { isPaging } from '../http/paging.js'
import type { Query } from '../http/query.js'

type Values = Readonly<Record<string, string | number | null | undefined>>

/** An address with this query; values that are null, undefined or empty are left out. */
export function address(path: string, query: Values = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== '')
  const text = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)])).toString()
  return text === '' ? path : `${path}?${text.replaceAll('%2C', ',').replaceAll('%3A', ':')}`
}

const one =
  (folder: string) =>
  (id: string | number, query: Values = {}) =>
    address(`${folder}/${encodeURIComponent(id)}`, query)
const many =
  (folder: string) =>
  (query: Values = {}) =>
    address(folder, query)

/** The addresses of the pages. */
export const paths = {
  overview: '/',
  /** The chart of the page at an address. */
  chart: (page: string) => `${page === '/' ? '' : page}/chart.svg`,
  tasks: many('/tasks'),
  task: one('/tasks'),
  steps: many('/steps'),
  incidents: many('/incidents'),
  /** Incidents that are open or in review, the most severe first. */
  open_incidents: (query: Values = {}) => address('/incidents', { state: 'open,active', order: 'severity', ...query }),
  incident: one('/incidents'),
  groups: many('/incidents/groups'),
  resolve_all: many('/incidents/resolve'),
  agents: many('/agents'),
  agent: one('/agents'),
  stops: many('/stops'),
  new_stop: many('/stops/new'),
  stop: one('/stops'),
  policies: many('/policies'),
  policy: one('/policies'),
  new_policy: many('/policies/new'),
  edit_policy: (id: number) => `/policies/${id}/edit`,
  delete_policy: (id: number) => `/policies/${id}/delete`,
  manifests: many('/manifests'),
  assignment: one('/manifests/assignments'),
  /** The text of a version of a manifest; the line of a policy is `#L12`. */
  assignment_source: (id: number, query: Values = {}) => address(`/manifests/assignments/${id}/source`, query),
  repositories: many('/manifests/repositories'),
  new_repository: '/manifests/repositories/connect',
  repository: one('/manifests/repositories'),
  manifest_files: many('/manifests/files'),
  manifest_file: (repo_id: number, path: string) => address('/manifests/file', { repo_id, path }),
  reports: many('/reports'),
  new_report: many('/reports/new'),
  report: one('/reports'),
  events: many('/events'),
  actions: many('/actions'),
  action: one('/actions'),
  new_action: many('/actions/new'),
  edit_action: (id: string) => `${one('/actions')(id)}/edit`,
  delete_action: (id: string) => `${one('/actions')(id)}/delete`,
  delivery: (action_id: string, id: string) => `${one('/actions')(action_id)}/deliveries/${encodeURIComponent(id)}`,
  settings: many('/settings'),
  members: many('/settings/members'),
  member: one('/settings/members'),
  keys: many('/settings/keys'),
  log: many('/settings/log'),
  retention: many('/settings/retention'),
  holds: many('/settings/holds'),
  erasures: many('/settings/erasures'),
  settings_file: many('/settings/file'),
  search: many('/search'),
  account: '/account',
} as const

/** The addresses of the API that the pages call; an id is encoded. */
export function api(strings: TemplateStringsArray, ...ids: readonly (string | number)[]): string {
  return strings.reduce((text, part, index) => `${text}${encodeURIComponent(ids[index - 1] ?? '')}${part}`)
}

/** The values of a query that select rows, without those that only choose a page of them. */
export function filterIn(query: Query): Query {
  return Object.fromEntries(Object.entries(query).filter(([name]) => !isPaging(name)))
}
