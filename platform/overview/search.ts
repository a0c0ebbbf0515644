// A search over tasks, agents, policies and incidents.
import type { SearchResult } from '@svc/schemas'
import { type Resources, withSnapshot } from '../db/db.js'
import type { Scope } from '../db/scope.js'
import { readByIndex } from '../db/sql.js'
import { findAgents, findInIncidents, findPolicies, findTasks } from './search-store.js'

/** Results of each kind: those whose id or key is the text first, then tasks, agents, policies and incidents. */
export async function search({ db }: Pick<Resources, 'db'>, scope: Scope, q: string): Promise<SearchResult[]> {
  const found = await withSnapshot(db, scope, async (tx) => {
    await readByIndex(tx)
    return [
      ...(await findTasks(scope, tx, q)),
      ...(await findAgents(scope, tx, q)),
      ...(await findPolicies(scope, tx, q)),
      ...(await findInIncidents(scope, tx, q)),
    ]
  })
  const isExact = ({ kind, id, detail }: SearchResult) => id === q || (kind === 'agent' && detail === q)
  return [...found.filter(isExact), ...found.filter((one) => !isExact(one))]
}
