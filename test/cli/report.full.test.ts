// `svc report` from the request to the verified file, at the terminal of an auditor.
import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { MadeApiKey, Report } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { saveSession } from '../../cli/account/session-file.js'
import { runSvc } from '../support/cli/svc.js'
import { fast } from '../support/log/log.js'
import { type MailServer, startMailServer } from '../support/people/mail.js'
import { join as joinWorkspace, type SignedIn, signedIn } from '../support/people/people.js'
import { sha256Of } from '../support/reports/reports.js'
import { discard, startPlatform, type TestPlatform } from '../support/server/platform.js'
import { soon } from '../support/server/soon.js'

const folder = mkdtempSync(join(tmpdir(), 'svc-report-'))
let mails: MailServer
let platform: TestPlatform
let agent_id: string
let owner: SignedIn

/** The terminal of a person: the exit code, and the printed text. */
async function terminalOf(person: SignedIn, name: string) {
  const config = join(folder, name)
  const tokens = { access_token: person.token, refresh_token: person.refresh_token, token_type: 'Bearer' as const }
  saveSession(join(config, 'session.json'), platform.url, { ...tokens, expires_in: 900 }, Date.now())
  return (...args: string[]) => runSvc(args, { SVC_CONFIG_DIR: config }, undefined, folder)
}

/** Runs a printed command, as it is pasted by the auditor. */
async function pasted(command: string) {
  const env = { PATH: process.env.PATH, SVC_CONFIG_DIR: join(folder, 'auditor') }
  return promisify(execFile)('sh', ['-c', command], { cwd: folder, env }).then(
    ({ stdout }) => stdout,
    ({ stderr }: { stderr: string }) => stderr,
  )
}

/** A terminal without a session. */
const anonymous = (...args: string[]) => runSvc(args, { SVC_CONFIG_DIR: join(folder, 'none') }, undefined, folder)
/** The arguments that make a report again from the last bundle of an issued one. */
const again = (out = 'again.pdf') => ['report', '--bundle', 'issued.zip', '--trust', 'trust.policy', '--out', out]

let auditor: Awaited<ReturnType<typeof terminalOf>>
let member: typeof auditor

beforeAll(async () => {
  mails = await startMailServer()
  platform = await startPlatform({ env: { ...fast, SVC_SMTP_URL: mails.url } })
  owner = await signedIn(platform, mails, 'owner@example.org')
  await owner.call('POST', `/auth/workspaces/${owner.org_id}/promote`, { name: 'Acme' })
  const as = (await owner.call<MadeApiKey>('POST', '/auth/api-keys', { name: 'agents' })).body.key
  const agent = { agent_key: 'a' }
  agent_id = (await platform.call<{ agent_id: string }>('POST', '/api/v1/agents', { as, body: agent })).body.agent_id
  const step = { task_id: 't', step: 1, step_type: 'START_NODE', timestamp: '2026-01-05T09:00:00Z' }
  await platform.call('POST', '/api/v1/logs', { as, body: step })
  const people = [
    ['auditor', await signedIn(platform, mails, 'auditor@example.org')],
    ['member', await signedIn(platform, mails, 'member@example.org')],
  ] as const
  for (const [role, person] of people) await joinWorkspace(owner, person, owner.org_id, role)
  auditor = await terminalOf(people[0][1], 'auditor')
  member = await terminalOf(people[1][1], 'member')
})
afterAll(async () => {
  await discard(platform)
  await mails.close()
  rmSync(folder, { recursive: true, force: true })
})

