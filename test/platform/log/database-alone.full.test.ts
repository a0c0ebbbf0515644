// Attacks with write access to the database, but without the keys of the log.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Frontier, formatVerifier, hexOf, leafHash, recordText, signerOf } from '@svc/proof'
import type { EventList, LeafRecord, LogCheckpoint, Verification } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { commitTo } from '../../../platform/ledger/commitments.js'
import { downloadBundle, openAuditorFolder, verifyWithBoth } from '../../support/log/bundle.js'
import { begun, checkpointOf, fast, logSteps, register } from '../../support/log/log.js'
import { withoutJobs } from '../../support/server/database.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'
import { sharedPostgres } from '../../support/server/postgres.js'
import { runPlatform } from '../../support/server/process.js'
import { soon } from '../../support/server/soon.js'

const postgres = await sharedPostgres()
const auditor = openAuditorFolder()
afterAll(() => auditor.clear())
const day = 86_400_000
const start = Date.parse('2026-01-10T09:00:00Z')

describe.skipIf(postgres === null)('a person with write access to the database alone', () => {
  if (postgres === null) return
  const url = postgres.freshDatabase()
  const sql = (text: string) => postgres.psql(url, text)
  let now = start
  let platform: TestPlatform
  let kept: LogCheckpoint
  const signed = () => checkpointOf(platform, Number(sql('select size from org_log')) - begun)
  const verdictOf = async () =>
    verifyWithBoth(auditor.put('bundle.zip', await downloadBundle(platform)), `log ${kept.key}\n`, auditor, kept.note)
  beforeAll(async () => {
    withoutJobs(sql)
    platform = await startPlatform({ database_url: url, env: fast, clock: () => now++ })
    await register(platform)
    await logSteps(platform, 'one', 5)
    kept = await signed()
  })
  afterAll(() => discard(platform))

  /** Appends a leaf as the platform does. */
  function append(type: LeafRecord['type'], subject_id: string, data: Record<string, unknown>): void {
    const { data: committed, salts, values } = commitTo(data)
    const [size, checkpoint, root, received_at, org_id] = sql(
      `select size, checkpoint_size, checkpoint_root,
         to_char(last_received_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), org_id from org_log`,
    ).split('|') as [string, string, string, string, string]
    const after = { size: Number(checkpoint), root }
    const record = recordText({ v: 'svc.log/1', type, org_id, received_at, subject_id, data: committed, after })
    sql(`begin;
      insert into log_records (org_id, log_index, received_at, type, subject_id, hash, record, salts, body) values
        ('${org_id}', ${size}, '${received_at}', '${type}', '${subject_id}', '${leafHash(record)}', $q$${record}$q$,
         $q${'$'}{${salts}}$q$, $q${'$'}{${values}}$q$);
      insert into log_leaves (org_id, log_index, received_at, type, leaf_hash)
        values ('${org_id}', ${size}, '${received_at}', '${type}', '${leafHash(record)}');
      update org_log set size = size + 1; commit`)
  }

  it('cannot have another key added to trust policies', async () => {
    const own = formatVerifier(signerOf(kept.origin, 'note', Buffer.alloc(32, 9)).verifier)
    append('key', kept.origin, { key: { at: '2026-01-10', by: 'operator:local', key: own, reason: 'yearly' } })
    await signed()
    expect(await verdictOf()).toMatchObject({ valid: true, new_keys: [], entries: { key: 1 } })
  })

  it.each([
    ['claim to be old but follow younger ones', '2026-01-01T00:00:00.000Z', 400],
    ['are too young', '2026-01-10T10:00:00.000Z', 30],
  ])('cannot claim a prune of entries that %s', async (_, before, days) => {
    await logSteps(platform, `secret-${days}`, 4)
    await signed()
    const where = `task_id = 'secret-${days}'`
    const [first, last] = sql(`select min(log_index), max(log_index) from log_entries where ${where}`).split('|')
    now = start + days * day
    await logSteps(platform, `later-${days}`, 1)
    const taken = { entries: [[Number(first), Number(last)]], id: 'prn_x', legal_basis: 'retention of 184 days' }
    const claim = { pruned_at: new Date(now).toISOString(), pruned_by: 'system:retention' }
    append('prune', 'prn_x', { prune: { ...taken, ...claim, before, archive: 'x.zip', archive_sha256: 'x' } })
    sql(`create table kept_e as table log_entries; create table kept_p as table log_payloads;
      delete from log_payloads where log_index between ${first} and ${last}; delete from log_entries where ${where}`)
    await signed()
    const { findings } = await verdictOf()
    expect(findings.map(({ code }) => code)).toEqual(['record_lost'])
    sql(`insert into log_entries table kept_e except table log_entries; drop table kept_e;
      insert into log_payloads table kept_p except table log_payloads; drop table kept_p`)
    expect((await verdictOf()).valid).toBe(true)
  })

  it.each(['toString', 'hasOwnProperty', '__proto__'])(
    'cannot hide a change behind a member named %s',
    async (name) => {
      const added = `"${name}":"${'0'.repeat(64)}",`
      const change = (from: string, to: string) =>
        sql(`update log_payloads set salts = replace(salts, '${from}', '${to}') where log_index = ${begun + 2}`)
      change('"input"', `${added}"input"`)
      const { status, body } = await platform.call<Verification>('GET', '/api/v1/tasks/one/verify')
      expect([status, body.integrity?.first_bad?.code]).toEqual([200, 'payload_mismatch'])
      expect((await verdictOf()).findings.map(({ code }) => code)).toEqual(['payload_mismatch'])
      change(added, '')
      expect((await verdictOf()).valid).toBe(true)
    },
  )

  it('does not stop a prune of entries that rotated keys signed', async () => {
    const env = { SVC_DATABASE_URL: url, SVC_DATA_DIR: platform.data_dir }
    expect((await runPlatform(['rotate-key', '--reason', 'yearly', '--days', '1'], env)).code).toBe(0)
    await signed()
    const path = join(platform.data_dir, 'log', 'retiring-keys.json')
    const keys = JSON.parse(readFileSync(path, 'utf8')) as { seed: string; until: number }[]
    writeFileSync(path, JSON.stringify(keys.map((key) => ({ ...key, until: 1 }))))
    now = start + 800 * day
    await logSteps(platform, 'newest', 2)
    await signed()
    expect((await platform.call('POST', '/api/v1/retention/prune')).status).toBe(200)
    expect(sql('select distinct task_id from log_entries')).toBe('newest')
  })

  it('cannot make the signer skip entries', async () => {
    await signed()
    const size = Number(sql('select size from org_log'))
    const tree = new Frontier(0, [])
    const forged = '11'.repeat(32)
    for (const hash of [...sql('select leaf_hash from log_leaves order by log_index').split('\n'), forged])
      tree.add(Buffer.from(hash, 'hex'))
    sql(`begin;
      insert into log_leaves (org_id, log_index, received_at, type, leaf_hash)
        select org_id, ${size}, last_received_at, 'event', '${forged}' from org_log;
      update org_log set size = ${size + 1}, checkpoint_size = ${size + 1}, checkpoint_at = '2020-01-01',
        checkpoint_root = '${hexOf(tree.root())}'; commit`)
    await vi.waitFor(async () => {
      const { events } = (await platform.call<EventList>('GET', '/api/v1/events')).body
      const reasons = events.filter(({ kind }) => kind === 'log.fork_refused').map(({ data }) => data.reason)
      expect(reasons).toContainEqual(expect.stringMatching(/claims a checkpoint beyond the \d+ signed entries/))
    }, soon)
    expect((await platform.call<LogCheckpoint>('GET', '/api/v1/log/checkpoint')).body.size).toBe(size)
  })
})
