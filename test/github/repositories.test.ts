// Repositories and pull requests of the fake GitHub, read from real Git objects.
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { soon } from '../support/server/soon.js'
import { call, startWithApp, tokenOf } from './client.js'
import { secondaryLimit, serverError } from './fake-github.js'

const run = promisify(execFile)
let world: Awaited<ReturnType<typeof startWithApp>>
let token: string
beforeAll(async () => {
  world = await startWithApp()
  token = await tokenOf(world.github, world.installation)
})
afterAll(() => world.github.close())

const get = (path: string, headers = {}) => call(world.github, token, 'GET', path, undefined, headers)

describe('Git objects', () => {
  it('are those of the bare repository', async () => {
    const { repository } = world
    const { sha } = (await get('/repos/acme/agents/git/ref/heads/main')).body.object
    expect(sha).toBe(repository.bare.git('rev-parse', 'main'))
    const commit = (await get(`/repos/acme/agents/git/commits/${sha}`)).body
    expect(commit).toMatchObject({ message: 'Start', parents: [], author: { name: 'acme' } })
    const listing = (await get(`/repos/acme/agents/git/trees/${commit.tree.sha}?recursive=1`)).body
    expect(listing).toMatchObject({ truncated: false, tree: [{ path: 'refunds.yaml', mode: '100644', type: 'blob' }] })
    const blob = (await get(`/repos/acme/agents/git/blobs/${listing.tree[0].sha}`)).body
    expect(Buffer.from(blob.content, 'base64').toString()).toBe('name: Refunds\nversion: "1"\n')
    expect((await get(`/repos/acme/agents/git/blobs/${sha}`)).status).toBe(404)
    expect((await get('/repos/acme/agents/contents/refunds.yaml')).status).toBe(404)
  })

  it('cost nothing when they did not change', async () => {
    const first = await get('/repos/acme/agents')
    const { status, headers } = await get('/repos/acme/agents', { 'if-none-match': first.headers.get('etag') ?? '' })
    expect([status, headers.get('x-ratelimit-used')]).toEqual([304, first.headers.get('x-ratelimit-used')])
  })

  it('keep odd paths and modes', async () => {
    const { github, acme, installation } = world
    const files = { 'a "b"/ü\n.yaml': 'x', link: { mode: '120000', content: 'a' }, empty: '' }
    const odd = github.repository(acme, 'odd', { files })
    github.addRepositories(installation, [odd])
    const { tree } = (await get('/repos/acme/odd/git/trees/main?recursive=1')).body
    expect(tree.map(({ path, mode }: { path: string; mode: string }) => [path, mode])).toEqual([
      ['a "b"', '040000'],
      ['a "b"/ü\n.yaml', '100644'],
      ['empty', '100644'],
      ['link', '120000'],
    ])
  })
})

describe('a pull request', () => {
  it('is read with its files, commits and reviews', async () => {
    const { github, repository, ann } = world
    const files = { 'refunds.yaml': 'name: Refunds\nversion: "2"\n', 'new.yaml': 'a\n' }
    const pull = github.openPull(repository, { branch: 'second', files, author: ann, title: 'Second' })
    github.review(pull, { by: github.account('bob'), state: 'approved' })
    const path = `/repos/acme/agents/pulls/${pull.number}`
    expect((await get(path)).body).toMatchObject({
      number: pull.number,
      user: { login: 'ann', type: 'User' },
      mergeable: true,
      merged: false,
      head: { ref: 'second', sha: pull.head_sha, repo: { full_name: 'acme/agents' } },
      base: { ref: 'main', sha: repository.heads.get('main') },
      changed_files: 2,
    })
    expect((await get(`${path}/files?per_page=1&page=2`)).body).toMatchObject([
      {
        filename: 'refunds.yaml',
        status: 'modified',
        additions: 1,
        deletions: 1,
        patch: expect.stringMatching(/^@@ /),
      },
    ])
    expect((await get(`${path}/commits`)).body).toMatchObject([{ sha: pull.head_sha, author: { login: 'ann' } }])
    expect((await get(`${path}/reviews`)).body).toMatchObject([{ state: 'APPROVED', commit_id: pull.head_sha }])
    expect(() => github.review(pull, { by: ann, state: 'approved' })).toThrow('own')
  })

  it('is compared by its merge base', async () => {
    const { github, repository, ann } = world
    const start = repository.heads.get('main')
    const pull = github.openPull(repository, { branch: 'apart', files: { 'x.yaml': 'x' }, author: ann })
    const base = github.push(repository, { files: { 'y.yaml': 'y' } })
    const { body } = await get(`/repos/acme/agents/compare/${base}...${pull.head_sha}`)
    expect(body).toMatchObject({ status: 'diverged', ahead_by: 1, behind_by: 1, merge_base_commit: { sha: start } })
    expect(body.files).toMatchObject([{ filename: 'x.yaml', status: 'added' }])
    expect((await get('/repos/acme/agents/compare/main...apart')).body.total_commits).toBe(1)
  })

  it('is merged with a merge commit', async () => {
    const { github, repository, ann } = world
    const pull = github.openPull(repository, { branch: 'merged', files: { 'm.yaml': 'm' }, author: ann })
    const sha = github.merge(pull)
    expect((await get('/repos/acme/agents/git/ref/heads/main')).body.object.sha).toBe(sha)
    const { body } = await get(`/repos/acme/agents/pulls/${pull.number}`)
    expect(body).toMatchObject({ merged: true, state: 'closed', merge_commit_sha: sha, changed_files: 1 })
  })

  it('of a fork is readable by its head, in the base repository', async () => {
    const { github, repository } = world
    const fork = github.fork(repository, github.account('eve'))
    const pull = github.openPull(repository, { from: fork, branch: 'fork', files: { 'f.yaml': 'f' } })
    expect((await get(`/repos/acme/agents/git/commits/${pull.head_sha}`)).status).toBe(200)
    expect((await get('/repos/eve/agents/git/ref/heads/fork')).status).toBe(404)
    const body = { name: 'x', head_sha: pull.head_sha }
    const made = await call(github, token, 'POST', '/repos/acme/agents/check-runs', body)
    expect([made.status, made.body.pull_requests]).toEqual([201, []])
    github.remove(fork)
    expect((await get(`/repos/acme/agents/pulls/${pull.number}`)).body.head).toMatchObject({ repo: null })
  })

  it('is not mergeable with a conflict', async () => {
    const { github, repository, ann } = world
    const pull = github.openPull(repository, { branch: 'conflict', files: { 'c.yaml': 'a' }, author: ann })
    github.push(repository, { files: { 'c.yaml': 'b' } })
    const { body } = await get(`/repos/acme/agents/pulls/${pull.number}`)
    expect([body.mergeable, body.mergeable_state]).toEqual([false, 'dirty'])
    expect(() => github.merge(pull)).toThrow('not mergeable')
  })
})

