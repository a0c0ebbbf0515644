// Check runs of the fake GitHub: what an App may write, and how it is read.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { call, startWithApp, tokenOf } from './client.js'

let world: Awaited<ReturnType<typeof startWithApp>>
let token: string
let head_sha: string
beforeAll(async () => {
  world = await startWithApp()
  token = await tokenOf(world.github, world.installation)
  head_sha = world.repository.heads.get('main') ?? ''
})
afterAll(() => world.github.close())

const runs = '/repos/acme/agents/check-runs'
const write = (body: object, method = 'POST', path = runs) => call(world.github, token, method, path, body)
const annotation = { path: 'refunds.yaml', start_line: 1, end_line: 1, annotation_level: 'failure', message: 'wrong' }
const output = { title: 'One', summary: 'Two' }
const withAnnotation = (more: object) => ({ output: { ...output, annotations: [{ ...annotation, ...more }] } })

describe('a check run', () => {
  const rejected: readonly [string, object][] = [
    ['without a name', { name: undefined }],
    ['of a commit that does not exist', { head_sha: 'a'.repeat(40) }],
    ['completed without a conclusion', { status: 'completed' }],
    ['with another status', { status: 'done' }],
    ['with another conclusion', { conclusion: 'stale' }],
    ['with a link that is not http', { details_url: 'javascript:alert(1)' }],
    ['without a title', { output: { summary: 'x' } }],
    ['without a summary', { output: { title: 'x' } }],
    ['with a summary that is too long', { output: { ...output, summary: 'x'.repeat(65_536) } }],
    ['with a text of too many bytes', { output: { ...output, text: 'ä'.repeat(40_000) } }],
    ['with 51 annotations', { output: { ...output, annotations: Array(51).fill(annotation) } }],
    ['with an annotation that ends before it starts', withAnnotation({ start_line: 2 })],
    ['with columns over several lines', withAnnotation({ end_line: 2, start_column: 1, end_column: 2 })],
    ['with columns in reverse', withAnnotation({ start_column: 3, end_column: 2 })],
    ['with a line 0', withAnnotation({ start_line: 0 })],
    ['with another level', withAnnotation({ annotation_level: 'error' })],
    ['with a long message', withAnnotation({ message: 'x'.repeat(65_537) })],
    ['with long details', withAnnotation({ raw_details: 'x'.repeat(65_537) })],
    ['with a long title', withAnnotation({ title: 'x'.repeat(256) })],
    ['with four actions', { actions: Array(4).fill({ label: 'a', description: 'b', identifier: 'c' }) }],
  ]

  it.each(rejected)('is rejected %s', async (_, more) => {
    const answer = await write({ name: 'svc / policies', head_sha, ...more })
    expect([answer.status, answer.body.message]).toEqual([422, expect.any(String)])
  })

  it('is accepted at the limits', async () => {
    const long = { ...annotation, start_column: 1, end_column: 1, title: 'x'.repeat(255), message: 'x'.repeat(65_536) }
    const annotations = [long, ...Array(49).fill(annotation)]
    const whole = { title: 'One', summary: 'x'.repeat(65_535), text: 'y'.repeat(65_535), annotations }
    expect((await write({ name: 'limits', head_sha, output: whole })).status).toBe(201)
  })

  it('appends annotations, and is completed by its conclusion', async () => {
    const made = await write({ name: 'append', head_sha, status: 'in_progress', ...withAnnotation({}) })
    expect(made.body).toMatchObject({
      status: 'in_progress',
      conclusion: null,
      check_suite: { id: expect.any(Number) },
    })
    const path = `${runs}/${made.body.id}`
    const changed = await write({ conclusion: 'failure', ...withAnnotation({ message: 'again' }) }, 'PATCH', path)
    expect(changed.body).toMatchObject({ status: 'completed', conclusion: 'failure', output: { annotations_count: 2 } })
    const listed = await call(world.github, token, 'GET', `${path}/annotations?per_page=1&page=2`)
    expect(listed.body).toMatchObject([{ message: 'again', start_column: null }])
    expect(listed.headers.get('link')).toContain('rel="prev"')
  })

  it('is listed by name, the latest of a suite or all', async () => {
    for (const _ of [1, 2]) await write({ name: 'twice', head_sha })
    const path = `/repos/acme/agents/commits/${head_sha}/check-runs?check_name=twice`
    expect((await call(world.github, token, 'GET', path)).body.total_count).toBe(1)
    expect((await call(world.github, token, 'GET', `${path}&filter=all`)).body.total_count).toBe(2)
    expect((await call(world.github, token, 'GET', `${path}&app_id=1`)).body.total_count).toBe(0)
  })

  it('is not written without the permission', async () => {
    const reader = await tokenOf(world.github, world.installation, { permissions: { checks: 'read' } })
    const answer = await call(world.github, reader, 'POST', runs, { name: 'x', head_sha })
    expect([answer.status, answer.headers.get('x-accepted-github-permissions')]).toEqual([403, 'checks=write'])
  })

  it('belongs to its App', async () => {
    const { github, acme } = world
    const other = github.app({ slug: 'other', owner: acme, permissions: { checks: 'write' } })
    const otherToken = await tokenOf(github, github.install(other, acme))
    const made = await write({ name: 'mine', head_sha })
    const answer = await call(github, otherToken, 'PATCH', `${runs}/${made.body.id}`, { status: 'queued' })
    expect(answer.status).toBe(403)
  })
})
