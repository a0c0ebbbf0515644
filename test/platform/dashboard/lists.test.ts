// Lists: filters in the address, pages, empty states, downloads; and the colours and files of every page.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { workspacePages } from '../../../platform/dashboard/pages.js'
import { cellsOf } from '../../support/dashboard/harmless.js'
import { registerAgent } from '../../support/http/actions.js'
import { startTeam, type Team } from '../../support/people/pages.js'

const tasks = 1200
const batch = 400

let team: Team
beforeAll(async () => {
  team = await startTeam()
  await registerAgent(team.platform)
  for (let first = 0; first < tasks; first += batch) {
    const entries = Array.from({ length: batch }, (_, index) => ({
      task_id: `run-${first + index}`,
      step: 1,
      step_type: first + index < 3 ? 'step.exec' : 'step.model',
      timestamp: '2026-01-05T09:00:00Z',
    }))
    const { status } = await team.platform.call('POST', '/api/v1/logs/batch', { as: 'key', body: { entries } })
    expect(status).toBeLessThan(300)
  }
})
afterAll(() => team.close())

const lists = workspacePages.flatMap(({ path, listing }) =>
  typeof listing !== 'object' || path.includes(':') ? [] : [{ path, listing }],
)
const rowsIn = (text: string) => text.match(/<tbody>[\s\S]*?<\/tbody>/)?.[0].match(/<tr>/g)?.length ?? 0
const hrefOf = (text: string, rel: string) =>
  new RegExp(`rel="${rel}" href="([^"]+)"`).exec(text)?.[1]?.replaceAll('&#x3D;', '=').replaceAll('&amp;', '&')

interface Row {
  readonly task_id: string
}

function columnOf(csv: string, name: string): string[] {
  const [head = [], ...rows] = cellsOf(csv)
  return rows.map((row) => row[head.indexOf(name)] ?? '')
}

describe.each(lists)('the list $path', ({ path, listing }) => {
  it('marks the preset that the address is', async () => {
    for (const [label, query] of listing.presets ?? []) {
      const { status, text } = await team.look(`${path}?${new URLSearchParams(query)}`)
      expect([path, label, status]).toEqual([path, label, 200])
      expect(/aria-current="true">(?:<bdi>)?([^<]+)/.exec(text)?.[1]).toBe(label)
    }
  })

  it('keeps the value of each filter in its control, and removes empty ones from the address', async () => {
    for (const one of listing.filters) {
      const filter = one.kind === 'agent' ? ({ kind: 'text', name: 'agent_id' } as const) : one
      const [value] = 'values' in filter ? filter.values.map((one) => (typeof one === 'string' ? one : one[0])) : []
      const wanted = value ?? (filter.kind === 'day' ? '2026-01-05' : '1')
      const { status, text } = await team.look(`${path}?${filter.name}=${wanted}`)
      expect([path, filter.name, status]).toEqual([path, filter.name, 200])
      expect(text).toMatch(new RegExp(`name="${filter.name}"[\\s\\S]*?value="${wanted}"`))
      const tidy = await team.look(`${path}?${filter.name}=&limit=`)
      expect([tidy.status, tidy.location]).toEqual([303, path])
    }
  })

  it('answers a wrong filter as a page with the error, and not as a file', async () => {
    for (const format of ['', '.csv', '.json']) {
      const { status, headers } = await team.look(`${path}${format}?absent=1`)
      const [type, name] = [headers.get('content-type'), headers.get('content-disposition')]
      expect([format, status, type, name]).toEqual([format, 422, 'text/html; charset=utf-8', null])
    }
  })

  it('says in an empty workspace what to do, and names its downloads by the day', async () => {
    const { status, text } = await team.look(path, 'stranger')
    expect(status).toBe(200)
    if (rowsIn(text) === 0) expect(text).toContain('class="empty-state"')
    for (const format of ['csv', 'json']) {
      const { headers } = await team.look(`${path}.${format}`, 'stranger')
      const name = `${path.slice(1).replaceAll('/', '-')}-\\d{4}-\\d\\d-\\d\\d.${format}`
      expect(headers.get('content-disposition')).toMatch(new RegExp(`^attachment; filename="${name}"$`))
    }
  })
})

describe('the list of tasks', () => {
  it('shows 20 tasks on a page, and leads through all pages and back', async () => {
    const first = await team.look('/tasks')
    expect([rowsIn(first.text), hrefOf(first.text, 'prev')]).toEqual([20, undefined])
    const second = await team.look(hrefOf(first.text, 'next') ?? '')
    expect([rowsIn(second.text), hrefOf(second.text, 'prev')]).toEqual([20, '/tasks'])
    const last = await team.look(`/tasks?skip=${tasks - 5}`)
    expect([rowsIn(last.text), hrefOf(last.text, 'next')]).toEqual([5, undefined])
  })

  it('shows a filter without a control as a chip, which a link removes', async () => {
    const { text } = await team.look('/steps?task_id=absent&step_type=step.gate')
    expect(text).toContain('Nothing matches this filter.')
    expect(text).toContain('<bdi>task id: absent</bdi>')
    expect(text).toContain('href="/steps?step_type&#x3D;step.gate" aria-label="Remove the filter task id: absent"')
  })

  it.each(['csv', 'json'])('downloads all 1,200 rows as %s, whole, in order, in parts', async (format) => {
    const { status, headers, text } = await team.look(`/tasks.${format}`)
    expect([status, headers.get('content-length'), headers.get('cache-control')]).toEqual([200, null, 'no-store'])
    const found = format === 'csv' ? columnOf(text, 'task_id') : (JSON.parse(text) as Row[]).map((row) => row.task_id)
    const expected = Array.from({ length: tasks }, (_, index) => `run-${tasks - 1 - index}`)
    expect(found).toEqual(expected)
  })

  it('downloads only the rows that the filter selects', async () => {
    const { text } = await team.look('/tasks.json?violating=true')
    expect((JSON.parse(text) as Row[]).map(({ task_id }) => task_id)).toEqual(['run-2', 'run-1', 'run-0'])
  })
})

