// The pages of the fake GitHub: each address of the demonstration has one, and a text in it stays a text.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { taskRows } from '../demo/rows.js'
import { type FakeGithub, startFakeGithub } from '../github/fake-github.js'
import type { CheckRun, Pull } from '../github/world.js'

let github: FakeGithub
let pull: Pull
let run: CheckRun

const summary = `✅ **Done** <img src=x> <br> ok

### First steps that change

**Support desk** \`support-desk\`

| Task | Step | Before → after | Policy, and why |
| --- | --- | --- | --- |
| \`t-1\` | 7: step.resource POST pay\\_refund | allowed → **blocked** | **Refunds**: \`input.amount\` is out of range<br>[\`a.yaml:2\`](https://example.org/a.yaml#L2) |`

beforeAll(async () => {
  github = await startFakeGithub()
  const owner = github.account('acme', 'Organization')
  const repository = github.repository(owner, 'policies', { files: { 'a.yaml': 'one\n<two>\n' } })
  pull = github.openPull(repository, { branch: 'b', files: { 'a.yaml': 'three\n' }, author: github.account('mia') })
  github.account('lena')
  const app = github.app({ slug: 'svc', owner })
  const suite = { id: 1, app, repository, head_sha: pull.head_sha, head_branch: 'b', created_at: '' }
  const shown = { name: 'svc / policies', status: 'completed', conclusion: 'success', title: 'Stricter', summary }
  const left_out = { external_id: '', details_url: '', started_at: null, completed_at: null, text: null, actions: [] }
  run = { id: 7, suite, annotations: [], ...shown, ...left_out }
  github.world.runs.push(run)
})

afterAll(() => github.close())

const pageAt = async (path: string, method = 'GET') => {
  const response = await fetch(github.url + path, { method, redirect: 'manual' })
  return { status: response.status, html: await response.text(), location: response.headers.get('location') }
}

describe('a page of the fake GitHub', () => {
  it.each([
    ['/', 'acme/policies'],
    ['/acme/policies', 'Pull requests'],
    ['/acme/policies/pull/1', 'Approve as lena'],
    ['/acme/policies/runs/7', '<h3>First steps that change</h3>'],
  ])('is at %s', async (path, text) => {
    expect(await pageAt(path)).toMatchObject({ status: 200, html: expect.stringContaining(text) })
  })

  it('shows a file with its lines, and no markup of a text', async () => {
    const { html } = await pageAt(`/acme/policies/blob/${pull.base_sha}/a.yaml`)
    expect(html).toContain('<span id="L2"><a href="#L2">2</a>&#60;two&#62;</span>')
    const page = await pageAt('/acme/policies/runs/7')
    expect(page.html).not.toContain('<img')
    expect(page.html).toContain('&lt;img src=x&gt; <br>')
  })

  it.each(['/acme', '/acme/policies/pull/9', '/acme/policies/runs/8', '/acme/policies/blob/main/a.yaml', '/%zz'])(
    'is missing at %s',
    async (path) => expect((await pageAt(path)).status).toBe(404),
  )

  it('approves and merges by its buttons, and only once', async () => {
    const back = { status: 303, location: '/acme/policies/pull/1' }
    expect((await pageAt('/acme/policies/pull/1/approve/mia', 'POST')).status).toBe(404)
    expect(await pageAt('/acme/policies/pull/1/approve/lena', 'POST')).toMatchObject(back)
    expect(await pageAt('/acme/policies/pull/1/merge', 'POST')).toMatchObject(back)
    expect((await pageAt('/acme/policies/pull/1/merge', 'POST')).status).toBe(404)
    expect((await pageAt('/acme/policies/pull/1')).html).toContain('lena: approved')
  })
})

describe('the recorded tasks of a check run', () => {
  it('are read from its tables', () => {
    expect(taskRows(summary)).toEqual([
      {
        agent: 'support-desk',
        task: '`t-1`',
        step: '7: step.resource POST pay_refund',
        outcome: 'allowed → blocked',
        why: 'Refunds: `input.amount` is out of range',
      },
    ])
  })
})
