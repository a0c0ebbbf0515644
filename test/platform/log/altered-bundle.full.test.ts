// Bundles of an altered database, and bundles altered in transit: both verifiers find the change.
import type { BundleVerdict, LogCheckpoint } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseTrustPolicy } from '../../../proof/notes/trust.js'
import { verifyBundle } from '../../../proof/verify/verify.js'
import { downloadBundle, openAuditorFolder, secondVerdict, verifyWithBoth } from '../../support/log/bundle.js'
import { begun, checkpointOf, fast, logSteps, register } from '../../support/log/log.js'
import { whileChanged } from '../../support/server/database.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'
import { sharedPostgres } from '../../support/server/postgres.js'

const postgres = await sharedPostgres()
const auditor = openAuditorFolder()
afterAll(() => auditor.clear())

describe.skipIf(postgres === null)('an altered bundle', () => {
  if (postgres === null) return
  const url = postgres.freshDatabase()
  const sql = (text: string) => postgres.psql(url, text)
  let platform: TestPlatform
  let trust: string
  let kept: LogCheckpoint
  const verdictOf = async (query = '', since: string | null = null): Promise<BundleVerdict> => {
    const bytes = await downloadBundle(platform, query)
    return verifyWithBoth(auditor.put('bundle.zip', bytes), trust, auditor, since)
  }
  const codes = ({ findings }: BundleVerdict) => [...new Set(findings.map(({ code }) => code))]
  beforeAll(async () => {
    platform = await startPlatform({ database_url: url, env: fast })
    await register(platform)
    await logSteps(platform, 'one', 10)
    kept = await checkpointOf(platform, 10)
    await logSteps(platform, 'two', 10)
    trust = `log ${(await checkpointOf(platform, 20)).key}\n`
  })
  afterAll(() => discard(platform))

  const index = begun + 3
  it.each([
    [
      'a record',
      `update log_entries set record = replace(record, '"step":4', '"step":5') where log_index = ${index}`,
      ['record_mismatch', 'link_broken'],
    ],
    [
      'a record and its leaf',
      `update log_entries set record = replace(record, '"step":4', '"step":5') where log_index = ${index};
       update log_leaves l set leaf_hash = encode(sha256('\\x00'::bytea || convert_to(e.record, 'UTF8')), 'hex')
         from log_entries e where e.log_index = ${index} and l.log_index = ${index}`,
      ['link_broken', 'fork', 'root_mismatch'],
    ],
    [
      'a value',
      `update log_payloads set body = replace(body, '{"index":3}', '{"index":9}') where log_index = ${index}`,
      ['payload_mismatch'],
    ],
    [
      'a salt',
      `update log_payloads set salts = translate(salts, '0123456789', '1234567890') where log_index = ${index}`,
      ['payload_mismatch'],
    ],
    ['a missing payload', `delete from log_payloads where log_index = ${index}`, ['payload_lost']],
    [
      'the payload of another entry',
      `update log_payloads p set salts = q.salts, body = q.body from log_payloads q where p.log_index = ${index} and q.log_index = ${index + 1}`,
      ['payload_mismatch'],
    ],
    [
      'a missing entry',
      `delete from log_entries where log_index = ${index}`,
      ['link_broken', 'record_lost', 'payload_mismatch'],
    ],
    [
      'a missing leaf',
      `delete from log_leaves where log_index = ${index}`,
      ['link_broken', 'record_lost', 'fork', 'root_mismatch'],
    ],
    [
      'a line break in a record',
      `update log_entries set record = E'\\n' || record where log_index = ${index}`,
      ['record_mismatch', 'link_broken'],
    ],
    [
      'a line break in a value',
      `update log_payloads set body = E'\\n' || body where log_index = ${index}`,
      ['payload_mismatch'],
    ],
    [
      'an event',
      `update log_records set body = replace(body, 'agent', 'agemt') where log_index = 3`,
      ['payload_mismatch'],
    ],
    ['a policy', `update policy_sets set body = replace(body, 'e', 'f')`, ['policy_set_missing', 'policy_set_unused']],
    [
      'an earlier checkpoint',
      `update checkpoints set root = repeat('0', 64) where size = ${begun + 10}`,
      ['checkpoint_invalid', 'after_mismatch'],
    ],
    ['a missing earlier checkpoint', `delete from checkpoints where size = ${begun + 10}`, ['after_mismatch']],
    [
      'the host of an earlier checkpoint',
      `update checkpoints set note = replace(note, 'log.example', 'log.exampel') where size = ${begun + 10}`,
      ['other_log', 'after_mismatch'],
    ],
    [
      'the epoch of an earlier checkpoint',
      `update checkpoints set note = regexp_replace(note, E'/1\n', E'/2\n') where size = ${begun + 10}`,
      ['other_log', 'after_mismatch'],
    ],
    [
      'the signature of an earlier checkpoint',
      // Another letter than the one that is there.
      `update checkpoints set note = regexp_replace(note, '(— \\S+ ......).',
         '\\1' || case when note ~ '— \\S+ ......A' then 'B' else 'A' end) where size = ${begun + 10}`,
      ['checkpoint_unsigned', 'after_mismatch'],
    ],
  ] as const)('is found: %s', async (_, change, found) => {
    const tables = ['log_entries', 'log_payloads', 'log_leaves', 'log_records', 'policy_sets', 'checkpoints']
    const verdict = await whileChanged(sql, tables, change, () => verdictOf())
    expect(codes(verdict).sort()).toEqual([...found].sort())
    expect((await verdictOf()).valid).toBe(true)
  })

  it('is not made below the last signed size', async () => {
    sql(`create table kept_c as table checkpoints; delete from checkpoints where size > ${begun + 10}`)
    await expect(downloadBundle(platform)).rejects.toThrow(
      /^503: .*the published checkpoint is older than the last signed one/,
    )
    sql('insert into checkpoints table kept_c except table checkpoints; drop table kept_c')
    expect(await verdictOf('', kept.note)).toMatchObject({ valid: true, since: begun + 10 })
  })

  it('is found when it is older than a checkpoint of the verifier', async () => {
    const before = auditor.put('before.zip', await downloadBundle(platform))
    await logSteps(platform, 'later', 2)
    const { note } = await checkpointOf(platform, 22)
    const verdict = await verifyWithBoth(before, trust, auditor, note)
    expect([codes(verdict), verdict.since]).toEqual([['log_shrank'], null])
  })

  it('names the actor and the legal basis of each erasure', async () => {
    const body = { task_id: 'one', legal_basis: 'GDPR Art. 17(1)(b)' }
    const erase = () => platform.call('POST', '/api/v1/erasures', { body })
    expect((await erase()).status).toBe(201)
    const size = Number(sql('select size from org_log'))
    await checkpointOf(platform, size - begun)
    const verdict = await verdictOf()
    expect(verdict).toMatchObject({
      valid: true,
      payloads: { erased: 10, pruned: 0 },
      removal_authorizations: [{ type: 'erasure', by: 'operator:local', reason: body.legal_basis, entries: 10 }],
    })
    // The erasure itself is outside this period.
    const received = sql(
      `select to_char(received_at + interval '1 ms', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') from log_leaves where log_index = ${begun + 9}`,
    )
    const early = await verdictOf(`?to=${received}`)
    expect(early).toMatchObject({
      valid: true,
      payloads: { erased: 10 },
      removal_authorizations: [{ by: 'operator:local' }],
    })
    sql(`update log_records set body = replace(body, '17(1)', '99(1)') where type = 'erasure'`)
    expect(codes(await verdictOf(`?to=${received}`))).toEqual(['record_invalid', 'payload_lost'])
    expect(codes(await verdictOf())).toEqual(['payload_mismatch', 'payload_lost'])
    sql(`update log_records set body = replace(body, '99(1)', '17(1)') where type = 'erasure'`)
  })

  it('is not valid as issued after a change of any byte', async () => {
    const original = await downloadBundle(platform)
    const ends = [
      ...Array.from({ length: 30 }, (_, at) => at),
      ...Array.from({ length: 60 }, (_, at) => original.length - 1 - at),
    ]
    const spread = Array.from({ length: 60 }, (_, at) => Math.floor((at * original.length) / 60))
    for (const [turn, at] of [...ends, ...spread].entries()) {
      const bytes = Buffer.from(original)
      bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << (turn % 8)), at)
      const path = auditor.put('flipped.zip', bytes)
      const verdict = await verifyBundle({ path, policy: parseTrustPolicy(trust).value, since: null })
      expect([at, isAsIssued(verdict)]).toEqual([at, false])
      if (turn % 30 > 0) continue
      const other = secondVerdict(path, auditor.put('trust.policy', trust))
      const expected = [at, verdict.valid, verdict.container]
      expect([at, other?.valid ?? verdict.valid, other?.container ?? verdict.container]).toEqual(expected)
    }
    for (const length of [0, 1, 100, original.length - 1, original.length - 22]) {
      const verdict = await verifyWithBoth(auditor.put('cut.zip', original.subarray(0, length)), trust, auditor)
      expect(verdict.valid).toBe(false)
    }
    expect(
      (await verifyWithBoth(auditor.put('longer.zip', Buffer.concat([original, Buffer.of(0)])), trust, auditor)).valid,
    ).toBe(false)
  })
})

/** A change outside the files shows in the container; a change in a file shows in its content. */
function isAsIssued({ valid, container }: BundleVerdict): boolean {
  return valid && container === 'issued'
}
