// The log and its retention as pages: checkpoint, keys for an auditor, evidence, holds, erasures and prunes.
import { parseTrustPolicy } from '@svc/proof'
import type { ErasureList, HoldList, LogCheckpoint, Retention } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { fast, logSteps, register } from '../../support/log/log.js'
import { readable } from '../../support/people/page-reader.js'
import { addressOf, hostile, injectedIn, startTeam, type Team } from '../../support/people/pages.js'
import { soon } from '../../support/server/soon.js'

let team: Team
beforeAll(async () => {
  team = await startTeam(fast)
  await register(team.platform)
  await logSteps(team.platform, 'held', 2)
})
afterAll(() => team.close())

const read = async <T>(path: string) => (await team.platform.call<T>('GET', path)).body
const tab = '/settings/retention'

describe('the tab Log', () => {
  it('shows the signed log, and the trust policy that `svc verify` reads', async () => {
    const text = await vi.waitFor(async () => {
      const page = await team.look('/settings/log', 'member')
      expect(page.text).toContain('signs now')
      return page.text
    }, soon)
    const { key, root, keys } = await read<{ key: string; root: string; keys: { fingerprint: string }[] }>(
      '/api/v1/log/checkpoint',
    )
    expect(text).toContain(`log ${key.replaceAll('=', '&#x3D;')}`)
    expect([text.includes(keys[0]?.fingerprint ?? '-'), root.length]).toEqual([true, 64])
    for (const command of ['svc checkpoint &gt; trust.policy', 'svc verify bundle.zip --trust trust.policy'])
      expect(text).toContain(command)
    expect(text).not.toContain('value="bundle"')
    expect((await team.look('/settings/log', 'auditor')).text).toContain('value="bundle"')
  })

  it('downloads the trust policy, which verifies a bundle of the log', async () => {
    expect((await team.look('/settings/log', 'member')).text).toContain('href="/api/v1/log/trust-policy" download')
    const { status, headers, text } = await team.look('/api/v1/log/trust-policy', 'member')
    const name = 'attachment; filename="trust.policy"'
    expect([status, headers.get('content-disposition')]).toEqual([200, name])
    const { key, keys } = await read<LogCheckpoint>('/api/v1/log/checkpoint')
    const { errors } = parseTrustPolicy(text)
    expect(errors).toEqual([])
    expect(text).toContain(`log ${key}`)
    expect(text).toContain(keys[0]?.fingerprint)
    expect((await team.look('/api/v1/log/trust-policy', 'stranger')).text).not.toContain(key)
  })

  it('leads to the bundle of a period of whole days', async () => {
    const day = new Date().toISOString().slice(0, 10)
    const { status, location } = await team.press('/settings/log', { act: 'bundle', from: day, to: day }, 'auditor')
    const next = new Date(Date.parse(day) + 86_400_000).toISOString()
    expect([status, location]).toEqual([303, `/api/v1/log/bundle?from=${day}T00:00:00Z&to=${next}`])
    await vi.waitFor(async () => {
      const bundle = await team.look(location ?? '', 'auditor')
      expect([bundle.status, bundle.headers.get('content-type')]).toEqual([200, 'application/zip'])
    }, soon)
    const wrong = await team.press('/settings/log', { act: 'bundle', from: '2026-02-02', to: '2026-02-01' })
    expect([wrong.status, wrong.text]).toEqual([422, expect.stringContaining('value="2026-02-02"')])
    const odd = await team.press('/settings/log', { act: 'bundle', from: hostile, to: '' })
    expect([odd.status, injectedIn(odd.text)]).toEqual([422, []])
  })
})

describe('the evidence of a task', () => {
  it('is downloaded by those who may, and stands next to the command that verifies it', async () => {
    const command = `npx --no-install svc verify ${team.org_id}-log.zip --trust trust.policy`
    const text = await vi.waitFor(async () => {
      const page = await team.look('/tasks/held', 'auditor')
      expect(page.text).toContain('Download the evidence')
      expect(page.text).not.toContain('not signed yet')
      return page.text
    }, soon)
    expect(text).toContain(command)
    const href = /href="([^"]+)" download>Download the evidence/.exec(text)?.[1] ?? ''
    const bundle = await team.look(href.replaceAll('&#x3D;', '=').replaceAll('&amp;', '&'), 'auditor')
    const name = `attachment; filename="${team.org_id}-log.zip"`
    expect([bundle.status, bundle.headers.get('content-disposition')]).toEqual([200, name])
    const other = (await team.look('/tasks/held', 'member')).text
    expect([other.includes('/api/v1/log/bundle'), other.includes(command)]).toEqual([false, false])
  })
})

describe('the retention', () => {
  it('is changed after a question that says what is deleted', async () => {
    const shorter = await team.look(`${tab}?confirm=retention&days=200`, 'admin')
    expect(shorter.text).toContain('Keep entries for 200 days instead of 365?')
    expect(shorter.text).toContain('Whole months of entries that are older than 200 days are archived')
    expect((await team.look(`${tab}?confirm=retention&days=400`)).text).toContain('deleted 35 days later than before')
    expect((await team.press(tab, { act: 'retention', days: '200' }, 'admin')).status).toBe(303)
    expect((await read<Retention>('/api/v1/retention')).retention_days).toBe(200)
    const short = await team.press(tab, { act: 'retention', days: '30' })
    expect([short.status, short.text]).toEqual([422, expect.stringContaining('184')])
  })

  it('prunes on demand, after a question', async () => {
    expect((await team.look(`${tab}?confirm=prune`)).text).toContain('more than 200 days ago are archived')
    expect((await team.press(tab, { act: 'prune' })).location).toBe(tab)
    expect((await read<Retention>('/api/v1/retention')).prunes).toEqual([])
  })
})