describe('the colours of a page', () => {
  it('are those that the person has chosen, on every later page', async () => {
    const answer = await team.press('/theme', { theme: 'dark', return_to: '/tasks?skip=20' })
    expect([answer.status, answer.location]).toEqual([303, '/tasks?skip=20'])
    const cookie = answer.headers.getSetCookie().find((one) => one.startsWith('svc_theme='))
    expect(cookie).toMatch(/^svc_theme=dark; Max-Age=31536000; Path=\/; .*SameSite=Lax/)
    const chosen = { headers: { accept: 'text/html', cookie: `${team.cookies.owner}; svc_theme=dark` } }
    const page = await (await fetch(`${team.platform.url}/tasks`, chosen)).text()
    expect(page).toContain('<html lang="en" data-bs-theme="dark">')
    expect((await team.look('/tasks')).text).toContain('<html lang="en">')
  })

  it.each(['https://evil.example', '//evil.example', 'javascript:alert(1)'])(
    'lead to no other site: %s',
    async (to) => {
      expect((await team.press('/theme', { theme: 'light', return_to: to })).location).toBe('/')
    },
  )
})

describe('the files of a page', () => {
  it('have their hash in their address, are kept by browsers, and are compressed', async () => {
    const found = [...(await team.look('/tasks')).text.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)]
    expect(found.length).toBeGreaterThan(3)
    for (const [, path = ''] of found) {
      expect(path).toMatch(/^\/assets\/[a-z]+\.[0-9a-f]{12}\.(css|js)$/)
      const plain = await fetch(team.platform.url + path, { headers: { 'accept-encoding': 'identity' } })
      expect(plain.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
      const text = await plain.text()
      for (const encoding of ['br', 'gzip']) {
        const packed = await fetch(team.platform.url + path, { headers: { 'accept-encoding': encoding } })
        expect([packed.headers.get('content-encoding'), packed.headers.get('vary')]).toEqual([
          encoding,
          'accept-encoding',
        ])
        expect(await packed.text()).toBe(text)
      }
    }
  })

  it.each(['/assets/', '/assets/page.css', '/assets/page.000000000000.css', '/assets/..%2f..%2fpackage.json'])(
    'are no others: %s',
    async (path) => {
      expect((await team.look(path)).status).toBe(404)
    },
  )
})

describe('the filter of agents', () => {
  const register = async (count: number) => {
    for (let n = 1; n <= count; n += 1) {
      const body = { agent_key: `k${n}`, name: n <= 2 ? 'Twin' : `Agent ${n}`, owner_id: 'o', purpose: 'p' }
      expect((await team.platform.call('POST', '/api/v1/agents', { as: 'key', body })).status).toBeLessThan(300)
    }
  }
  const log = (agent_key: string, task_id: string) =>
    team.platform.call('POST', '/api/v1/logs', {
      as: 'key',
      body: { agent_key, task_id, step: 1, step_type: 'step.model', timestamp: '2026-01-05T09:00:00Z' },
    })

  it('is a select of names, with the key where two are the same, and selects the tasks of one', async () => {
    await register(3)
    await log('k3', 'of-k3')
    const { text } = await team.look('/tasks')
    const options = [...text.matchAll(/<option value="(ag_[^"]+)">([^<]+)<\/option>/g)].map(([, id, name]) => [
      name,
      id,
    ])
    expect(options.map(([name]) => name)).toEqual(expect.arrayContaining(['Agent 3', 'Twin (k1)', 'Twin (k2)']))
    const [, id = ''] = options.find(([name]) => name === 'Agent 3') ?? []
    const found = (await team.look(`/tasks?agent_id=${id}`)).text
    expect([rowsIn(found), found.includes('of-k3'), found.includes(`value="${id}" selected`)]).toEqual([1, true, true])
    expect(found).not.toContain('aria-label="Further filters"')
  })

  it('is a field for the key where the workspace has more agents than one request lists', async () => {
    await register(201)
    const { text } = await team.look('/tasks')
    expect(text).toContain('name="agent_key"')
    expect(text).not.toContain('name="agent_id"')
    const found = (await team.look('/tasks?agent_key=k3')).text
    expect([rowsIn(found), found.includes('of-k3')]).toEqual([1, true])
    expect((await team.look('/tasks?agent_key=absent')).text).toContain('Nothing matches this filter.')
  })
})
