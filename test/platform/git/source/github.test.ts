// GitHub as a source: who may read, what an answer means, and what is bounded.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import {
  type MockAnswer,
  type MockGithub,
  type MockRepository,
  resetsAt,
  startGithub,
} from '../../../support/git/github.js'
import {
  faultOf,
  githubAddress,
  type SourceOptions,
  type TestSources,
  testSources,
} from '../../../support/git/sources.js'

let github: MockGithub
let open: MockRepository
let hidden: MockRepository
const opened: TestSources[] = []
beforeAll(async () => {
  github = await startGithub()
  open = github.add('acme', 'open')
  hidden = github.add('acme', 'hidden', 'private')
  for (const repository of [open, hidden]) repository.commit({ 'a.yaml': 'name: a\n', 'b/c.yaml': 'name: c\n' })
  github.grant('own-token', hidden)
  github.grant('operator-token', hidden)
})
afterEach(() => {
  github.requests.length = 0
  github.remaining = 5000
  github.treeLimit = 100_000
  github.intercept = () => null
})
afterAll(async () => {
  for (const sources of opened) await sources.discard()
  await github.close()
})

function at(options: SourceOptions = {}): TestSources {
  const sources = testSources({ github_api_url: github.url, ...options })
  opened.push(sources)
  return sources
}
const withFallback = () => at({ github_fallback_token: 'operator-token' })
const sent = () => new Set(github.requests.map(({ authorization }) => authorization))

describe('a repository', () => {
  it('that is public is read without a token', async () => {
    const sources = at()
    expect(await sources.inspect(githubAddress('open', { branch: null }))).toEqual({
      visibility: 'public',
      branch: 'main',
    })
    const source = sources.open(githubAddress('open'), 'x')
    expect([...(await source.list((await source.resolve(null)).commit_sha)).keys()]).toEqual(['a.yaml', 'b/c.yaml'])
    expect(sent()).toEqual(new Set([undefined]))
  })

  it('that is private needs a token of the caller', async () => {
    await faultOf(at().inspect(githubAddress('hidden')), 'repository_missing')
    await faultOf(withFallback().inspect(githubAddress('hidden')), 'private')
    await faultOf(withFallback().open(githubAddress('hidden'), 'x').resolve(null), 'private')
    const address = githubAddress('hidden', { token: 'own-token' })
    expect(await at().inspect(address)).toEqual({ visibility: 'private', branch: 'main' })
    const source = withFallback().open(address, 'x')
    github.requests.length = 0
    expect((await source.list((await source.resolve(null)).commit_sha)).size).toBe(2)
    expect(sent()).toEqual(new Set(['Bearer own-token']))
  })

  it.each(['private', 'internal'] as const)('that became %s is not read with the token of the operator', async (to) => {
    const source = withFallback().open(githubAddress('open'), 'x')
    const head = await source.resolve(null)
    const tree = await source.list(head.commit_sha)
    open.visibility = to
    github.grant('operator-token', hidden, open)
    try {
      await faultOf(source.resolve(head), 'private')
      const sha = tree.get('a.yaml')?.blob_sha ?? ''
      for (const used of [source, withFallback().open(githubAddress('open'), 'x')]) {
        await faultOf(used.list(head.commit_sha), 'private')
        await faultOf(used.read([sha]), 'private')
      }
    } finally {
      open.visibility = 'public'
      github.grant('operator-token', hidden)
    }
    expect(await source.resolve(head)).toBe(head)
  })

  it('that is gone, empty, or lacks the branch is told apart', async () => {
    const gone = github.add('acme', 'gone')
    const source = at().open(githubAddress('gone'), 'x')
    await faultOf(source.resolve(null), 'branch_missing')
    gone.commit({ 'a.yaml': '' })
    await source.resolve(null)
    await faultOf(
      at()
        .open(githubAddress('gone', { branch: 'other' }), 'x')
        .resolve(null),
      'branch_missing',
    )
    await faultOf(at().inspect(githubAddress('gone', { branch: 'other' })), 'branch_missing')
    gone.remove()
    await faultOf(source.resolve(null), 'repository_missing')
    await faultOf(at().inspect(githubAddress('gone')), 'repository_missing')
  })

  it('that was renamed is followed', async () => {
    const moved = github.add('acme', 'old-name')
    moved.commit({ 'a.yaml': 'name: a\n' })
    moved.rename('new-name')
    const source = at().open(githubAddress('old-name'), 'x')
    const { commit_sha } = await source.resolve(null)
    const tree = await source.list(commit_sha)
    expect((await source.read([tree.get('a.yaml')?.blob_sha ?? ''])).size).toBe(1)
  })
})

