// The writing client of a check: its token can write check runs of one repository, and nothing else.
import { type AskGithub, SourceError } from '@svc/platform'
import type { CheckRun, Checks } from '../check/parts.js'
import { idIn, membersOf, objectIn, textIn } from './members.js'
import { listAll } from './pages.js'

/** The permissions of the token of a checks client. */
export const checksPermissions = { checks: 'write' } as const

/** Check runs of this App with one name on one commit. */
const maxRuns = 100

export function createChecks(ask: AskGithub, app_id: number): Checks {
  return {
    find: (head_sha, name) => find(ask, app_id, head_sha, name),
    create: async (head_sha, name, change) => {
      const { body } = await ask({ method: 'POST', path: '/check-runs', body: { name, head_sha, ...change } })
      const id = idIn(membersOf(body))
      if (id === null) throw new SourceError('fetch_failed', 'GitHub sent no check run: check SVC_GITHUB_API_URL')
      return id
    },
    update: async (id, change) => {
      await ask({ method: 'PATCH', path: `/check-runs/${id}`, body: change })
    },
  }
}

async function find(ask: AskGithub, app_id: number, head_sha: string, name: string): Promise<CheckRun | null> {
  const query = `check_name=${encodeURIComponent(name)}&app_id=${app_id}&filter=latest`
  const path = `/commits/${head_sha}/check-runs?${query}`
  const { items } = await listAll(ask, { path, member: 'check_runs', max_items: maxRuns })
  const own = items.flatMap((item) => checkRunIn(item, app_id, name) ?? [])
  return own.sort((a, b) => b.id - a.id)[0] ?? null
}

/** Null for a check run of another App or with another name. */
function checkRunIn(value: unknown, own_id: number, own_name: string): CheckRun | null {
  const run = membersOf(value)
  const id = idIn(run)
  if (id === null || idIn(objectIn(run, 'app')) !== own_id || textIn(run, 'name') !== own_name) return null
  return {
    id,
    status: textIn(run, 'status') ?? '',
    external_id: textIn(run, 'external_id') || null,
    annotations_count: idIn(objectIn(run, 'output'), 'annotations_count') ?? 0,
  }
}
