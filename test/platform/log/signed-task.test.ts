// A task, verified against the signed tree.
import { createHash } from 'node:crypto'
import { logIdOf } from '@svc/proof'
import type { Verification } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { begun, checkpointOf, fast, logSteps, register } from '../../support/log/log.js'
import { whileChanged } from '../../support/server/database.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'
import { sharedPostgres } from '../../support/server/postgres.js'

const postgres = await sharedPostgres()

describe.skipIf(postgres === null)('a signed task', () => {
  if (postgres === null) return
  const url = postgres.freshDatabase()
  let platform: TestPlatform
  const sql = (text: string) => postgres.psql(url, text)
  const verify = async (task_id = 'two') =>
    (await platform.call<Verification>('GET', `/api/v1/tasks/${task_id}/verify`)).body

  beforeAll(async () => {
    platform = await startPlatform({ database_url: url, env: fast })
    await register(platform)
    await logSteps(platform, 'one', 600)
    await checkpointOf(platform, 600)
    await logSteps(platform, 'two', 40)
    await checkpointOf(platform, 640)
    await platform.close()
    platform = await startPlatform({
      database_url: url,
      data_dir: platform.data_dir,
      env: { ...fast, SVC_CHECKPOINT_SECONDS: '0' },
    })
  })
  afterAll(() => discard(platform))

  it('reports how much of it is signed', async () => {
    expect(await verify()).toMatchObject({ anchoring: 'whole', integrity: { ok: true } })
    await logSteps(platform, 'three', 3)
    expect(await verify('three')).toMatchObject({ anchoring: 'none', integrity: { ok: true } })
  })

  it('is not valid after a rewrite with matching hashes, links, leaves and heads', async () => {
    const entry = `select record from log_entries where task_id = 'two' and seq = 40`
    const forged = sql(entry).replace('"step_type":"step.model"', '"step_type":"step.exec"')
    const hash = createHash('sha256').update(`\0${forged}`).digest('hex')
    const [log_id, received] = sql(
      `select log_id, (extract(epoch from received_at) * 1000)::bigint from log_entries where task_id = 'two' and seq = 40`,
    ).split('|')
    expect(log_id).toBeDefined()
    const change = `
      update log_entries set record = '${forged}', hash = '${hash}', step_type = 'step.exec', log_id = '${logIdOf(Number(received), hash)}' where task_id = 'two' and seq = 40;
      update log_leaves set leaf_hash = '${hash}' where log_index = ${begun + 639};
      update task_heads set hash = '${hash}' where task_id = 'two'`
    await whileChanged(sql, ['log_entries', 'log_leaves', 'task_heads'], change, async () => {
      expect((await verify()).integrity.first_bad).toMatchObject({ code: 'root_mismatch' })
      expect((await verify('one')).integrity.ok).toBe(false)
    })
    expect((await verify()).integrity.ok).toBe(true)
  })

  it.each([
    ['a tile', `update log_tiles set hash = repeat('0', 64) where index = 1`, 'one', 'root_mismatch'],
    ['the root', `update checkpoints set root = repeat('0', 64) where size = ${begun + 640}`, 'two', 'root_mismatch'],
    ['a checkpoint that records name', `delete from checkpoints where size = ${begun + 600}`, 'two', 'after_mismatch'],
    ['a leaf of another task', `update log_leaves set leaf_hash = repeat('0', 64) where log_index = 5`, 'two', null],
    [
      'a leaf beside it',
      `update log_leaves set leaf_hash = repeat('0', 64) where log_index = ${begun + 599}`,
      'two',
      'root_mismatch',
    ],
  ])('is checked for a change of %s', async (_, change, task_id, code) => {
    const tables = ['log_tiles', 'checkpoints', 'log_leaves']
    const { integrity } = await whileChanged(sql, tables, change, () => verify(task_id))
    expect(integrity.first_bad?.code ?? null).toBe(code)
    expect((await verify(task_id)).integrity.ok).toBe(true)
  })

  it('has no proof that does not lead to the signed root', async () => {
    const change = `update log_leaves set leaf_hash = repeat('0', 64) where log_index = ${begun + 624}`
    const paths = [`inclusion?log_index=${begun + 624}`, `inclusion?log_index=${begun + 625}`, 'consistency?first=600']
    const statuses = await whileChanged(sql, ['log_leaves'], change, () =>
      Promise.all(paths.map(async (path) => (await platform.call('GET', `/api/v1/log/proof/${path}`)).status)),
    )
    expect(statuses).toEqual([500, 500, 500])
  })
})