describe('a request', () => {
  it('costs nothing against the rate limit while the head is the same', async () => {
    const source = at().open(githubAddress('hidden', { token: 'own-token' }), 'x')
    const head = await source.resolve(null)
    const before = github.remaining
    for (let times = 0; times < 3; times += 1) expect(await source.resolve(head)).toBe(head)
    expect(github.remaining).toBe(before)
    expect(github.requests.slice(-3).map(({ status }) => status)).toEqual([304, 304, 304])
  })

  it('beyond the rate limit says how long to wait', async () => {
    github.remaining = 0
    const clock = () => (resetsAt - 90) * 1000
    const source = at({ clock }).open(githubAddress('open'), 'x')
    expect((await faultOf(source.resolve(null), 'fetch_failed')).retry_after).toBe(90)
  })

  const token = { token: 'own-token' }
  const answers: readonly [string, MockAnswer, Parameters<typeof githubAddress>[1], string, number | null][] = [
    ['401 to a token', { status: 401 }, token, 'access_revoked', null],
    ['403 to a token', { status: 403 }, token, 'access_revoked', null],
    ['403 without a token', { status: 403 }, {}, 'private', null],
    ['429', { status: 429, headers: { 'retry-after': '7' } }, token, 'fetch_failed', 7],
    ['429 without a time', { status: 429, headers: { 'x-ratelimit-reset': 'x' } }, token, 'fetch_failed', 60],
    ['403 with a time', { status: 403, headers: { 'retry-after': '9' } }, token, 'fetch_failed', 9],
    ['500', { status: 500 }, token, 'fetch_failed', null],
    ['503 with a time', { status: 503, headers: { 'retry-after': '3' } }, token, 'fetch_failed', 3],
    ['another form', { status: 200, body: [] }, token, 'fetch_failed', null],
    ['no SHA', { status: 200, body: { object: { sha: '../x' } } }, token, 'fetch_failed', null],
  ]
  it.each(answers)('that is answered with %s', async (_, answer, address, code, wait) => {
    github.intercept = () => answer
    const error = await faultOf(at().open(githubAddress('open', address), 'x').resolve(null), code)
    expect(error.retry_after).toBe(wait)
    expect(error.message).not.toContain('own-token')
  })

  it('with a token that was revoked', async () => {
    github.grant('short-lived', hidden)
    const source = at().open(githubAddress('hidden', { token: 'short-lived' }), 'x')
    await source.resolve(null)
    github.revoke('short-lived')
    await faultOf(source.resolve(null), 'access_revoked')
    const error = await faultOf(at({ github_fallback_token: 'wrong' }).inspect(githubAddress('open')), 'fetch_failed')
    expect(error.message).toContain('SVC_GITHUB_FALLBACK_TOKEN')
  })

  it('ends when GitHub never answers', async () => {
    github.intercept = () => 'hang'
    const sources = at({ limits: { timeoutMs: 300 } })
    expect((await faultOf(sources.inspect(githubAddress('open')), 'fetch_failed')).message).toContain('within 0.3 s')
  })
})

