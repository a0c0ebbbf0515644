// No honest history is accused: whatever a workspace does, its report, its bundle and both verifiers call the log whole, and every
// sentence of the report is true (test/cases/sentences.yaml). Three of the histories here, 300 at
// night; SVC_HISTORY_SEED plays others.
import { keyLines } from '@svc/proof'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ReportData } from '../../../report/content/report-data.js'
import { type Seen, sentences, untrueIn } from '../../support/engine/sentences.js'
import { openAuditorFolder, verifyWithBoth } from '../../support/log/bundle.js'
import { factsOf } from '../../support/log/history-facts.js'
import { type HistoryPlatform, openHistoryPlatform } from '../../support/log/history-platform.js'
import {
  begin,
  honestActs,
  type PlayedHistory,
  playedHistory,
  receivedAt,
  reportOf,
} from '../../support/log/honest-histories.js'
import { runs } from '../../support/random.js'

const histories = Number(process.env.SVC_HONEST_HISTORIES ?? runs(300, 3))
// The same histories in each run; another seed plays others.
const seed = Number(process.env.SVC_HISTORY_SEED ?? 20_260_101)

describe('honest histories', () => {
  const auditor = openAuditorFolder()
  let platform: HistoryPlatform
  beforeAll(async () => {
    platform = await openHistoryPlatform()
  })
  afterAll(async () => {
    await platform.close()
    auditor.clear()
  })

  it(`are whole to the report, the bundle and both verifiers: ${histories} histories`, async () => {
    const seen = new Set<string>()
    const said: Seen = new Map()
    for (let number = 0; number < histories; number++) {
      const acts = honestActs(seed + number)
      try {
        for (const part of partsOf(await wholeReport(await playedHistory(platform, acts), said))) seen.add(part)
      } catch (error) {
        const again = `SVC_HISTORY_SEED=${seed + number} SVC_HONEST_HISTORIES=1`
        throw new Error(`${again} plays ${JSON.stringify(acts)}`, { cause: error })
      }
    }
    // A history that the platform refused would prove nothing.
    if (histories >= 300) expect(sentences.filter((says) => !said.has(says) && !says.includes('not whole'))).toEqual([])
    if (histories >= 30) expect([...seen].sort()).toEqual(parts.map(([name]) => name).sort())
  })

  async function wholeReport({ workspace }: PlayedHistory, said: Seen): Promise<ReportData> {
    const { signer, scope, log_host, bundles } = workspace
    const facts = await factsOf(workspace)
    const data = await reportOf(workspace)
    expect(data.integrity).toMatchObject({ verdict: 'whole', problems: { rows: [], more: 0 } })
    const trust = keyLines(signer.keysOf(log_host, scope.org_id)).join('\n')
    const { path, discard } = await bundles.make(scope, { from: null, to: null, since: null })
    expect((await verifyWithBoth(path, trust, auditor)).findings).toEqual([])
    await discard()
    const checked = { data, facts, is_whole: true, is_log_whole: true, is_bundle_valid: true }
    expect(untrueIn(checked, said)).toEqual([])
    const from = await receivedAt(workspace, 0.5)
    const later = { data: await reportOf(workspace, from), facts: await factsOf(workspace, from) }
    expect(['of the later half', ...untrueIn({ ...checked, ...later }, said)]).toEqual(['of the later half'])
    // By the times that senders state: the later half, and what was imported from before the log.
    const day = 24 * 60 * 60_000
    for (const [first, to] of [
      [from, workspace.clock()],
      [begin - 600 * day, begin - day],
    ] as const) {
      const times = { by: 'occurred', to } as const
      const own = { data: await reportOf(workspace, first, times), facts: await factsOf(workspace, first, times) }
      const name = `occurred from ${new Date(first).toISOString()}`
      expect(own.data.integrity).toMatchObject({ verdict: 'whole', problems: { rows: [], more: 0 } })
      expect([name, ...untrueIn({ ...checked, ...own }, said)]).toEqual([name])
    }
    return data
  }
})

/** What the histories of a run must have between them. */
const parts: readonly (readonly [string, (data: ReportData) => number])[] = [
  ['waived violations', ({ summary }) => summary.waived],
  ['observed violations', ({ summary }) => summary.observed],
  ['approvals given', ({ summary }) => summary.approvals_given],
  ['approvals missing', ({ summary }) => summary.approvals_asked - summary.approvals_given],
  ['answered incidents', ({ incidents }) => incidents.time_to_review.count],
  ['unrecorded decisions', ({ summary }) => summary.unrecorded_decisions],
  ['erased entries', ({ integrity }) => integrity.erased],
  ['pruned entries', ({ integrity }) => integrity.pruned],
  ['holds', ({ retention }) => retention.holds.rows.length],
  ['stops', ({ oversight }) => oversight.events['stop.created'] ?? 0],
  ['engines', ({ oversight }) => oversight.events['engine.state'] ?? 0],
  ['rotated keys', ({ oversight }) => oversight.events['log.key_rotated'] ?? 0],
]

const partsOf = (data: ReportData) => parts.flatMap(([name, count]) => (count(data) > 0 ? name : []))
