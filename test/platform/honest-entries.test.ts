// Whatever one edge accepts, every reader accepts: odd numbers, names, strings and depths, through the log to both verifiers.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectHonest, longPolicies, startWithLongPolicies, stop } from '../support/honest-log.js'
import type { TestPlatform } from '../support/platform.js'
import { startPostgres } from '../support/postgres.js'

const postgres = await startPostgres()
const seed = Number(process.env.SVC_HONEST_SEED ?? Date.now() % 2 ** 31)

describe('honest entries', () => {
  let platform: TestPlatform
  beforeAll(async () => {
    platform = await startWithLongPolicies(postgres)
  })
  afterAll(() => stop(platform, postgres))

  it('are never called altered', async () => {
    const report = await expectHonest(platform, 400, seed, postgres === null ? 0 : longPolicies.length)
    expect(report).toContain('0 called altered')
  })
})
