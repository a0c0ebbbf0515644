// Ten thousand honest entries, in every spelling and depth that an edge accepts: no reader calls one of them altered.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectHonest, longPolicies, startWithLongPolicies, stop } from '../../support/honest-log.js'
import type { TestPlatform } from '../../support/platform.js'
import { sharedPostgres } from '../../support/postgres.js'

const postgres = await sharedPostgres()
const count = Number(process.env.SVC_HONEST_ENTRIES ?? 4_000)
const seed = Number(process.env.SVC_HONEST_SEED ?? Date.now() % 2 ** 31)

describe('honest entries', () => {
  let platform: TestPlatform
  beforeAll(async () => {
    platform = await startWithLongPolicies(postgres)
  })
  afterAll(() => stop(platform))

  it(`are never called altered, ${count} of them`, async () => {
    const report = await expectHonest(platform, count, seed, postgres === null ? 0 : longPolicies.length)
    expect(report).toContain('0 called altered')
    console.log(report)
  })
})
