// bundled.test.ts with more histories; and the reports of a platform with everything that a report shows, on both databases, from
// its API to the same bytes from the bundle alone.
import { join } from 'node:path'
import { keyLines, parseTrustPolicy } from '@svc/proof'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { makeBundledReport } from '../../../report/bundle/make.js'
import { downloadBundle, openAuditorFolder, verifyWithBoth } from '../../support/log/bundle.js'
import {
  answerIncidents,
  askForApprovals,
  changeWorkspace,
  importRecorded,
  reportDatabases,
  signedCheckpoint,
  startReportPlatform,
} from '../../support/reports/report-log.js'
import { downloadOf, reportIn, requestedReport, sha256Of } from '../../support/reports/reports.js'
import { discard, type TestPlatform } from '../../support/server/platform.js'
import { soon } from '../../support/server/soon.js'
import './bundled.test.js'

const databases = await reportDatabases()

describe.each(databases)('on $kind, the bundle of a report', ({ url }) => {
  const auditor = openAuditorFolder()
  let platform: TestPlatform
  beforeAll(async () => {
    platform = await askForApprovals(await startReportPlatform(url()))
    await importRecorded(platform)
    await changeWorkspace(platform)
    await answerIncidents(platform)
  })
  afterAll(async () => {
    auditor.clear()
    await discard(platform)
  })

  it.each(['pdf', 'xml'])('gives the bytes of its %s', async (format) => {
    const request = { from: '2020-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z', format }
    const { body: requested } = await requestedReport(platform, request)
    const { id } = await reportIn(platform, requested.id, 'ready')
    const issued = Buffer.from(await (await downloadOf(platform, id)).arrayBuffer())
    const bundle = await vi.waitFor(() => downloadBundle(platform, `?report=${id}`), soon)
    const trust = keyLines((await signedCheckpoint(platform)).keys).join('\n')
    const path = auditor.put('bundle.zip', bundle)
    expect((await verifyWithBoth(path, trust, auditor)).findings).toEqual([])
    const made = await makeBundledReport(join(auditor.folder, 'bundle.zip'), parseTrustPolicy(trust).value, null)
    expect([made.plan.id, made.issued.sha256, made.sha256]).toEqual([id, sha256Of(issued), sha256Of(issued)])
    expect(issued.equals(made.bytes)).toBe(true)
  })
})