describe('a repository', () => {
  it('redirects from its former name', async () => {
    const { github, acme, installation } = world
    const moving = github.repository(acme, 'before', { files: { a: 'a' } })
    github.addRepositories(installation, [moving])
    github.rename(moving, 'after')
    const options = { redirect: 'manual', headers: { authorization: `Bearer ${token}` } } as const
    const answer = await fetch(`${github.url}/repos/acme/before/git/ref/heads/main`, options)
    const location = `${github.url}/repositories/${moving.id}/git/ref/heads/main`
    expect([answer.status, answer.headers.get('location')]).toEqual([301, location])
    expect((await get(location)).status).toBe(200)
  })

  it('receives a real push', async () => {
    const { github } = world
    const folder = mkdtempSync(join(tmpdir(), 'svc-push-'))
    const git = (...args: string[]) => run('git', ['-C', folder, ...args])
    const address = (user: string) => `${github.url.replace('//', `//${user}@`)}/acme/agents.git`
    await run('git', ['clone', '--quiet', address(`x-access-token:${token}`), folder])
    writeFileSync(join(folder, 'pushed.yaml'), 'a')
    await git('add', '.')
    await git('-c', 'user.name=ann', '-c', 'user.email=ann@example.org', 'commit', '--quiet', '-m', 'By hand')
    await expect(git('push', '--quiet', 'origin', 'HEAD:refs/heads/by-hand')).rejects.toThrow()
    await git('push', '--quiet', address('ann:any'), 'HEAD:refs/heads/by-hand')
    await expect.poll(() => world.repository.heads.has('by-hand'), soon).toBe(true)
    const { sha } = (await get('/repos/acme/agents/git/ref/heads/by-hand')).body.object
    expect(sha).toBe((await git('rev-parse', 'HEAD')).stdout.trim())
    rmSync(folder, { recursive: true })
  })

  it('without a commit is empty', async () => {
    const { github, acme, installation } = world
    github.addRepositories(installation, [github.repository(acme, 'empty')])
    expect((await get('/repos/acme/empty/git/ref/heads/main')).status).toBe(409)
  })
})

describe('faults on demand', () => {
  it('answer in another way', async () => {
    const { github } = world
    const path = '/repos/acme/agents'
    github.faults.answer = () => secondaryLimit(60, 429)
    const limited = await get(path)
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '60'])
    github.faults.answer = () => serverError(503)
    expect((await get(path)).status).toBe(503)
    github.faults.answer = () => ({ kind: 'cut' })
    await expect(get(path)).rejects.toThrow()
    github.faults.answer = () => ({ kind: 'slow', ms: 1 })
    expect((await get(path)).body.full_name).toBe('acme/agents')
    github.faults.answer = () => ({ kind: 'hang' })
    const given = { signal: AbortSignal.timeout(50), headers: { authorization: `Bearer ${token}` } }
    await expect(fetch(`${github.url}${path}`, given)).rejects.toThrow()
    github.faults.answer = () => null
  })

  it('truncate trees', async () => {
    world.github.faults.tree_limit = 1
    const { body } = await get('/repos/acme/agents/git/trees/main?recursive=1')
    expect([body.tree.length, body.truncated]).toEqual([1, true])
  })

  it('end the primary limit and revoke tokens between two calls', async () => {
    const { github } = world
    github.faults.rate_limit = 1
    const limited = await get('/repos/acme/agents')
    expect([limited.status, limited.headers.get('x-ratelimit-remaining')]).toEqual([403, '0'])
    github.faults.rate_limit = 5000
    github.faults.answer = () => {
      github.revokeTokens()
      return null
    }
    expect((await get('/repos/acme/agents')).status).toBe(401)
  })
})
