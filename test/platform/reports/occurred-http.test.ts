// Reports by the times that senders state, over HTTP: request, id, file, bundle, erasure.
import { join } from 'node:path'
import type { BundleVerdict, ErasureResult, EventList, LogCheckpoint, Report } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runSvc } from '../../support/cli/svc.js'
import { downloadBundle, openAuditorFolder, verifyWithBoth } from '../../support/log/bundle.js'
import { fast, register } from '../../support/log/log.js'
import { downloadOf, reportIn, requestedReport, sha256Of } from '../../support/reports/reports.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'
import { databaseHere } from '../../support/server/postgres.js'

const { kind, database_url } = await databaseHere()
const january = { from: '2026-01-01', to: '2026-01-31', format: 'json' } as const

describe(`reports by the times that senders state, on ${kind}`, () => {
  const auditor = openAuditorFolder()
  let now = Date.parse('2026-02-01T08:00:00Z')
  let platform: TestPlatform
  let cut_off: number
  const send = async (task_id: string, timestamp: string) => {
    const body = { task_id, step: 1, step_type: 'START_NODE', timestamp }
    expect((await platform.call('POST', '/api/v1/logs', { as: 'key', body })).status).toBe(201)
  }
  const reportOf = async (body: object) => {
    const { status, body: asked } = await requestedReport(platform, body)
    expect([200, 202]).toContain(status)
    return reportIn(platform, asked.id, 'ready')
  }
  const contentOf = async ({ id }: Report) => (await downloadOf(platform, id)).text()
  beforeAll(async () => {
    platform = await startPlatform({ database_url, env: fast, clock: () => now++ })
    await register(platform)
    await send('of february', '2026-02-01T08:00:00Z')
    now = Date.parse('2026-03-10T09:00:00Z')
    await send('imported', '2026-01-05T10:00:00Z')
    // It waits until everything that was sent is signed.
    cut_off = (await reportOf({ ...january, by: 'occurred', format: 'xml' })).cut_off
  })
  afterAll(async () => {
    auditor.clear()
    await discard(platform)
  })

  it('are other reports than those by times of receipt, whose ids have no times', async () => {
    const [plain, received, occurred, again] = await Promise.all(
      [{}, { by: 'received' }, { by: 'occurred' }, { by: 'occurred' }].map(async (times) =>
        reportOf({ ...january, ...times, cut_off }),
      ),
    )
    expect([received?.id, again]).toEqual([plain?.id, occurred])
    expect(occurred?.id).not.toBe(plain?.id)
    expect([plain?.by, occurred?.by, occurred?.from, occurred?.to]).toEqual([
      'received',
      'occurred',
      '2026-01-01T00:00:00.000Z',
      '2026-02-01T00:00:00.000Z',
    ])
    for (const [report, has] of [
      [plain, false],
      [occurred, true],
    ] as const) {
      const { body } = await platform.call<EventList>('GET', `/api/v1/events?subject=${report?.id}`)
      expect(body.events.map(({ data }) => data.by)).toEqual(has ? ['occurred', 'occurred'] : [undefined, undefined])
      expect((await contentOf(report as Report)).includes('1 active and recorded 1 step in 1 task')).toBe(false)
    }
    expect(await contentOf(plain as Report)).toContain(
      'The log begins after this period, so that this report shows nothing',
    )
    expect(await contentOf(occurred as Report)).toContain(
      '1 of 1 step was received after the period, until 2026-03-10 09:00:00 UTC',
    )
    const { headers } = await downloadOf(platform, occurred?.id ?? '')
    expect(headers.get('content-disposition')).toMatch(/-2026-01-01--2026-01-31-occurred\.json"$/)
  })

  it('cover what was received before the request, and have the same bytes when they are made again', async () => {
    await send('just imported', '2026-01-06T10:00:00Z')
    const { id, sha256, cut_off: later } = await reportOf({ ...january, by: 'occurred' })
    expect(await contentOf({ id } as Report)).toContain('2 of 2 steps were received after the period')
    expect((await platform.call('DELETE', `/api/v1/reports/${id}`)).status).toBe(204)
    const remade = await reportOf({ ...january, by: 'occurred', cut_off: later })
    expect([remade.id, remade.sha256]).toEqual([id, sha256])
  })

  it('are verified with a bundle of the entries that they read', async () => {
    const report = await reportOf({ ...january, by: 'occurred' })
    const trust = `log ${(await platform.call<LogCheckpoint>('GET', '/api/v1/log/checkpoint')).body.key}\n`
    const file = Buffer.from(await (await downloadOf(platform, report.id)).arrayBuffer())
    expect(sha256Of(file)).toBe(report.sha256)
    await expect
      .poll(async () => (await platform.call('GET', `/api/v1/log/bundle?report=${report.id}`)).status, {
        timeout: 10_000,
      })
      .toBe(200)
    const path = auditor.put('bundle.zip', await downloadBundle(platform, `?report=${report.id}`))
    const verdict = await verifyWithBoth(path, trust, auditor)
    expect(verdict).toMatchObject({ valid: true, findings: [], period: { from: '2025-12-31T00:00:00.000Z' } })
    expect(verdict.entries.step).toBe(3)
    const files = ['--trust', join(auditor.folder, 'trust.policy'), '--report', auditor.put('report.json', file)]
    const { code, stdout } = await runSvc(['verify', path, ...files])
    expect([code, stdout]).toEqual([0, expect.stringContaining(`the file is report ${report.id} (json) exactly as`)])
    expect(stdout).toContain(
      'for 2026-01-01T00:00:00.000Z to 2026-02-01T00:00:00.000Z, by the times that senders state;',
    )
    expect(stdout).not.toContain('another period')
    const json = JSON.parse((await runSvc(['verify', path, ...files, '--json'])).stdout) as BundleVerdict
    expect(json.report).toMatchObject({ id: report.id, by: 'occurred' })
  })

  it('are named by an erasure of a step that they read', async () => {
    const { id } = await reportOf({ ...january, by: 'occurred' })
    const request = { task_id: 'imported', legal_basis: 'GDPR Art. 17' }
    const { body } = await platform.call<ErasureResult>('POST', '/api/v1/erasures', { body: request })
    expect(body.not_reached.at(-1)).toContain(id)
  })
})
