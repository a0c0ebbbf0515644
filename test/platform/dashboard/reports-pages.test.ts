// The pages of reports: the list, the form, one report with its file, and its deletion.
import type { Report } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { fast, logSteps, register } from '../../support/log/log.js'
import { addressOf, hostile, injectedIn, startTeam, type Team } from '../../support/people/pages.js'
import { reportIn } from '../../support/reports/reports.js'
import { soon } from '../../support/server/soon.js'

let team: Team
beforeAll(async () => {
  team = await startTeam(fast)
  await register(team.platform)
  await logSteps(team.platform, 'reported', 3)
})
afterAll(() => team.close())

const form = { act: 'make', from: '2026-01-01', to: '2026-01-31', format: 'json', by: 'received' }
/** Makes a report with the form; its id. */
const make = async (fields: Readonly<Record<string, string>> = {}) =>
  vi.waitFor(async () => {
    const { status, location } = await team.press('/reports/new', { ...form, ...fields })
    expect(status).toBe(303)
    return location?.replace('/reports/', '') ?? ''
  }, soon)

describe('the list of reports', () => {
  it('shows a newcomer the way to the first report', async () => {
    const { status, text } = await team.look('/reports', 'stranger')
    expect([status, text]).toEqual([200, expect.stringContaining('No report was made yet.')])
    expect(text).toContain('href="/reports/new"')
  })

  it('shows period, format, digest and author, and is downloaded', async () => {
    const id = await make()
    const { sha256 } = await reportIn(team.platform, id, 'ready')
    const { text } = await team.look('/reports?status=ready&format=json')
    for (const shown of [
      `/reports/${id}"`,
      '2026-01-01 to 2026-01-31',
      'OSCAL (JSON)',
      sha256 ?? '',
      addressOf('owner'),
    ])
      expect(text).toContain(shown)
    const csv = await team.look('/reports.csv?status=ready')
    expect([csv.headers.get('content-type'), csv.text]).toEqual([
      'text/csv; charset=utf-8',
      expect.stringContaining(id),
    ])
    expect((await team.look('/reports?status=lost')).status).toBe(422)
  })

  it('is closed to members, and says who can open it', async () => {
    for (const path of ['/reports', '/reports/new', '/reports/rep_0']) {
      const { status, text } = await team.look(path, 'member')
      expect([path, status, text]).toEqual([path, 403, expect.stringContaining('role in this workspace is member')])
      expect(text).toContain('href="/settings/members"')
    }
    expect((await team.press('/reports/new', form, 'member')).status).toBe(403)
  })
})

describe('the form of a report', () => {
  it('offers periods, formats and agents, and preselects those of its address', async () => {
    const { text } = await team.look('/reports/new?from=2026-01-01&to=2026-03-31&format=xml')
    for (const label of ['Last 30 days', 'Last quarter', 'Last year', 'OSCAL (XML)']) expect(text).toContain(label)
    expect(text).toMatch(/name="from" type="date" value="2026-01-01"/)
    expect(text).toMatch(/value="xml" checked/)
    expect(text).toMatch(/name="agent_ids" value="ag_/)
  })

  it.each([
    ['an end before its beginning', { from: '2026-02-01', to: '2026-01-01' }],
    ['a day that does not exist', { from: '2026-02-31' }],
    ['an unknown format', { format: 'doc' }],
    ['an unknown agent', { agent_ids: hostile }],
    ['a day that is markup', { from: hostile }],
  ])('rejects %s and keeps what was typed', async (_, change) => {
    const sent = { ...form, ...change }
    const { status, text } = await team.press('/reports/new', sent)
    expect([status, text]).toEqual([422, expect.stringContaining('role="alert"')])
    expect(text).toContain(`name="to" type="date" value="${sent.to}"`)
    expect(injectedIn(text)).toEqual([])
  })

  it('reads hostile texts of its address as texts', async () => {
    const { text } = await team.look(`/reports/new?${new URLSearchParams({ from: hostile, agent_ids: hostile })}`)
    expect(injectedIn(text)).toEqual([])
  })
})

describe('the page of a report', () => {
  it('is read again by the browser while the report is made', async () => {
    const ids = []
    for (const to of ['2026-02-10', '2026-02-11', '2026-02-12', '2026-02-13'])
      ids.push(await make({ to, format: 'pdf' }))
    const { text } = await team.look(`/reports/${ids.at(-1)}`)
    expect(text).toMatch(/id="live"[^>]* hx-get="\/reports\/rep_\w+" hx-trigger="every 2s"/)
    expect(text).not.toContain('/download"')
    expect((await team.look('/reports')).text).toContain('hx-trigger="every 3s"')
    for (const id of ids) await reportIn(team.platform, id, 'ready')
  })

  it('gives an auditor the file, the evidence, and the commands that verify both', async () => {
    const id = await make({ to: '2026-03-01' })
    const { sha256 } = await reportIn(team.platform, id, 'ready')
    const { status, text } = await team.look(`/reports/${id}`, 'auditor')
    expect([status, text]).toEqual([200, expect.stringContaining(sha256 ?? '')])
    for (const line of [
      `svc login --url ${team.platform.url}`,
      `svc bundle --report ${id} --out report.zip`,
      'svc verify report.zip --trust trust.policy --report report.json',
    ])
      expect(text).toContain(line)
    const file = await team.look(`/api/v1/reports/${id}/download`, 'auditor')
    expect([file.status, JSON.parse(file.text)]).toEqual([200, expect.anything()])
    const address = await vi.waitFor(async () => {
      const { text: signed } = await team.look(`/reports/${id}`, 'auditor')
      const found = /href="(\/api\/v1\/log\/bundle[^"]+)"/.exec(signed)?.[1] ?? ''
      expect(found).toBe(`/api/v1/log/bundle?report&#x3D;${id}`)
      expect(signed).not.toContain('hx-get')
      return found.replace('&#x3D;', '=')
    }, soon)
    const bundle = await team.look(address, 'auditor')
    expect([bundle.status, bundle.headers.get('content-type')]).toEqual([200, 'application/zip'])
  })

  it('is not found in another workspace, like a report that does not exist', async () => {
    const id = await make()
    for (const [path, as] of [
      [`/reports/${id}`, 'stranger'],
      ['/reports/rep_0', 'owner'],
    ] as const)
      expect((await team.look(path, as)).status).toBe(404)
    expect((await team.press(`/reports/${id}`, { act: 'delete' }, 'stranger')).status).toBe(404)
  })

  it('asks before the report is deleted, and offers it to owners and admins only', async () => {
    const id = await make({ to: '2026-03-02' })
    await reportIn(team.platform, id, 'ready')
    const auditor = await team.look(`/reports/${id}?confirm=delete`, 'auditor')
    expect([auditor.status, /value="delete"|href="[^"]*confirm/.test(auditor.text.split('<main')[1] ?? '')]).toEqual([
      200,
      false,
    ])
    expect((await team.press(`/reports/${id}`, { act: 'delete' }, 'auditor')).status).toBe(403)
    expect((await team.look(`/reports/${id}`)).text).toContain(`href="/reports/${id}?confirm&#x3D;delete"`)
    const asked = await team.look(`/reports/${id}?confirm=delete`, 'admin')
    expect(asked.text).toContain('The entry with its SHA-256 stays in the log')
    const done = await team.press(`/reports/${id}?confirm=delete`, { act: 'delete' }, 'admin')
    expect([done.status, done.location]).toEqual([303, '/reports'])
    expect((await team.platform.call<Report>('GET', `/api/v1/reports/${id}`)).status).toBe(404)
  })
})