describe('a redirect', () => {
  let elsewhere: Server
  const reached: (string | undefined)[] = []
  beforeAll(async () => {
    elsewhere = createServer((request, response) => {
      reached.push(request.headers.authorization)
      response.end('{}')
    })
    await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve))
  })
  afterAll(() => elsewhere.close())

  it.each([
    'http://127.0.0.1:PORT/repos/acme/open',
    '//127.0.0.1:PORT/x',
    'http://127.0.0.1:GITHUB@127.0.0.1:PORT/',
    '',
  ])('to %j is not followed', async (target) => {
    const { port } = elsewhere.address() as AddressInfo
    const location = target.replace('GITHUB', new URL(github.url).port).replace('PORT', String(port))
    github.intercept = () => ({ status: 302, headers: { location } })
    const source = at().open(githubAddress('open', { token: 'own-token' }), 'x')
    await expect(source.resolve(null)).rejects.toMatchObject({ code: expect.stringMatching(/rejected|fetch_failed/) })
    expect(reached).toEqual([])
  })

  it('is followed three times at most', async () => {
    github.intercept = (request) => ({ status: 301, headers: { location: `${github.url}${request.url}` } })
    await faultOf(at().open(githubAddress('open'), 'x').resolve(null), 'fetch_failed')
    expect(github.requests.length).toBe(4)
  })
})

describe('a tree', () => {
  const name = 'trees'
  let repository: MockRepository
  beforeAll(() => {
    repository = github.add('acme', name)
  })
  const listed = async (options?: SourceOptions) => {
    const source = at(options).open(githubAddress(name), 'x')
    return source.list((await source.resolve(null)).commit_sha)
  }

  it('that GitHub cuts is walked folder by folder, with the same result', async () => {
    const paths = Array.from({ length: 60 }, (_, index) => `d${index % 3}/e${index % 4}/f${index}.yaml`)
    repository.commit(Object.fromEntries(paths.map((path) => [path, path])))
    const whole = await listed()
    github.treeLimit = 12
    const walked = await listed()
    expect(walked.size).toBe(60)
    expect(new Map([...walked].sort())).toEqual(new Map([...whole].sort()))
    github.treeLimit = 4
    await faultOf(listed(), 'too_large')
  })

  it('shows links and submodules as what they are', async () => {
    const commit = 'c'.repeat(40)
    repository.commit({
      'a.yaml': 'name: a\n',
      link: { mode: '120000', content: '/etc/passwd' },
      sub: { mode: '160000', content: commit },
    })
    const tree = await listed()
    expect(tree.get('link')).toMatchObject({ mode: '120000', size: 11 })
    expect(tree.get('sub')).toEqual({ path: 'sub', mode: '160000', blob_sha: commit, size: null })
  })

  it.each(['../x', 'a/../x', '.git/config', 'a/.GIT/x', './x', 'a//x'])(
    'with the path %j is rejected',
    async (path) => {
      repository.commit({ 'a.yaml': '', [path]: 'name: x\n' })
      await faultOf(listed(), 'rejected')
    },
  )

  it('with more entries than the limit is too large', async () => {
    const files = Object.fromEntries(Array.from({ length: 100_001 }, (_, index) => [`f${index}.yaml`, '']))
    repository.commit(files)
    github.treeLimit = 200_000
    await faultOf(listed(), 'too_large')
    repository.commit({ 'a/b/c/d.yaml': '' })
    await faultOf(listed({ limits: { maxEntries: 3 } }), 'too_large')
  })

  it('that GitHub does not list as documented is not taken for an empty one', async () => {
    repository.commit({ 'a.yaml': '' })
    for (const body of [{}, { tree: [] }, { tree: [{}], truncated: false }, { tree: null, truncated: false }, []]) {
      github.intercept = (request) => (request.url?.includes('/git/trees/') ? { status: 200, body } : null)
      await faultOf(listed(), 'fetch_failed')
    }
  })
})

describe('a blob', () => {
  const sha = 'a'.repeat(40)
  const read = (answer: MockAnswer) => {
    github.intercept = (request) => (request.url?.includes('/git/blobs/') ? answer : null)
    return at().open(githubAddress('open'), 'x').read([sha])
  }

  it('is checked against its SHA', async () => {
    const content = Buffer.from('name: forged\n').toString('base64')
    await faultOf(read({ status: 200, body: { content, encoding: 'base64' } }), 'fetch_failed')
    await faultOf(read({ status: 200, body: { content: 'name: x', encoding: 'utf-8' } }), 'fetch_failed')
    await faultOf(read({ status: 404 }), 'fetch_failed')
  })

  it('is bounded in size', async () => {
    const content = Buffer.alloc(3 * 1024 * 1024).toString('base64')
    await faultOf(read({ status: 200, body: { content, encoding: 'base64' } }), 'too_large')
  })
})