describe('holds', () => {
  it('are placed, listed and released after a question', async () => {
    const empty = await team.press(tab, { act: 'hold', task_id: 'held', reason: '' })
    expect([empty.status, empty.text]).toEqual([422, expect.stringContaining('name="task_id" value="held"')])
    expect((await team.press(tab, { act: 'hold', task_id: 'held', reason: hostile }, 'admin')).status).toBe(303)
    expect((await team.press(tab, { act: 'hold', task_id: '', reason: 'all of it' })).status).toBe(303)
    const { text } = await team.look(tab, 'auditor')
    expect(text).toContain('2 active holds')
    expect([injectedIn(text), text.includes('Release …'), text]).toEqual([
      [],
      false,
      expect.stringContaining('all entries'),
    ])
    const { holds } = await read<HoldList>('/api/v1/holds?on=true')
    for (const { id, task_id } of holds) {
      const asked = await team.look(`${tab}?confirm=release&hold=${id}`)
      expect([injectedIn(asked.text), asked.text]).toEqual([[], expect.stringContaining('Release the hold on')])
      if (task_id !== 'held') expect((await team.press(tab, { act: 'release', hold: id })).status).toBe(303)
    }
    const all = await team.look('/settings/holds')
    expect([all.status, all.text]).toEqual([200, expect.stringContaining('released')])
    expect((await team.look('/settings/holds?on=true')).text).not.toContain('all of it')
    expect((await team.look('/settings/holds.csv')).text).toContain('all of it')
  })
})

describe('erasures', () => {
  const form = { by: 'task', value: 'erased', legal_basis: 'GDPR Art. 17(1)(b)' }

  it('ask with what they touch, and answer with what they do not reach', async () => {
    await logSteps(team.platform, 'erased', 3)
    const asked = await team.press(tab, { act: 'ask', ...form }, 'admin')
    expect([asked.status, asked.text]).toEqual([200, expect.stringContaining('Erase the task erased?')])
    expect(asked.text).toContain('3 steps')
    expect((await read<ErasureList>('/api/v1/erasures')).total).toBe(0)
    const done = await team.press(tab, { act: 'erase', ...form }, 'admin')
    expect([done.status, done.text]).toEqual([200, expect.stringContaining('backups of the database')])
    const again = await team.press(tab, { act: 'erase', ...form })
    expect([again.status, again.text]).toEqual([409, expect.stringContaining('value="erased"')])
    for (const path of [tab, '/settings/erasures']) {
      const { text } = await team.look(path, 'member')
      for (const shown of ['href="/tasks/erased"', 'GDPR Art. 17(1)(b)']) expect(text).toContain(shown)
      expect(readable(text)).toContain(addressOf('admin'))
    }
  })

  it('name a data subject in no address', async () => {
    const asked = await team.press(tab, { act: 'ask', ...form, by: 'subject', value: 'customer 4711' })
    expect([asked.status, asked.location, asked.text]).toEqual([200, null, expect.stringContaining('customer 4711')])
    const none = await team.press(tab, { act: 'erase', ...form, by: 'subject', value: 'customer 4711' })
    expect([none.status, none.text]).toEqual([404, expect.stringContaining('value="customer 4711"')])
  })

  it.each([
    ['a task on hold', { value: 'held' }, 409],
    ['an unknown task', { value: 'nothing' }, 404],
    ['no id', { value: ' ' }, 422],
    ['no legal basis', { legal_basis: ' ' }, 422],
    ['a hostile id', { value: hostile }, 404],
  ])('are not asked for %s', async (_, change, status) => {
    const answer = await team.press(tab, { act: 'ask', ...form, ...change })
    expect([answer.status, injectedIn(answer.text), answer.text.includes('value="erase"')]).toEqual([status, [], false])
  })
})

describe('members and auditors', () => {
  it.each(['member', 'auditor'] as const)('see the retention as %s, without forms', async (as) => {
    const { status, text } = await team.look(`${tab}?confirm=prune`, as)
    expect([status, text.match(/(?<=name="act" value=")\w+/g)]).toEqual([200, null])
    const acts = [
      { act: 'retention', days: '500' },
      { act: 'prune' },
      { act: 'hold', reason: 'x' },
      { act: 'release', hold: 'hold_x' },
      { act: 'ask', by: 'task', value: 'held', legal_basis: 'x' },
      { act: 'erase', by: 'task', value: 'held', legal_basis: 'x' },
    ]
    for (const fields of acts)
      expect([fields.act, (await team.press(tab, fields, as)).status]).toEqual([fields.act, 403])
  })

  it('of another workspace see none of it', async () => {
    const { text } = await team.look('/settings/holds', 'stranger')
    expect(text).not.toContain('all of it')
    const [hold] = (await read<HoldList>('/api/v1/holds?on=true')).holds
    expect((await team.press(tab, { act: 'release', hold: hold?.id ?? '' }, 'stranger')).status).toBe(404)
  })
})
