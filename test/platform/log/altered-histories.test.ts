// Histories that were altered in the database: no sentence of a report, and no verifier, says of them what does not hold
// (test/cases/sentences.yaml). Three of them here, 300 at night.
import { keyLines } from '@svc/proof'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseTrustPolicy } from '../../../proof/notes/trust.js'
import { verifyBundle } from '../../../proof/verify/verify.js'
import { numbers } from '../../support/engine/policy-pairs.js'
import { type Seen, untrueIn } from '../../support/engine/sentences.js'
import { alterHistory } from '../../support/log/alterations.js'
import { factsOf } from '../../support/log/history-facts.js'
import { type HistoryPlatform, type HistoryWorkspace, openHistoryPlatform } from '../../support/log/history-platform.js'
import { honestActs, playedHistory, reportOf } from '../../support/log/honest-histories.js'
import { runs } from '../../support/random.js'

const histories = Number(process.env.SVC_ALTERED_HISTORIES ?? runs(300, 3))
// The same histories in each run; another seed plays others.
const seed = Number(process.env.SVC_HISTORY_SEED ?? 20_260_101)

describe('altered histories', () => {
  let platform: HistoryPlatform
  beforeAll(async () => {
    platform = await openHistoryPlatform()
  })
  afterAll(() => platform.close())

  it(`are called nothing that does not hold: ${histories} histories`, async () => {
    const seen: Seen = new Map()
    const made = new Set<string>()
    for (let number = 0; number < histories; number++) {
      const { workspace } = await playedHistory(platform, honestActs(seed + number))
      const facts = await factsOf(workspace)
      const altered = await alterHistory(workspace, numbers(seed + number))
      if (altered === null) continue
      made.add(altered.name)
      const data = await reportOf(workspace)
      const is_bundle_valid = await isValid(workspace)
      const is_whole = altered.is_provable === false
      const checked = { data, facts, is_whole, is_log_whole: !altered.is_in_log, is_bundle_valid }
      expect([seed + number, altered.name, untrueIn(checked, seen)]).toEqual([seed + number, altered.name, []])
    }
    if (histories >= 30) expect(made.size).toBeGreaterThan(5)
  })
})

async function isValid({ signer, scope, log_host, bundles }: HistoryWorkspace): Promise<boolean> {
  const trust = keyLines(signer.keysOf(log_host, scope.org_id)).join('\n')
  const { path, discard } = await bundles.make(scope, { from: null, to: null, since: null })
  const { valid } = await verifyBundle({ path, policy: parseTrustPolicy(trust).value, since: null })
  await discard()
  return valid
}
