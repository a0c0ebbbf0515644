// A platform with long policies, honest entries on it, and the verdict of every verifier.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { discard, startPlatform, type TestPlatform } from '../server/platform.js'
import { type SharedPostgres, sharedPostgres } from '../server/postgres.js'
import { downloadBundle, openAuditorFolder, verifyWithBoth } from './bundle.js'
import { alteredTasks, honestEntries, keyOnceSigned, sendHonestEntries } from './honest-entries.js'
import { fast, register } from './log.js'
import { rejudgedBundle } from './rejudge.js'

interface LongPolicy {
  readonly name: string
  readonly rule_type: string
  readonly params: unknown
}

/** A policy that each step violates, inside this number of compound rules; each adds three levels of JSON. */
function nestedNode(levels: number): LongPolicy {
  let node: Omit<LongPolicy, 'name'> = {
    rule_type: 'field_in_list',
    params: {
      field: 'step_type',
      values: [1e20, 1.5, -1e21, 5e-324, '\u{10ffff}', 'e\u0301', '"\\', 'x'.repeat(10_000)],
    },
  }
  for (let level = 0; level < levels; level++) node = { rule_type: 'all_of', params: { conditions: [node] } }
  return { name: `${levels} deep`, ...node }
}

/** Policies that each step violates and whose params enter incidents, up to the maximum depth of a manifest. */
const longPolicies = [nestedNode(0), nestedNode(20), nestedNode(80)]

async function putPolicies(database_url: string): Promise<void> {
  const client = new Client({ connectionString: database_url })
  await client.connect()
  for (const [at, { name, rule_type, params }] of longPolicies.entries())
    await client.query(
      `insert into policies (org_id, id, name, rule_type, params, scope, severity, agent_id, enabled, mode, controls,
         version, created_at, updated_at)
       select org_id, $1, $2, $3, $4, 'step_execution', 'low', agent_id, true, 'enforce', '{}', 1, now(), now() from agents`,
      [1_000_000 + at, name, rule_type, JSON.stringify(params)],
    )
  await client.end()
}

/** Starts a platform whose agent has the long policies; on the embedded database it has none of them. */
async function startWithLongPolicies(postgres: SharedPostgres | null): Promise<TestPlatform> {
  if (postgres === null) {
    const embedded = await startPlatform({ env: fast })
    await register(embedded)
    return embedded
  }
  const database_url = postgres.freshDatabase()
  const platform = await startPlatform({ database_url, env: fast })
  await register(platform)
  await putPolicies(database_url)
  return platform
}

/** The single-file verifier. */
const oneFile = fileURLToPath(new URL('../../../proof/svc-verify.mjs', import.meta.url))

/** Sends `count` honest entries and runs every verifier; a failure names the seed. */
async function expectHonest(platform: TestPlatform, count: number, seed: number, policies: number): Promise<string> {
  const auditor = openAuditorFolder()
  try {
    const { accepted, rejected, tasks } = await sendHonestEntries(platform, honestEntries(count, seed))
    expect(await alteredTasks(platform, tasks)).toEqual([])
    const key = await keyOnceSigned(platform)
    const path = auditor.put('bundle.zip', await downloadBundle(platform))
    const verdict = await verifyWithBoth(path, `log ${key}\n`, auditor)
    expect(verdict.findings).toEqual([])
    const alone = spawnSync(process.execPath, [oneFile, path, '--trust', join(auditor.folder, 'trust.policy')])
    expect([alone.status, String(alone.stderr)]).toEqual([0, ''])
    expect(verdict.entries.step).toBe(accepted + 1)
    const again = await rejudgedBundle(path, `log ${key}\n`)
    expect(again).toMatchObject({ equal: true, mismatches: [], others: [], evaluated: accepted + 1 })
    expect(verdict.entries.incident ?? 0).toBeGreaterThanOrEqual(tasks.length * policies)
    return `${accepted} accepted and ${rejected} rejected entries in ${tasks.length} tasks, ${verdict.entries.incident} incidents: 0 reported as altered (seed ${seed})`
  } catch (error) {
    throw new Error(`SVC_HONEST_SEED=${seed} makes these ${count} entries again`, { cause: error })
  } finally {
    auditor.clear()
  }
}

/** Tests `count` honest entries on one platform; `more` adds tests on the same platform. */
export async function describeHonestEntries(
  count: number,
  more: (platform: () => TestPlatform, seed: number) => void = () => undefined,
): Promise<void> {
  const postgres = await sharedPostgres()
  const seed = Number(process.env.SVC_HONEST_SEED ?? Date.now() % 2 ** 31)
  describe('honest entries', () => {
    let platform: TestPlatform | undefined
    const started = () => {
      if (platform === undefined) throw new Error('the platform has not started')
      return platform
    }
    beforeAll(async () => {
      platform = await startWithLongPolicies(postgres)
    })
    afterAll(async () => {
      if (platform !== undefined) await discard(platform)
    })

    it(`are never reported as altered: ${count} entries`, async () => {
      const report = await expectHonest(started(), count, seed, postgres === null ? 0 : longPolicies.length)
      expect(report).toContain('0 reported as altered')
      console.log(report)
    })
    more(started, seed)
  })
}
