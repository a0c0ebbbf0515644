// The numbers of what may need attention, at one moment: each is the total of a list.
import { isoTime, type Overview } from '@svc/schemas'
import { listAgents } from '../agents/store/agents.js'
import { type Resources, withSnapshot } from '../db/db.js'
import type { Filter } from '../db/list.js'
import type { Scope } from '../db/scope.js'
import { readByIndex } from '../db/sql.js'
import { countOpen } from '../incidents/store/list-incidents.js'
import { latestCheckpoint } from '../log/publish/store/checkpoints.js'
import { listTasks, newestStep } from '../log/read/store/tasks.js'
import { listAssignments } from '../policies/store/assignments.js'

export interface OverviewParts extends Resources {
  /** A task without an end counts as unfinished after this many seconds. */
  readonly task_timeout_seconds: number
}

/** A page without rows: the lists only count. */
const none = { limit: 0, after: null, skip: 0 }

export function overviewOf({ db, clock, task_timeout_seconds }: OverviewParts, scope: Scope): Promise<Overview> {
  const now = clock()
  const overdue = isoTime(now - task_timeout_seconds * 1000)
  return withSnapshot(db, scope, async (tx) => {
    await readByIndex(tx)
    const tasks = async (filter: Filter) => (await listTasks(scope, tx, filter, none, overdue)).total
    const agents = async (filter: Filter) => (await listAgents(scope, tx, now, filter, none)).total
    const checkpoint = await latestCheckpoint(scope, tx)
    return {
      tasks: await tasks({}),
      unfinished_tasks: await tasks({ unfinished: 'true' }),
      open_incidents: await countOpen(scope, tx),
      stopped_agents: await agents({ stopped: 'true' }),
      agents_without_engine: await agents({ engine: 'false' }),
      ungoverned_agents: await agents({ governed: 'false' }),
      held_assignments: (await listAssignments(scope, tx, { held: 'true' }, none)).total,
      newest_step: await newestStep(scope, tx),
      checkpoint: checkpoint && { size: checkpoint.size, published_at: checkpoint.published_at },
    }
  })
}
