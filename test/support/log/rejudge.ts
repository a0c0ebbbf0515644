// The steps of a platform's log evaluated again, as an auditor does from a bundle.
import { newSurvey, Rejudge, type RejudgedEntry, surveyRecord } from '@svc/engine/parts'
import type { LogCheckpoint, LogList, RejudgeVerdict } from '@svc/schemas'
import { expect, vi } from 'vitest'
import { rejudgeBundle } from '../../../cli/audit/rejudge.js'
import { parseTrustPolicy } from '../../../proof/notes/trust.js'
import { verifyBundle } from '../../../proof/verify/verify.js'
import type { TestPlatform } from '../server/platform.js'
import { soon, untilDone } from '../server/soon.js'
import { downloadBundle, openAuditorFolder } from './bundle.js'

/** Waits until the newest entry is signed; returns the trust policy of an auditor. */
export async function signedLog(platform: TestPlatform): Promise<string> {
  const { body } = await platform.call<LogList>('GET', '/api/v1/logs?limit=1')
  const newest = body.logs[0]?.log_index ?? 0
  return vi.waitFor(async () => {
    const answer = await platform.call<LogCheckpoint>('GET', '/api/v1/log/checkpoint')
    expect(answer.body.size).toBeGreaterThan(newest)
    return `log ${answer.body.key}\n`
  }, soon)
}

/** What the bundle of a query gives when its steps are evaluated again; the bundle must be valid. */
export async function rejudgedLog(platform: TestPlatform, query = ''): Promise<RejudgeVerdict> {
  const trust = await signedLog(platform)
  const auditor = openAuditorFolder()
  try {
    // A removal must be signed first.
    const bundle = await untilDone(() => downloadBundle(platform, query))
    return await rejudgedBundle(auditor.put('bundle.zip', bundle), trust)
  } finally {
    auditor.clear()
  }
}

/** The same for the file of a bundle. */
export async function rejudgedBundle(path: string, trust: string): Promise<RejudgeVerdict> {
  const { value: policy } = parseTrustPolicy(trust)
  expect((await verifyBundle({ path, policy, since: null })).findings).toEqual([])
  const { members } = await rejudgeBundle(path, policy, true, process.stderr)
  if (members.rejudge === undefined) throw new Error('nothing was evaluated again')
  return members.rejudge
}

/** Every step of the log is evaluated again, and equal. */
export async function expectEqualVerdicts(platform: TestPlatform): Promise<RejudgeVerdict> {
  const verdict = await rejudgedLog(platform)
  expect(verdict).toMatchObject({ equal: true, mismatches: [], others: [] })
  expect(verdict.evaluated).toBe(verdict.steps)
  return verdict
}

/** The same for entries in memory. `first`: log index of the first entry of the period; `earlier`: entries before it. */
export function rejudgedEntries(
  { sets }: { readonly sets: ReadonlyMap<string, string> },
  entries: readonly RejudgedEntry[],
  { first = 0, earlier = [] }: { readonly first?: number; readonly earlier?: readonly RejudgedEntry[] } = {},
): RejudgeVerdict {
  const survey = newSurvey()
  for (const { log_index, record } of entries) surveyRecord(survey, log_index, record)
  const rejudge = new Rejudge({ survey, bodyOf: (digest) => sets.get(digest) ?? null, first })
  for (const entry of earlier) rejudge.addEarlier(entry)
  for (const entry of entries) rejudge.add(entry)
  return rejudge.finish()
}
