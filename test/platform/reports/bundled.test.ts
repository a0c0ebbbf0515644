// A report is a function of its bundle: the bundle alone gives the bytes that the platform made, for random honest histories, the
// whole log and a part of it, all agents and one, by both times.
import { readFileSync } from 'node:fs'
import { keyLines, parseTrustPolicy } from '@svc/proof'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { withTransaction } from '../../../platform/db/db.js'
import { appendLeaves } from '../../../platform/ledger/leaves.js'
import { lockLog } from '../../../platform/ledger/log.js'
import { makeReport } from '../../../platform/reports/collect/make-report.js'
import { makeBundledReport } from '../../../report/bundle/make.js'
import type { MadeReport, ReportPlan } from '../../../report/content/plan.js'
import { reportIdOf, timesOf } from '../../../report/content/report-id.js'
import { openAuditorFolder, verifyWithBoth } from '../../support/log/bundle.js'
import { type HistoryPlatform, type HistoryWorkspace, openHistoryPlatform } from '../../support/log/history-platform.js'
import {
  begin,
  honestActs,
  planOf,
  playedHistory,
  receivedAt,
  reportParts,
} from '../../support/log/honest-histories.js'

// A PDF takes a second.
const histories = Number(process.env.SVC_HONEST_HISTORIES ?? { fast: 1, full: 2, night: 100 }[inject('project')])
const seed = Number(process.env.SVC_HISTORY_SEED ?? 20_260_401)

describe('the report of a bundle', () => {
  const auditor = openAuditorFolder()
  let platform: HistoryPlatform
  beforeAll(async () => {
    platform = await openHistoryPlatform()
  })
  afterAll(async () => {
    await platform.close()
    auditor.clear()
  })

  /** Issues the report, and makes it again from its bundle. */
  async function again(workspace: HistoryWorkspace, plan: ReportPlan, formats: readonly ReportPlan['format'][]) {
    const { signer, scope, log_host, bundles } = workspace
    const made = await makeReport(reportParts(workspace), scope, plan)
    await issue(workspace, plan, made)
    const trust = keyLines(signer.keysOf(log_host, scope.org_id)).join('\n')
    const { path, discard } = await bundles.make(scope, { from: null, to: null, since: null, report: plan.id })
    expect((await verifyWithBoth(path, trust, auditor)).findings).toEqual([])
    const { value: policy } = parseTrustPolicy(trust)
    const found = await makeBundledReport(path, policy, null)
    expect([found.plan, found.issued.sha256, found.sha256]).toEqual([plan, made.sha256, made.sha256])
    for (const format of formats) {
      const other = { ...plan, format, id: reportIdOf(scope.org_id, { ...plan, format }) }
      const expected = await makeReport(reportParts(workspace), scope, other)
      const own = await makeBundledReport(path, policy, format)
      expect([own.plan, own.issued.sha256, own.sha256]).toEqual([other, null, expected.sha256])
    }
    const bundle = readFileSync(path)
    await discard()
    return bundle
  }

  it(`has the bytes that the platform made: ${histories} random histories`, async () => {
    for (let number = 0; number < histories; number++) {
      const acts = honestActs(seed + number)
      const { workspace } = await playedHistory(platform, acts)
      try {
        const agents = await workspace.query<{ agent_id: string }>(
          'select agent_id from agents where org_id = $1 order by agent_id',
          [workspace.scope.org_id],
        )
        // No bundle proves that a deleted entry beside its period was not of it.
        const isPruned = acts.some(({ act }) => act === 'prune')
        const from = isPruned ? begin : await receivedAt(workspace, 0.5)
        await again(workspace, await planOf(workspace), ['xml'])
        await again(workspace, await planOf(workspace, from, { format: 'xml' }), number === 0 ? ['pdf'] : [])
        const agent_ids = agents.slice(0, 1).map(({ agent_id }) => agent_id)
        await again(workspace, await planOf(workspace, from, { by: 'occurred', agent_ids }), [])
      } catch (error) {
        throw new Error(`SVC_HISTORY_SEED=${seed + number} plays ${JSON.stringify(acts)}`, { cause: error })
      }
    }
  })
})

/** Appends the leaf of the report as the platform does, and signs it. */
async function issue(workspace: HistoryWorkspace, plan: ReportPlan, { bytes, sha256 }: MadeReport): Promise<void> {
  const { db, scope, clock } = workspace
  const { id, format, period, by, agent_ids, cut_off, root } = plan
  const file = { cut_off, root, sha256, bytes: bytes.length }
  const report = { id, format, ...period, ...timesOf(by), agent_ids, ...file }
  workspace.wait(1000)
  await withTransaction(db, scope, async (tx) => {
    await lockLog(scope, tx)
    await appendLeaves(scope, tx, clock(), [{ type: 'report', subject_id: id, data: { report } }])
  })
  await workspace.publish()
}