describe('svc report', () => {
  it('saves the last 30 days, and prints the commands that verify the file', async () => {
    const { code, stdout, stderr } = await auditor('report', '--format', 'json', '--out', 'acme.json')
    expect([code, stderr]).toEqual([0, expect.any(String)])
    const sha256 = sha256Of(readFileSync(join(folder, 'acme.json')))
    expect(stdout).toMatch(/^acme\.json: Acme, \S+ to \S+, as of \d+ entries of the log\n/)
    expect(stdout).toContain(`its SHA-256 is ${sha256}, which entry`)
    const [, get = '', , verify = ''] = stdout.split('`')
    const [, id = ''] = /bundle --report (rep_[0-9a-f]{32}) --out acme\.zip$/.exec(get) ?? []
    expect(await pasted(get)).toContain('acme.zip: the log of Acme')
    writeFileSync(join(folder, 'trust.policy'), (await auditor('checkpoint')).stdout)
    expect(await pasted(verify)).toContain('acme.zip: valid')
    const again = await auditor('report', '--id', id, '--out', 'again.json')
    expect([again.code, sha256Of(readFileSync(join(folder, 'again.json')))]).toEqual([0, sha256])
    const list = await auditor('reports')
    expect(list.stdout).toContain(`${id}  ready  json  `)
  })

  it('is of the agents and the cut-off that are named, and prints JSON', async () => {
    const { size } = JSON.parse((await auditor('checkpoint', '--json')).stdout) as { size: number }
    const to = new Date(Date.now() - 1000).toISOString()
    const given = ['--agent', agent_id, '--agent', 'a', '--cut-off', String(size), '--from', '2026-01-01', '--to', to]
    const { code, stdout } = await auditor('report', ...given, '--format', 'json', '--json')
    expect(code).toBe(0)
    const { file, report } = JSON.parse(stdout) as { file: string; report: Report }
    expect(report).toMatchObject({ from: '2026-01-01T00:00:00.000Z', agent_ids: [agent_id], cut_off: size })
    expect(file).toBe(`report-2026-01-01--${to.slice(0, 10)}.json`)
    expect(existsSync(join(folder, file))).toBe(true)
  })

  it('counts steps by the times that their senders state, and verifies the file', async () => {
    const period = ['--from', '2026-01-05', '--to', '2026-01-05', '--format', 'json']
    const { code, stdout } = await auditor('report', ...period, '--by', 'occurred')
    const file = 'report-2026-01-05--2026-01-05-occurred.json'
    expect([code, stdout.split('\n', 1)[0]]).toEqual([
      0,
      expect.stringMatching(
        /^\S+-occurred\.json: Acme, \S+ to \S+, by the times that senders state, as of \d+ entries/,
      ),
    ])
    expect(readFileSync(join(folder, file), 'utf8')).toContain('1 of 1 step was received after the period')
    const [, get = '', , verify = ''] = stdout.split('`')
    expect(await pasted(get)).toContain('occurred.zip: the log of Acme')
    writeFileSync(join(folder, 'trust.policy'), (await auditor('checkpoint')).stdout)
    const verdict = await pasted(verify)
    expect(verdict).toContain('occurred.zip: valid')
    expect(verdict).toContain('by the times that senders state; entry')
    expect(verdict).not.toContain('another period')
    expect((await auditor('reports')).stdout).toContain('to 2026-01-06T00:00:00.000Z, by occurred  as of')
    const plain = await auditor('report', ...period, '--json')
    const { file: other, report } = JSON.parse(plain.stdout) as { file: string; report: Report }
    expect([other, report.by]).toEqual(['report-2026-01-05--2026-01-05.json', 'received'])
  })

  it.each(['pdf', 'xml', 'json'])('makes the issued %s again from its bundle, without a login', async (format) => {
    const issued = await auditor('report', '--format', format, '--out', `issued.${format}`)
    const [, get = ''] = issued.stdout.split('`')
    await pasted(get)
    writeFileSync(join(folder, 'trust.policy'), (await auditor('checkpoint')).stdout)
    const { code, stdout, stderr } = await anonymous(...again(`again.${format}`))
    expect([code, stderr, stdout]).toEqual([0, '', expect.stringContaining('this is the issued report, byte for byte')])
    expect(stdout).toMatch(/^again\.\w+: Acme, \S+ to \S+, as of \d+ entries of the log\n/)
    const [own, made] = [`issued.${format}`, `again.${format}`].map((name) => readFileSync(join(folder, name)))
    expect(made?.equals(own ?? Buffer.alloc(0))).toBe(true)
  })

  it('makes it in another format than the issued one, as the platform would', async () => {
    const { code, stdout } = await anonymous(...again('other.xml'), '--json')
    const { report, issued_sha256 } = JSON.parse(stdout) as { report: Report; issued_sha256: null }
    expect([code, report.format, issued_sha256]).toEqual([0, 'xml', null])
    const { from, to } = (report as unknown as { period: { from: string; to: string } }).period
    const cut_off = String((report as unknown as { cut_off: number }).cut_off)
    const period = ['--from', from, '--to', to, '--cut-off', cut_off, '--format', 'xml']
    expect((await auditor('report', ...period, '--out', 'platform.xml')).code).toBe(0)
    expect(readFileSync(join(folder, 'other.xml'), 'utf8')).toBe(readFileSync(join(folder, 'platform.xml'), 'utf8'))
  })

  it('makes no report from a bundle that is not valid, and gives the verdict', async () => {
    const bundle = readFileSync(join(folder, 'issued.zip'))
    bundle[bundle.length >> 1] = (bundle[bundle.length >> 1] ?? 0) ^ 1
    writeFileSync(join(folder, 'altered.zip'), bundle)
    const { code, stdout } = await anonymous(
      'report',
      '--bundle',
      'altered.zip',
      '--trust',
      'trust.policy',
      '--out',
      'x.pdf',
    )
    expect([code, stdout]).toEqual([1, expect.stringContaining('altered.zip: NOT VALID')])
    expect(existsSync(join(folder, 'x.pdf'))).toBe(false)
  })

  it('makes no report from the bundle of a period', async () => {
    expect((await auditor('bundle', '--out', 'period.zip')).code).toBe(0)
    const { code, stderr } = await anonymous('report', '--bundle', 'period.zip', '--trust', 'trust.policy')
    expect([code, stderr]).toEqual([1, expect.stringContaining('the bundle holds a period and not a report')])
  })

  it.each([
    [['--bundle', 'issued.zip'], 'give `--bundle` and `--trust` together'],
    [['--trust', 'trust.policy'], 'give `--bundle` and `--trust` together'],
    [[...again().slice(1), '--from', '2026-01-01'], 'give either `--bundle` or a period'],
    [[...again().slice(1), '--agent', 'a'], 'give either `--bundle` or a period'],
    [[...again('nowhere/r.pdf').slice(1)], 'the folder `nowhere` does not exist'],
    [['--bundle', 'issued.zip', '--trust', 'issued.pdf'], 'issued.pdf:1: '],
  ])('rejects %j', async (args, message) => {
    const { code, stdout, stderr } = await anonymous('report', ...args)
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(message)])
  })

  it.each([
    [['--from', 'yesterday'], 1, '`--from` is `yesterday`: write a day, such as 2026-01-01'],
    [['--from', '2026-02-01', '--to', '2026-01-01'], 1, '`to`: must be later than `from`'],
    [['--from', '2999-01-01', '--to', '2999-01-02'], 1, '`from`: must not be in the future'],
    [['--agent', 'a', '--agent', 'b'], 1, 'has the id or key `b`: it has'],
    [['--by', 'other'], 2, 'Allowed choices are received, occurred'],
    [['--id', `rep_${'0'.repeat(32)}`, '--by', 'occurred'], 2, 'give either `--id` or a period'],
    [['--format', 'docx'], 2, 'Allowed choices are pdf, xml, json'],
    [['--cut-off', 'x'], 2, '`--cut-off` is `x`: write the size of a published checkpoint'],
    [['--id', 'x'], 2, '`--id` is `x`: write the id of a report, which'],
    [['--id', `rep_${'0'.repeat(32)}`], 1, 'no such report'],
    [['--id', `rep_${'0'.repeat(32)}`, '--from', '2026-01-01'], 2, 'give either `--id` or a period'],
    [['--out', 'nowhere/r.json'], 2, '`--out` is `nowhere/r.json`: the folder `nowhere` does not exist'],
  ])('rejects %j', async (args, exit, message) => {
    const { code, stdout, stderr } = await auditor('report', ...args)
    expect([code, stdout, stderr]).toEqual([exit, '', expect.stringContaining(message)])
  })

  it('says that the issued report has other bytes, because a task was erased since', async () => {
    const issued = await auditor('report', '--format', 'json', '--out', 'issued.json')
    const erasure = { task_id: 't', legal_basis: 'Art. 17 GDPR' }
    expect((await owner.call('POST', '/api/v1/erasures', erasure)).status).toBe(201)
    const [, get = ''] = issued.stdout.split('`')
    await vi.waitFor(async () => expect(await pasted(get)).toContain('issued.zip: the log of Acme'), soon)
    const { code, stdout, stderr } = await anonymous(...again('again.json'))
    expect([code, stderr, stdout]).toEqual([1, '', expect.stringContaining('the issued report has other bytes')])
    expect(existsSync(join(folder, 'again.json'))).toBe(true)
  })

  it('is for owners, admins and auditors', async () => {
    const { code, stderr } = await member('report', '--format', 'json')
    expect([code, stderr]).toEqual([1, expect.stringContaining('this needs the role owner, admin or auditor')])
  })
})
