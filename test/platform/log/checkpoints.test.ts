// Checkpoints and proofs, verified as an auditor does.
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import {
  parseCheckpoint,
  parseNote,
  parseVerifier,
  verifyConsistency,
  verifyInclusion,
  verifySignature,
} from '@svc/proof'
import type { ConsistencyProof, InclusionProof, LogCheckpoint, LogDetail } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { begun, checkpointOf, fast, logSteps, register } from '../../support/log/log.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'
import { databaseHere } from '../../support/server/postgres.js'

const bytes = (hex: string) => Buffer.from(hex, 'hex')

/** The checkpoint of a note whose signature by the key is valid. */
function signed({ note, key }: LogCheckpoint) {
  const [read, verifier] = [parseNote(note), parseVerifier(key)]
  const [signature] = read?.signatures ?? []
  if (read === null || verifier === null || signature === undefined) throw new Error('not a signed note')
  expect(verifySignature(read.text, signature, verifier)).toEqual({ time: null })
  return parseCheckpoint(read.text)
}

const { kind, database_url } = await databaseHere()

describe(`the log on ${kind}`, () => {
  let platform: TestPlatform
  let first: LogCheckpoint
  beforeAll(async () => {
    platform = await startPlatform({ database_url, env: fast })
    await register(platform)
  })
  afterAll(() => discard(platform))

  it('is signed before the first step', async () => {
    const { size } = await checkpointOf(platform, 0)
    expect(size).toBe(begun)
  })

  it('is signed after it has grown', async () => {
    await logSteps(platform, 'one', 300)
    first = await checkpointOf(platform, 300)
    expect(signed(first)).toEqual({ origin: first.origin, size: begun + 300, root: bytes(first.root) })
    expect(first.origin).toMatch(/^log\.example\/org\/org_[0-9a-f]+\/1$/)
  })

  it('proves each of its entries and each earlier size', async () => {
    await logSteps(platform, 'two', 400)
    const now = await checkpointOf(platform, 700)
    const root = signed(now)?.root ?? Buffer.alloc(0)
    const [earlierSize, size] = [begun + 300, begun + 700]
    for (const index of [7, 8, 255, 256, 299, 300, 511, 512, size - 2, size - 1]) {
      const path = `/api/v1/log/proof/inclusion?log_index=${index}`
      const { body } = await platform.call<InclusionProof>('GET', path, { as: 'key' })
      expect(verifyInclusion(bytes(body.leaf_hash), index, size, body.proof.map(bytes), root)).toBe(true)
      expect(body.note).toBe(now.note)
    }
    const { body } = await platform.call<ConsistencyProof>('GET', `/api/v1/log/proof/consistency?first=${earlierSize}`)
    expect(verifyConsistency(earlierSize, size, body.proof.map(bytes), bytes(first.root), root)).toBe(true)
    const earlier = await platform.call<InclusionProof>(
      'GET',
      `/api/v1/log/proof/inclusion?log_index=7&size=${earlierSize}`,
    )
    expect(earlier.body.root).toBe(first.root)
    const { proof, leaf_hash } = earlier.body
    expect(verifyInclusion(bytes(leaf_hash), 7, earlierSize, proof.map(bytes), bytes(first.root))).toBe(true)
  })

  it('names the checkpoint before an entry in its record', async () => {
    const now = await checkpointOf(platform, 700)
    const [result] = (await logSteps(platform, 'three', 1)).results
    const log_id = (result as { entry?: { log_id: string } }).entry?.log_id ?? ''
    const { body } = await platform.call<LogDetail>('GET', `/api/v1/logs/${log_id}`)
    expect(body.record.after).toEqual({ size: begun + 700, root: now.root })
    await checkpointOf(platform, 701)
    const { status, body: proof } = await platform.call<InclusionProof>(
      'GET',
      `/api/v1/log/proof/inclusion?log_id=${log_id}`,
    )
    expect([status, proof.leaf_hash]).toEqual([200, body.hash])
  })

  it.each([
    ['proof/inclusion', 422],
    ['proof/inclusion?log_index=1&log_id=log_1', 422],
    ['proof/inclusion?log_index=900', 404],
    ['proof/inclusion?log_index=400&size=300', 404],
    ['proof/inclusion?log_index=1&size=900', 422],
    ['proof/inclusion?log_index=-1', 422],
    ['proof/inclusion?log_id=nothing', 404],
    ['proof/consistency', 422],
    ['proof/consistency?first=0', 422],
    ['proof/consistency?first=900', 422],
    ['proof/consistency?first=400&second=300', 422],
  ])('rejects %s with status %i', async (path, status) => {
    expect((await platform.call('GET', `/api/v1/log/${path}`)).status).toBe(status)
  })

  it('has the same key after a restart', async () => {
    const before = await checkpointOf(platform, 701)
    platform = await platform.restart()
    await logSteps(platform, 'four', 2)
    const after = await checkpointOf(platform, 703)
    expect(after.key).toBe(before.key)
  })

  it('stores its key and its signed state outside the database, unreadable for other users', () => {
    const folder = join(platform.data_dir, 'log')
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
      (name) => name.includes('.json') || name === 'signing-key',
    )
    expect(files).toHaveLength(2)
    for (const name of files) expect(statSync(join(folder, name)).mode & 0o077).toBe(0)
  })
})
