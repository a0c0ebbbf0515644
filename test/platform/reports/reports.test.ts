// Reports over HTTP: requests, states, downloads, lists and deletion.
import { readFileSync } from 'node:fs'
import type { AgentRegistration, ErasureResult, EventList, LogCheckpoint, Problem, Report } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { begun, checkpointOf, fast, logSteps } from '../../support/log/log.js'
import { day, downloadOf, listedReports, reportIn, requestedReport, sha256Of } from '../../support/reports/reports.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'
import { databaseHere } from '../../support/server/postgres.js'

interface Row {
  readonly name: string
  readonly change?: Readonly<Record<string, unknown>>
  readonly text?: string
  readonly path?: string
  readonly detail?: string
  readonly status?: number
}
const rows = parse(readFileSync(new URL('../../cases/report-requests.yaml', import.meta.url), 'utf8')) as Row[]
const { kind, database_url } = await databaseHere()
const march = { from: day(1), to: day(2), format: 'json' } as const

describe(`reports on ${kind}`, () => {
  let now = Date.parse('2026-02-27T08:00:00Z')
  let platform: TestPlatform
  let agent_id: string
  let first: LogCheckpoint
  let middle: LogCheckpoint
  let last: LogCheckpoint
  beforeAll(async () => {
    platform = await startPlatform({ database_url, env: fast, clock: () => now++ })
    const body: AgentRegistration = { agent_key: 'a' }
    agent_id = (await platform.call<{ agent_id: string }>('POST', '/api/v1/agents', { as: 'key', body })).body.agent_id
    const times = ['2026-03-01T09:00:00Z', '2026-03-01T10:00:00Z', '2026-03-03T12:00:00Z']
    for (const [index, time] of times.entries()) {
      now = Date.parse(time)
      await logSteps(platform, `task ${index}`, 3)
      last = await checkpointOf(platform, 3 * (index + 1))
      if (index === 0) first = last
      if (index === 1) middle = last
    }
  })
  afterAll(() => discard(platform))

  it.each(rows.map((row) => [row.name, row] as const))('reject %s', async (_, row) => {
    const values: Readonly<Record<string, unknown>> = {
      AGENT: agent_id,
      THEIRS: `ag_${'0'.repeat(32)}`,
      FIRST: first.size,
      MIDDLE: middle.size,
      LAST: last.size,
      UNPUBLISHED: last.size - 1,
    }
    const filled = (value: unknown): unknown =>
      Array.isArray(value) ? value.map(filled) : (values[String(value)] ?? value)
    const changed = Object.entries({ ...march, ...row.change }).map(([name, value]) => [name, filled(value)])
    const sent = row.text === undefined ? { body: Object.fromEntries(changed) } : { raw: row.text }
    const before = (await listedReports(platform)).total
    const { status, body } = await platform.call<Problem>('POST', '/api/v1/reports', sent)
    expect([status, body.detail]).toEqual([row.status ?? 422, expect.any(String)])
    const text = `${body.detail} ${(body.errors ?? []).map(({ message }) => message).join(' ')}`
    expect(text).toContain((row.detail ?? '').replace(/FIRST|MIDDLE|LAST/g, (name) => String(values[name])))
    if (row.path !== undefined) expect((body.errors ?? []).map(({ path }) => path)).toContain(row.path)
    expect((await listedReports(platform)).total).toBe(before)
  })

  it('are made once for a request, however it is written', async () => {
    const { status, body, headers } = await requestedReport(platform, {
      ...march,
      agent_ids: [agent_id],
      cut_off: last.size,
    })
    expect([status, headers.get('location')]).toEqual([202, `/api/v1/reports/${body.id}`])
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    expect(body).toMatchObject({
      status: 'queued',
      from: day(1),
      to: day(2),
      agent_ids: [agent_id],
      cut_off: last.size,
      root: last.root,
      requested_by: expect.stringMatching(/^operator:/),
    })
    const same = { ...march, agent_ids: [agent_id, agent_id], cut_off: last.size, from: '2026-03-01T02:00:00+02:00' }
    const again = await requestedReport(platform, same)
    expect([again.status, again.body.id]).toEqual([200, body.id])
    const ready = await reportIn(platform, body.id, 'ready')
    expect(ready).toMatchObject({ progress: 1, bytes: expect.any(Number), log_index: expect.any(Number) })
    expect((await requestedReport(platform, same)).body).toEqual(ready)
    const { body: events } = await platform.call<EventList>('GET', `/api/v1/events?subject=${body.id}`)
    expect(events.events.map(({ kind: name }) => name)).toEqual(['report.issued', 'report.requested'])
    expect(events.events[0]?.data).toMatchObject({
      sha256: ready.sha256,
      log_index: ready.log_index,
      cut_off: last.size,
    })
  })

  it.each([
    ['null', null],
    ['an empty list', []],
  ])('are of all agents for %s as agents, and as of the latest checkpoint', async (_, agent_ids) => {
    const { body } = await requestedReport(platform, { ...march, agent_ids, cut_off: null, format: 'xml' })
    expect(body.agent_ids).toBeNull()
    expect(body.cut_off).toBeGreaterThanOrEqual(last.size)
  })

  it('are downloaded with their name, type and digest', async () => {
    const { body } = await requestedReport(platform, { ...march, cut_off: last.size })
    const { sha256, bytes } = await reportIn(platform, body.id, 'ready')
    const response = await downloadOf(platform, body.id)
    const content = new Uint8Array(await response.arrayBuffer())
    expect([response.status, content.length, sha256Of(content)]).toEqual([200, bytes, sha256])
    const { headers } = response
    expect(headers.get('content-type')).toBe('application/json')
    expect(headers.get('content-disposition')).toMatch(
      /^attachment; filename="[a-z0-9-]+-2026-03-01--2026-03-01\.json"$/,
    )
    expect(headers.get('repr-digest')).toBe(`sha-256=:${Buffer.from(sha256 ?? '', 'hex').toString('base64')}:`)
    const known = await downloadOf(platform, body.id, { 'if-none-match': headers.get('etag') ?? '' })
    expect([known.status, await known.text()]).toEqual([304, ''])
  })

  it('are listed by state and format, newest first, in pages', async () => {
    const all = await listedReports(platform)
    expect(all.total).toBe(all.reports.length)
    const json = await listedReports(platform, '?format=json&limit=1')
    expect([json.reports.length, json.reports[0]?.format]).toEqual([1, 'json'])
    const next = await listedReports(platform, `?format=json&limit=1&cursor=${json.next_cursor}`)
    const ids = all.reports.filter(({ format }) => format === 'json').map(({ id }) => id)
    expect([json.reports[0]?.id, next.reports[0]?.id]).toEqual(ids.slice(0, 2))
    expect((await listedReports(platform, '?status=failed')).total).toBe(0)
    for (const query of ['?status=done', '?cursor=!', '?page=2'])
      expect((await platform.call('GET', `/api/v1/reports${query}`)).status).toBe(422)
  })

  it('are deleted with their file, and made again with another leaf', async () => {
    const request = { ...march, cut_off: last.size }
    const { id, sha256, log_index } = await reportIn(
      platform,
      (await requestedReport(platform, request)).body.id,
      'ready',
    )
    expect((await platform.call('DELETE', `/api/v1/reports/${id}`)).status).toBe(204)
    for (const [method, path] of [
      ['GET', id],
      ['GET', `${id}/download`],
      ['DELETE', id],
    ] as const)
      expect((await platform.call(method, `/api/v1/reports/${path}`)).status, `${method} ${path}`).toBe(404)
    const { body: events } = await platform.call<EventList>('GET', '/api/v1/events?kind=report.deleted')
    expect(events.events[0]).toMatchObject({ subject_id: id, data: { sha256, log_index, status: 'ready' } })
    const again = await requestedReport(platform, request)
    expect([again.status, again.body.id]).toEqual([202, id])
    const remade = await reportIn(platform, id, 'ready')
    expect(remade.sha256).toBe(sha256)
    expect(remade.log_index).toBeGreaterThan(log_index ?? 0)
  })

  it('of a period that ends now wait until its entries are signed', async () => {
    now += 1000
    await logSteps(platform, 'unsigned', 1)
    const to = new Date(now).toISOString()
    const { status, body } = await platform.call<Report>('POST', '/api/v1/reports', { body: { ...march, to } })
    expect([status, body.to]).toEqual([202, to])
    expect(body.cut_off).toBeGreaterThan(begun + 9)
  })

  it('of days include the last one', async () => {
    const { body } = await requestedReport(platform, { ...march, from: '2026-03-01', to: '2026-03-01' })
    expect([body.from, body.to]).toEqual([day(1), day(2)])
  })

  it('of a period that ends in the future end now, and say so', async () => {
    const before = new Date(now).toISOString()
    const { body } = await requestedReport(platform, { ...march, from: '2026-03-01', to: '2027-01-01' })
    expect(body.from).toBe('2026-03-01T00:00:00.000Z')
    expect(body.to >= before && body.to < '2026-03-05').toBe(true)
  })

  it('are named by an erasure of entries in their period', async () => {
    const { body } = await requestedReport(platform, { ...march, cut_off: last.size })
    await reportIn(platform, body.id, 'ready')
    const erased = async (task_id: string) => {
      const request = { task_id, legal_basis: 'GDPR Art. 17' }
      return (await platform.call<ErasureResult>('POST', '/api/v1/erasures', { body: request })).body.not_reached.at(-1)
    }
    expect(await erased('task 1')).toMatch(new RegExp(`downloaded files: .*${body.id}`))
    expect(await erased('task 2')).not.toContain(body.id)
  })

  it('wait while many others are unfinished', async () => {
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) => {
        const from = new Date(Date.parse(day(1)) + index + 1).toISOString()
        return platform.call<{ readonly id?: string; readonly detail?: string }>('POST', '/api/v1/reports', {
          body: { ...march, from, cut_off: last.size },
        })
      }),
    )
    for (const { status, body, headers } of answers.filter((answer) => answer.status !== 202)) {
      expect([status, body.detail]).toEqual([429, expect.stringContaining('20 reports of this workspace')])
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    }
    for (const { status, body } of answers)
      if (status === 202) await platform.call('DELETE', `/api/v1/reports/${String(body.id)}`)
  })

  it('of unknown ids are not found', async () => {
    for (const id of ['none', `rep_${'0'.repeat(32)}`, '%00'])
      for (const path of ['', '/download'])
        expect((await platform.call<Report>('GET', `/api/v1/reports/${id}${path}`)).status).toBe(404)
  })
})

describe('a log without a checkpoint', () => {
  it('has no reports yet', async () => {
    const platform = await startPlatform({ env: { ...fast, SVC_CHECKPOINT_SECONDS: '0' } })
    const { status, body } = await platform.call<Problem>('POST', '/api/v1/reports', { body: march })
    expect([status, body.detail]).toEqual([
      503,
      expect.stringContaining('no checkpoint of this log has been published'),
    ])
    await discard(platform)
  })
})
