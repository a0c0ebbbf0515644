// Proof bundles of any period, checked by both verifiers.
import { formatVerifier, signerOf } from '@svc/proof'
import type { LogCheckpoint } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { zipLayout } from '../../../proof/bundle/zip.js'
import { runSvc } from '../../support/cli/svc.js'
import { downloadBundle, openAuditorFolder, verifyWithBoth } from '../../support/log/bundle.js'
import { checkpointOf, fast, logSteps, register } from '../../support/log/log.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'
import { databaseHere } from '../../support/server/postgres.js'

const { kind, database_url } = await databaseHere()
const auditor = openAuditorFolder()
afterAll(() => auditor.clear())

/** Five hours of a log, with a task of forty steps in each; the test sets the clock. */
const hours = ['09', '10', '11', '12', '13'].map((hour) => `2026-03-01T${hour}:00:00.000Z`)

describe(`a bundle on ${kind}`, () => {
  let now = Date.parse('2026-03-01T08:00:00Z')
  let platform: TestPlatform
  let first: LogCheckpoint
  let last: LogCheckpoint
  let trust: string
  beforeAll(async () => {
    platform = await startPlatform({ database_url, env: fast, clock: () => now++ })
    await register(platform)
    for (const [index, hour] of hours.entries()) {
      now = Date.parse(hour)
      await logSteps(platform, `task ${index}`, 40)
      last = await checkpointOf(platform, 40 * (index + 1))
      if (index === 0) first = last
    }
    trust = `log ${last.key}\n`
  })
  afterAll(() => discard(platform))

  it.each([
    ['', { event: 6, incident: 1, step: 200 }, 'log_begins', 'as_signed'],
    [`?from=${hours[1]}`, { step: 160 }, 'neighbour', 'as_signed'],
    [`?to=${hours[1]}`, { event: 6, incident: 1, step: 40 }, 'log_begins', 'neighbour'],
    [`?from=${hours[1]}&to=${hours[3]}`, { step: 80 }, 'neighbour', 'neighbour'],
    ['?from=2026-03-01T11:00:00Z&to=2026-03-01T14:00:00%2B02:00', { step: 40 }, 'neighbour', 'neighbour'],
    ['?from=2026-03-01T09:30:00Z&to=2026-03-01T09:45:00Z', {}, 'neighbour', 'neighbour'],
    ['?from=2026-04-01T00:00:00Z', {}, 'neighbour', 'as_signed'],
    ['?to=2026-01-01T00:00:00Z', {}, 'log_begins', 'neighbour'],
  ])('is valid and complete for the query `%s`', async (query, entries, start, end) => {
    const path = auditor.put('bundle.zip', await downloadBundle(platform, query))
    const verdict = await verifyWithBoth(path, trust, auditor)
    expect(verdict).toMatchObject({ valid: true, findings: [], complete: { start, end }, log: last.origin })
    expect(verdict.entries).toEqual(entries)
    expect(verdict.checkpoint).toMatchObject({ size: last.size, root: last.root, key: last.key })
  })

  it('proves that the log continues an earlier checkpoint', async () => {
    const late = `?from=${hours[3]}`
    const without = auditor.put('without.zip', await downloadBundle(platform, late))
    expect((await verifyWithBoth(without, trust, auditor, first.note)).findings).toMatchObject([
      { code: 'since_unproven' },
    ])
    const reaching = auditor.put('with.zip', await downloadBundle(platform, `${late}&since=${first.size}`))
    expect((await verifyWithBoth(reaching, trust, auditor, first.note)).valid).toBe(true)
    const whole = auditor.put('whole.zip', await downloadBundle(platform))
    expect((await verifyWithBoth(whole, trust, auditor, first.note)).valid).toBe(true)
  })

  it('is verified by `svc verify`, as text and as JSON', async () => {
    const path = auditor.put('bundle.zip', await downloadBundle(platform))
    const policy = auditor.put('own.policy', `# ours\nlog ${last.key}\n`)
    const text = await runSvc(['verify', path, '--trust', policy])
    expect([text.code, text.stderr]).toEqual([0, ''])
    expect(text.stdout).toContain('bundle.zip: valid\n')
    expect(text.stdout).toContain('207: 200 step, 6 event, 1 incident')
    expect(text.stdout).toContain('the last entry is the last signed one\n')
    // The name and the id of the key, without its random part.
    expect(text.stdout).toContain(`by ${last.key.slice(0, last.origin.length + 9)}\n`)
    const open = auditor.put('open.zip', await downloadBundle(platform, '?to=2030-01-01T00:00:00Z'))
    const early = (await runSvc(['verify', open, '--trust', policy])).stdout
    expect(early).toMatch(/covers up to 2026-03-01T13:\S+Z; the period had not ended\n/)
    now = Date.parse('2026-03-01T14:00:00Z')
    const late = auditor.put('late.zip', await downloadBundle(platform, '?to=2026-03-01T13:59:00Z'))
    const caution = 'but no witness shows that the period was over'
    expect((await runSvc(['verify', late, '--trust', policy])).stdout).toContain(caution)
    const absence = '\n  – witnesses  none: the trust policy names no witness (see docs/auditors.md, split view)\n'
    expect(text.stdout).toContain(absence)
    expect(text.stdout).toMatch(/\n {4}made {7}2026-03-01T13:\S+Z, by the clock of the platform\n/)
    expect(text.stdout).toMatch(/\n {4}workspace {2}.+ \(the platform's name for it; no entry confirms it\)\n/)
    expect(text.stdout).toContain(`key fingerprint ${last.keys[0]?.fingerprint}; compare it`)
    const quiet = '?from=2026-03-01T09:30:00Z&to=2026-03-01T09:45:00Z'
    const empty = auditor.put('empty.zip', await downloadBundle(platform, quiet))
    const none = (await runSvc(['verify', empty, '--trust', policy])).stdout
    for (const line of ['entries    none in this period', 'payloads   0 match', 'tasks      0 chains'])
      expect(none).toContain(`\n  – ${line}`)
    const json = await runSvc(['verify', path, '--trust', policy, '--json'])
    expect(JSON.parse(json.stdout)).toMatchObject({ valid: true, tasks: { count: 5 } })
  })

  it.each([
    ['from=yesterday', 422],
    ['from=2026-03-02T00:00:00Z&to=2026-03-01T00:00:00Z', 422],
    ['from=2026-03-01T00:00:00Z&to=2026-03-01T00:00:00Z', 422],
    ['since=-1', 422],
    ['since=0', 422],
    ['other=1', 422],
  ])('is rejected for the query `%s`', async (query, status) => {
    expect((await platform.call('GET', `/api/v1/log/bundle?${query}`)).status).toBe(status)
  })

  it('requires an operator, not an API key', async () => {
    expect((await platform.call('GET', '/api/v1/log/bundle', { as: 'key' })).status).toBe(403)
    expect((await platform.call('GET', '/api/v1/log/bundle', { as: null })).status).toBe(401)
  })

  it.each([
    ['another log', 'elsewhere'],
    ['another key of this log', null],
  ])('is untrusted under a policy that names %s', async (_, name) => {
    const path = auditor.put('bundle.zip', await downloadBundle(platform))
    const policy = `log ${keyOf(name ?? last.origin)}\n`
    expect((await verifyWithBoth(path, policy, auditor)).findings).toMatchObject([{ code: 'untrusted' }])
  })
})

/** An unknown key. */
const keyOf = (name: string) => formatVerifier(signerOf(name, 'note', Buffer.alloc(32, 7)).verifier)

/** A zip whose one file claims 4 GiB. */
function tooLarge(): Buffer {
  const entry = { name: 'manifest.json', deflated: false, crc32: 0, packed: 0, bytes: 0 }
  const { headers, directory } = zipLayout([entry])
  const bytes = Buffer.from(directory.bytes)
  bytes.writeUInt32LE(0xffff_ffff, 20)
  return Buffer.concat([...headers.map((header) => header.bytes), bytes])
}

describe('a file that is not a bundle', () => {
  it.each([
    ['an empty file', Buffer.alloc(0), 'not_a_bundle'],
    ['text', Buffer.from('hello\n'), 'not_a_bundle'],
    ['the end of a zip alone', Buffer.from(`504b0506${'00'.repeat(18)}`, 'hex'), 'not_a_bundle'],
    ['sizes beyond what a zip holds', tooLarge(), 'not_a_bundle'],
    [
      'a directory that points nowhere',
      Buffer.from(`504b0506${'00'.repeat(8)}ffffffffffffffff0000`, 'hex'),
      'not_a_bundle',
    ],
  ])('is rejected: %s', async (_, bytes, code) => {
    const verdict = await verifyWithBoth(
      auditor.put('no.zip', bytes),
      `log ${keyOf('log.example/org/org_1/1')}\n`,
      auditor,
    )
    expect(verdict.findings).toMatchObject([{ code }])
  })

  it('is reported apart from an invalid trust policy', async () => {
    const bundle = auditor.put('no.zip', 'x')
    const witness = formatVerifier(signerOf('w', 'witness', Buffer.alloc(32, 8)).verifier)
    for (const [text, message] of [
      ['', 'the policy names no log'],
      ['log nonsense\n', 'name+id+key'],
      ['trust me\n', 'begin the line with log, past, witness, group, quorum'],
      ['quorum ours\n', 'is not a witness or group'],
      [`witness a ${witness}\nwitness b ${witness}\ngroup g 2 a a b\n`, 'a member occurs twice'],
      ['constructor a\n', 'begin the line with log, past, witness, group, quorum'],
      ['\u001b[31mred\n'.repeat(100), ':5: `�[31mred` is unknown'],
      ['x\n'.repeat(100), 'and 95 more'],
      ['PK\u0003\u0004', 'is a zip, not a trust policy: the two files may be swapped'],
    ] as const) {
      const { code, stderr } = await runSvc(['verify', bundle, '--trust', auditor.put('bad.policy', text)])
      expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
    }
    expect((await runSvc(['verify', bundle])).code).toBe(2)
    expect((await runSvc(['verify', auditor.folder, '--trust', bundle])).stderr).toContain('begin the line with log')
    const good = auditor.put('good.policy', `log ${keyOf('a')}\n`)
    for (const [since, message] of [
      [auditor.put('since', 'hello\n'), 'is not a checkpoint: --since takes the checkpoint.note of an earlier bundle'],
      [auditor.folder, 'is a folder: name a file'],
    ] as const) {
      const { code, stderr } = await runSvc(['verify', bundle, '--trust', good, '--since', since])
      expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
    }
    for (const [report, message] of [
      [auditor.folder, 'is a folder: name the file of a report'],
      ['/dev/zero', '`/dev/zero` has more than 1 GiB: name the file of a report'],
    ] as const) {
      const { code, stderr } = await runSvc(['verify', bundle, '--trust', good, '--report', report])
      expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
    }
    expect((await runSvc(['verify', bundle, '--trust', `${auditor.folder}/none`])).code).toBe(2)
    expect(
      (await runSvc(['verify', `${auditor.folder}/none`, '--trust', auditor.put('p', `log ${keyOf('a')}\n`)])).code,
    ).toBe(2)
    const saved = auditor.put('error.zip', '{"status":401}')
    const { stdout } = await runSvc(['verify', saved, '--trust', auditor.put('p', `log ${keyOf('a')}\n`)])
    expect(stdout).toContain('an error response may have been saved instead of a bundle')
  })
})
