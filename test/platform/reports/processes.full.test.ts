// Reports of several processes on one server: requested at once, made by one, and made again after a crash.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '@svc/platform'
import type { EventList } from '@svc/schemas'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { seedWorkspace } from '../../../platform/access/commands/seed-workspace.js'
import { withTransaction } from '../../../platform/db/db.js'
import { scopeOf } from '../../../platform/db/scope.js'
import { connectLibrary } from '../../../platform/git/commands/connect-library.js'
import { lockLog } from '../../../platform/ledger/log.js'
import { makeReportJob } from '../../../platform/reports/make-job.js'
import { findReport, queueReport } from '../../../platform/reports/store/reports.js'
import { fast, logSteps, register } from '../../support/log/log.js'
import { day, downloadOf, reportIn, requestedReport, sha256Of } from '../../support/reports/reports.js'
import { startReportProcess } from '../../support/server/job-process.js'
import { openJobRoom } from '../../support/server/jobs.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'
import { sharedPostgres } from '../../support/server/postgres.js'
import { soon } from '../../support/server/soon.js'

const postgres = await sharedPostgres()

describe.skipIf(postgres === null)('two processes of one database', () => {
  if (postgres === null) return
  const database_url = postgres.freshDatabase()
  let signing: TestPlatform
  let other: TestPlatform
  beforeAll(async () => {
    const env = { ...fast, SVC_OPERATOR_TOKEN: 'operator-token-of-both-processes-1' }
    signing = await startPlatform({ database_url, env })
    // Its log key is another one: it publishes no checkpoints.
    other = await startPlatform({ database_url, env })
    await register(signing)
    await logSteps(signing, 'task', 5)
  })
  afterAll(async () => {
    for (const platform of [signing, other]) await discard(platform)
  })

  it('make one report of the same request, also in the process without the key of the log', async () => {
    const to = new Date().toISOString()
    const first = await requestedReport(other, { from: '2026-01-01T00:00:00Z', to, format: 'json' })
    const body = { from: '2026-01-01T00:00:00Z', to, format: 'xml', cut_off: first.body.cut_off }
    const answers = await Promise.all(
      [signing, other, signing, other].map((platform) => platform.call('POST', '/api/v1/reports', { body })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 202])
    const [id] = [...new Set(answers.map((answer) => String(answer.body.id)))] as [string]
    const { sha256 } = await reportIn(signing, id, 'ready')
    for (const platform of [signing, other])
      expect(sha256Of(new Uint8Array(await (await downloadOf(platform, id)).arrayBuffer()))).toBe(sha256)
    const { body: events } = await other.call<EventList>('GET', `/api/v1/events?subject=${id}`)
    expect(events.events.map(({ kind }) => kind)).toEqual(['report.issued', 'report.requested'])
  })
})

describe.skipIf(postgres === null)('a report whose process is killed', () => {
  if (postgres === null) return
  it('is made by another one, with one leaf', async () => {
    const env = {
      SVC_DATABASE_URL: postgres.freshDatabase(),
      SVC_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    }
    const folder = mkdtempSync(join(tmpdir(), 'svc-reports-'))
    const config = readConfig({ ...env, SVC_DATA_DIR: folder }).value
    const room = await openJobRoom(config)
    const { org_id } = await seedWorkspace(room.db, config, Date.now(), connectLibrary)
    const scope = scopeOf(org_id, { kind: 'operator', id: 'test' })
    const id = `rep_${'1'.repeat(32)}`
    const period = { from: day(1), to: day(2) }
    const read = { by: 'received', agent_ids: null, cut_off: 1, root: '0'.repeat(64) } as const
    const plan = { id, format: 'json', period, ...read } as const
    await withTransaction(room.db, scope, async (tx) => {
      await lockLog(scope, tx)
      await queueReport(scope, tx, Date.now(), plan, 'operator:test')
    })
    const found = () => withTransaction(room.db, scope, (tx) => findReport(scope, tx, id))
    const killed = await startReportProcess(env, org_id)
    killed.send([id])
    await vi.waitFor(async () => {
      expect(killed.ran()).toEqual([id])
      expect(await found()).toMatchObject({ status: 'running', progress: 0.5 })
    }, soon)
    await killed.kill9()
    const bytes = Buffer.from('{}')
    const make = async () => ({ bytes, sha256: sha256Of(bytes) })
    const job = makeReportJob({ db: room.db, clock: Date.now, logger: pino({ level: 'silent' }), make, isMaker: true })
    await room.open([job])
    await vi.waitFor(async () => expect(await found()).toMatchObject({ status: 'ready', bytes: 2 }), soon)
    const leaves = await withTransaction(room.db, scope, (tx) =>
      tx.query(`select 1 from log_records where type = 'report' and subject_id = '${id}'`),
    )
    expect(leaves).toHaveLength(1)
    await room.close()
    rmSync(folder, { recursive: true, force: true })
  })
})
