// Bundles of reports: the period of a report with the leaf that holds the SHA-256 of its file.

import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { BundleVerdict, LogCheckpoint, Problem } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { runSvc } from '../../support/cli/svc.js'
import { contentsOf, downloadBundle, openAuditorFolder, verifyWithBoth } from '../../support/log/bundle.js'
import { checkpointOf, fast, logSteps, register } from '../../support/log/log.js'
import { type MailServer, startMailServer } from '../../support/people/mail.js'
import { type SignedIn, signedIn } from '../../support/people/people.js'
import { issueReport } from '../../support/reports/issued-report.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'
import { sharedPostgres } from '../../support/server/postgres.js'
import { soon } from '../../support/server/soon.js'

const postgres = await sharedPostgres()
const id = `rep_${'a'.repeat(32)}`
const [from, to] = ['2026-03-02T00:00:00.000Z', '2026-03-03T00:00:00.000Z']
const file = Buffer.from('%PDF-1.7 12 incidents\n')
const oneFile = fileURLToPath(new URL('../../../proof/svc-verify.mjs', import.meta.url))

describe.skipIf(postgres === null)('the bundle of a report', () => {
  const auditor = openAuditorFolder()
  const database_url = postgres?.freshDatabase() ?? ''
  let now = Date.parse('2026-03-01T09:00:00Z')
  let mails: MailServer
  let platform: TestPlatform
  let stranger: SignedIn
  let trust: string
  const at = (query: string) => platform.call<Problem>('GET', `/api/v1/log/bundle?${query}`)
  const verdictOn = (bundle: Buffer) => verifyWithBoth(auditor.put('bundle.zip', bundle), trust, auditor)
  const svc = (...args: string[]) =>
    runSvc(['verify', join(auditor.folder, 'bundle.zip'), '--trust', join(auditor.folder, 'trust.policy'), ...args])
  beforeAll(async () => {
    mails = await startMailServer()
    const env = { ...fast, SVC_SMTP_URL: mails.url, SVC_RATE_LIMIT_ADDRESS: '0' }
    platform = await startPlatform({ database_url, env, clock: () => now++ })
    await register(platform)
    await logSteps(platform, 'before', 10)
    now = Date.parse('2026-03-02T09:00:00Z')
    await logSteps(platform, 'within', 10)
    const cut_off = await checkpointOf(platform, 20)
    trust = `log ${cut_off.key}\n`
    now = Date.parse('2026-03-05T09:00:00Z')
    stranger = await signedIn(platform, mails, 'stranger@example.org')
    await vi.waitFor(async () => {
      expect((await stranger.call('GET', '/api/v1/log/checkpoint')).status).toBe(200)
    }, soon)
    const org_id = cut_off.origin.split('/').at(-2) ?? ''
    await issueReport(database_url, { org_id, id, from, to, cut_off, file, at: now })
    expect([200, 503]).toContain((await at(`report=${id}`)).status)
    await vi.waitFor(async () => {
      const { body } = await platform.call<LogCheckpoint>('GET', '/api/v1/log/checkpoint')
      expect(body.size).toBe(cut_off.size + 1)
    }, soon)
  })
  afterAll(async () => {
    auditor.clear()
    await discard(platform)
    await mails.close()
  })

  it('holds the period of the report, its leaf, the agent as it was registered before, and what the report reads', async () => {
    const bundle = await downloadBundle(platform, `?report=${id}`)
    const verdict = await verdictOn(bundle)
    expect(verdict).toMatchObject({ valid: true, findings: [], period: { from, to }, entries: { step: 10 } })
    const contents = contentsOf(bundle)
    const linesOf = <T>(name: string) => {
      const lines = String(contents.get(name)).trim().split('\n')
      return lines.map((line) => JSON.parse(line) as T)
    }
    const outside = linesOf<{ log_index: number; body: string }>('authority.jsonl')
    const bodies = outside.map(({ body }) => JSON.parse(body) as object)
    const registered = { kind: 'agent.registered', data: { facts: { agent_key: 'a' } } }
    for (const body of [{ event: registered }, { event: { kind: 'workspace.created' } }, { report: { id, from, to } }])
      expect(bodies.filter((one) => isLike(one, body))).toHaveLength(1)
    const readings = linesOf<{ kind: string; leaves: number[] }>('report.jsonl')
    expect([readings[0]?.kind, readings.at(-1)?.kind]).toEqual(['work', 'tables'])
    const indexes = outside.map(({ log_index }) => log_index)
    for (const index of readings.flatMap(({ leaves }) => leaves)) expect(indexes).toContain(index)
    expect(contentsOf(await downloadBundle(platform)).get('report.jsonl')).toHaveLength(0)
  })

  it('shows that the file of the report is as it was issued', async () => {
    await verdictOn(await downloadBundle(platform, `?report=${id}`))
    const path = auditor.put('report.pdf', file)
    const { code, stdout } = await svc('--report', path)
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining(`the file is report ${id} (pdf) exactly as it was issued`),
    ])
    expect(stdout).toContain(`for ${from} to ${to}; entry `)
    const json = JSON.parse((await svc('--report', path, '--json')).stdout) as BundleVerdict
    expect(json.report).toMatchObject({ id, format: 'pdf', from, to })
    const alone = spawnSync(process.execPath, [
      ...[oneFile, join(auditor.folder, 'bundle.zip'), '--trust', join(auditor.folder, 'trust.policy')],
      ...['--report', path],
    ])
    expect([alone.status, String(alone.stdout)]).toEqual([0, stdout])
  })

  it('shows that one digit of the file was changed', async () => {
    const verdict = await verdictOn(await downloadBundle(platform, `?report=${id}`))
    expect(verdict.valid).toBe(true)
    const changed = auditor.put('changed.pdf', String(file).replace('12 incidents', '11 incidents'))
    const { code, stdout } = await svc('--report', changed)
    expect([code, stdout]).toEqual([1, expect.stringContaining('[report_unknown]')])
    expect(stdout).toContain('bundle.zip: valid, but the report is NOT one that it shows to be issued\n')
    expect(stdout).toContain('get that bundle with `svc bundle --report ID`')
  })

  it('knows the report from any bundle with its leaf, and names another period', async () => {
    await verdictOn(await downloadBundle(platform))
    const { code, stdout } = await svc('--report', auditor.put('report.pdf', file))
    expect([code, stdout]).toEqual([0, expect.stringContaining('the bundle has another period than the report')])
  })

  it('is a usage error for a file that does not exist, or a folder', async () => {
    expect(await svc('--report', 'none.pdf')).toMatchObject({
      code: 2,
      stderr: 'svc verify: `none.pdf` does not exist\n',
    })
    expect((await svc('--report', auditor.folder)).code).toBe(2)
  })

  it.each([
    [`report=${id}&from=${from}`, 400],
    [`report=${id}&to=${to}`, 400],
    [`report=rep_${'b'.repeat(32)}`, 404],
    ['report=', 422],
  ])('answers `%s` with %i', async (query, status) => {
    expect((await at(query)).status).toBe(status)
  })

  it('is for auditors of its workspace, not for API keys and other workspaces', async () => {
    const path = `/api/v1/log/bundle?report=${id}`
    expect((await platform.call('GET', path, { as: 'key' })).status).toBe(403)
    expect((await platform.call('GET', path, { as: null })).status).toBe(401)
    expect((await stranger.call('GET', path)).status).toBe(404)
  })

  it('of a report that cannot be made again, because its checkpoint is gone, is valid without what the report reads', async () => {
    const { body } = await platform.call<LogCheckpoint>('GET', '/api/v1/log/checkpoint')
    const other = { id: `rep_${'d'.repeat(32)}`, org_id: body.origin.split('/').at(-2) ?? '', from, to, file, at: now }
    await issueReport(database_url, { ...other, cut_off: { size: body.size, root: 'ab'.repeat(32) } })
    const bundle = await vi.waitFor(() => downloadBundle(platform, `?report=${other.id}`), soon)
    expect((await verdictOn(bundle)).findings).toEqual([])
    expect(contentsOf(bundle).get('report.jsonl')).toHaveLength(0)
  })

  it('is 503 with Retry-After until the leaf is signed', async () => {
    now = Date.parse('2026-03-06T09:00:00Z')
    const { body } = await platform.call<LogCheckpoint>('GET', '/api/v1/log/checkpoint')
    const unsigned = { ...body, id: `rep_${'c'.repeat(32)}`, org_id: body.origin.split('/').at(-2) ?? '' }
    await platform.close()
    platform = await startPlatform({
      database_url,
      data_dir: platform.data_dir,
      env: { ...fast, SVC_CHECKPOINT_SECONDS: '3600' },
      clock: () => now++,
    })
    await issueReport(database_url, { ...unsigned, from, to, cut_off: body, file, at: now })
    const answer = await at(`report=${unsigned.id}`)
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1'])
  })
})

/** Whether the value has the members of the pattern. */
function isLike(value: unknown, pattern: unknown): boolean {
  if (typeof pattern !== 'object' || pattern === null) return value === pattern
  return Object.entries(pattern).every(([name, own]) => isLike((value as Record<string, unknown> | null)?.[name], own))
}
