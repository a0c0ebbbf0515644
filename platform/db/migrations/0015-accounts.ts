// Accounts can be ended, invitations sign in, devices are slowed down, and addresses are normalized.
import type { Knex } from 'knex'

export { down } from './irreversible.js'

import { parseAddress } from '../../mail/address.js'

const tables = /* sql */ `
alter table people add column ended_at timestamptz(3);
alter table offers add column link_hash bytea unique;
alter table device_codes add column interval_seconds integer not null default 5;
`

export async function up(knex: Knex): Promise<void> {
  await knex.raw(tables)
  await normalizeAddresses(knex)
}

/** Normalizes addresses that were stored before NFKC was applied. An address that another account has is not changed. */
export async function normalizeAddresses(knex: Knex): Promise<void> {
  const { rows } = await knex.raw<{ rows: { email: string }[] }>(
    'select email from people union select email from offers',
  )
  for (const { email } of rows) {
    const address = parseAddress(email)
    if (address === null || address === email) continue
    await knex.raw(
      'update people set email = ? where email = ? and not exists (select 1 from people where email = ?)',
      [address, email, address],
    )
    await knex.raw(
      `update offers f set email = ? where email = ? and not exists (
         select 1 from offers o where o.org_id = f.org_id and o.kind = f.kind and o.email = ? and o.state = 'pending')`,
      [address, email, address],
    )
  }
}
