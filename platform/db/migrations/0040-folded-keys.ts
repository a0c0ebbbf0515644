// Keys of agents are compared without case, outer spaces and Unicode form, also those that became a UUID.
import type { Knex } from 'knex'

export { down } from './irreversible.js'

/** An agent whose key is a UUID had another id, which is its name unless it had both. */
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/

export async function up(knex: Knex): Promise<void> {
  await knex.raw("alter table agents add column folded_key text not null default ''")
  const agents: { org_id: string; agent_id: string; agent_key: string; name: string }[] = await knex('agents').select(
    'org_id',
    'agent_id',
    'agent_key',
    'name',
  )
  for (const { org_id, agent_id, agent_key, name } of agents) {
    const folded_key = folded(uuid.test(agent_key) ? name : agent_key)
    await knex('agents').where({ org_id, agent_id }).update({ folded_key })
  }
  await knex.raw('drop index agents_similar')
  await knex.raw('create index agents_similar on agents (org_id, api_key_id, folded_key)')
}

const folded = (key: string) => key.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC').trim()
