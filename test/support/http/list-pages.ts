// Every page of every list, made from the routes: a new list, or a new filter, cannot be forgotten.
import type { JsonMap } from '@svc/schemas'
import type { Endpoint } from '../../../platform/http/route.js'

/** Values of filters that match many rows, few rows and no rows, by the name of the filter. */
const values: Readonly<Record<string, readonly string[]>> = {
  task_id: ['run-100', 'absent'],
  step: ['1', '999999'],
  agent_id: ['ag_3', 'absent'],
  environment: ['production', 'test', 'absent'],
  step_type: ['step.model', 'step.credential', 'absent'],
  policy_id: ['3', '999999'],
  repo_id: ['1010', '999999'],
  path: ['m-3.yaml', 'absent.yaml'],
  manifest_path: ['m-3.yaml', 'absent.yaml'],
  kind: ['common', 'rare', 'absent'],
  actor: ['ingest', 'rare-actor', 'absent'],
  subject: ['inc_7', 'absent'],
  from: ['2026-01-20T00:00:00.000Z'],
  to: ['2026-01-21T00:00:00.000Z'],
  state: ['open', 'resolved', 'active,ignored'],
  severity: ['low', 'critical', 'medium,high'],
  effect: ['blocked', 'executed', 'unknown', 'executed,unknown'],
  manifest_id: ['man_3', 'absent'],
  rule_type: ['not', 'rare'],
  target_id: ['ag_3', 'absent'],
  code: ['CODE_1', 'absent'],
  q: ['p', '3', 'absent'],
  reviewed_by: ['me', 'person:usr_2', 'absent'],
}
/** The same for filters that mean something else in one list. */
const valuesAt: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  '/api/v1/logs': { q: ['run-1', 'run-100', 'absent'] },
  '/api/v1/logs/tasks': {
    q: ['run-1', 'run-100', 'absent'],
    agent_key: ['agent-3', 'absent'],
    around: ['run-100', 'run-4000'],
  },
  '/api/v1/incidents': { around: ['inc_7', 'inc_4000'] },
  '/api/v1/tasks/{task_id}/steps': { around: ['3'] },
  '/api/v1/search': { q: ['run-1', 'inc_7', 'ag_3', '1010', 'policy 7', 'absent'] },
  '/api/v1/agents': { q: ['agent', 'agent-3', 'absent'], stop_id: ['stp_3', 'absent'] },
  '/api/v1/agents/{agent_id}/engines': { from: ['2026-02-20T00:00:00.000Z'], to: ['2026-02-25T00:00:00.000Z'] },
}
const inPath: Readonly<Record<string, string>> = { agent_id: 'ag_3', id: '1010', task_id: 'run-100' }
/** The path of rows that have no number. */
const inPathAt: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '/api/v1/incidents/{id}/occurrences': { id: 'inc_7' },
  '/api/v1/actions/{id}/deliveries': { id: 'act_3' },
}

/** Lists of few rows that no page divides, and lists of one person. */
const others = ['/auth/workspaces', '/auth/offers']

export interface ListPage {
  /** The path of the route. */
  readonly route: string
  readonly path: string
  readonly query: Readonly<Record<string, string>>
}

/** The lists among the routes, without those of one person. */
export function listsOf<R extends Endpoint>(routes: readonly R[]): R[] {
  return routes.filter(
    ({ method, path, query = {}, responses }) =>
      method === 'get' && !others.includes(path) && (query.limit !== undefined || /-list$/.test(responses[200] ?? '')),
  )
}

/** Without a filter, with each filter alone, and with each pair of filters. Throws for a filter without values. */
export function pagesOf({ path, query = {}, required = [] }: Endpoint, org_id: string): ListPage[] {
  const filters = Object.entries(query).filter(([name]) => !['limit', 'cursor', 'skip'].includes(name))
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    name === 'org_id' ? org_id : (inPathAt[path]?.[name] ?? inPath[name] ?? ''),
  )
  const alone = filters.flatMap(([name, schema]) => valuesOf(path, name, schema).map((value) => ({ [name]: value })))
  const pairs = alone.flatMap((one, index) =>
    alone
      .slice(index + 1)
      .flatMap((other) => (Object.keys(one)[0] === Object.keys(other)[0] ? [] : [{ ...one, ...other }])),
  )
  const skipped = query.skip === undefined ? [] : [{ skip: '40000' }, ...alone.map((one) => ({ ...one, skip: '500' }))]
  const all = [{}, ...alone, ...pairs, ...skipped].filter((found) =>
    required.every((name) => Object.hasOwn(found, name)),
  )
  return all.map((found) => ({ route: path, path: filled, query: found }))
}

function valuesOf(path: string, name: string, schema: JsonMap): readonly string[] {
  const found = valuesAt[path]?.[name] ?? (schema.enum as string[] | undefined) ?? values[name]
  if (found === undefined) throw new Error(`test/support/http/list-pages.ts has no values of \`${name}\` for ${path}`)
  return found
}

/** A cursor in the middle of a list whose first page ended with this one; null for other cursors than numbers. */
export function deepCursor(first: string, total: number): string | null {
  const text = Buffer.from(first, 'base64url').toString()
  if (!/^\d+$/.test(text)) return null
  const last = Number(text)
  const deep = last > total ? last - Math.floor(total / 2) : Math.floor(total / 2)
  return Buffer.from(String(deep)).toString('base64url')
}
