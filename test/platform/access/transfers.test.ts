// The migration of ownership transfers, which earlier versions stored as `handover`.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '@svc/platform'
import { describe, expect, it } from 'vitest'
import { openDatabase } from '../../../platform/db/db.js'
import { up } from '../../../platform/db/migrations/0018-transfers.js'

describe('the migration of transfers', () => {
  it('renames stored offers and keeps the others', async () => {
    const data_dir = mkdtempSync(join(tmpdir(), 'svc-transfers-'))
    const { knex, close } = await openDatabase(readConfig({ SVC_DATA_DIR: data_dir }).value)
    await knex.raw(
      'alter table offers drop constraint offers_kind_check, add constraint offers_kind_check check (true)',
    )
    await knex.raw(
      "insert into organizations (org_id, name, kind, created_at) values ('org_1', 'Acme', 'shared', now())",
    )
    const insert = (id: string, kind: string) =>
      knex.raw(
        `insert into offers (org_id, id, kind, email, role, state, made_by, made_at)
         values ('org_1', ?, ?, 'mia@example.org', 'owner', 'pending', 'usr_1', now())`,
        [id, kind],
      )
    await insert('off_1', 'handover')
    await insert('off_2', 'successor')
    await up(knex)
    const { rows } = await knex.raw<{ rows: { kind: string }[] }>('select kind from offers order by id')
    expect(rows.map(({ kind }) => kind)).toEqual(['transfer', 'successor'])
    await expect(insert('off_3', 'handover')).rejects.toThrow(/offers_kind_check/)
    await close()
    rmSync(data_dir, { recursive: true })
  })
})
