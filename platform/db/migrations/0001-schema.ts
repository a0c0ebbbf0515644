// The schema. Changed in place until the first release; from then on, a change is a migration of its own.
import type { Knex } from 'knex'
import { access } from '../schema/access.js'
import { events } from '../schema/events.js'
import { git } from '../schema/git.js'
import { incidents } from '../schema/incidents.js'
import { isolation, role } from '../schema/isolation.js'
import { jobs } from '../schema/jobs.js'
import { log } from '../schema/log.js'
import { policies } from '../schema/policies.js'
import { tasks } from '../schema/tasks.js'
import { tenants } from '../schema/tenants.js'

export async function up(knex: Knex): Promise<void> {
  for (const tables of [role, tenants, access, policies, git, log, tasks, incidents, events, jobs, isolation])
    await knex.raw(tables)
}

export async function down(): Promise<void> {
  throw new Error('the schema is irreversible: drop the database instead')
}
