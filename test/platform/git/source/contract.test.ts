// The contract of a source, checked on every implementation with the same content: nothing above them can tell them apart.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { blobSha } from '@svc/engine/parts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bundledSource } from '../../../../platform/git/source/bundled.js'
import type { GitSource } from '../../../../platform/git/source/source.js'
import { type FakeGithub, startFakeGithub } from '../../../github/fake-github.js'
import { bareRepository, type GitHost, type RealRepository, startGitHost } from '../../../support/git/git-host.js'
import { type MockGithub, type MockRepository, startGithub } from '../../../support/git/github.js'
import { faultOf, gitAddress, githubAddress, type TestSources, testSources } from '../../../support/git/sources.js'

const files = {
  'security/pii.yaml': 'name: PII\nversion: "1"\npolicies: []\n',
  'security.yaml': 'name: beside the folder\n',
  'security-more/a b.yaml': 'name: sorted between\n',
  'größe/ünïcode.yaml': 'name: „ü“\n',
  'empty.yaml': '',
}
const changed = { ...files, 'empty.yaml': 'name: not any more\n' }

let github: MockGithub
let host: GitHost
let sources: TestSources
let mock: MockRepository
let real: RealRepository
let fake: FakeGithub
let fakeSources: TestSources
let faked: ReturnType<FakeGithub['repository']>
beforeAll(async () => {
  github = await startGithub()
  host = await startGitHost()
  sources = testSources({ github_api_url: github.url, git_file_roots: [host.folder] })
  mock = github.add('acme', 'policies')
  real = host.add('policies.git')
  mock.commit(files)
  real.commit(files)
  fake = await startFakeGithub()
  fakeSources = testSources({ github_api_url: fake.url })
  faked = fake.repository(fake.account('acme'), 'policies', { visibility: 'public', files })
})
afterAll(async () => {
  await sources.discard()
  await fakeSources.discard()
  await fake.close()
  await github.close()
  host.close()
})

const removed = Object.fromEntries(Object.keys(files).map((path) => [path, null]))

interface Implementation {
  readonly name: string
  readonly open: (branch: string) => GitSource
  /** Changes the repository; null where it cannot change. */
  readonly change: (() => unknown) | null
}

const implementations: readonly Implementation[] = [
  {
    name: 'the bundled library',
    open: (branch) =>
      bundledSource(
        Object.entries(files).map(([path, text]) => ({ path, blob_sha: blobSha(Buffer.from(text)), text })),
        branch,
      ),
    change: null,
  },
  {
    name: 'GitHub',
    open: (branch) => sources.open(githubAddress('policies', { branch }), 'github'),
    change: () => mock.commit(changed),
  },
  {
    name: 'GitHub with real objects',
    open: (branch) => fakeSources.open(githubAddress('policies', { branch }), 'github'),
    change: () => fake.push(faked, { files: { ...removed, ...changed } }),
  },
  {
    name: 'a Git host',
    open: (branch) => sources.open(gitAddress(`${host.url}/policies.git`, { branch }), 'org_1/1'),
    change: () => real.commit(changed),
  },
  {
    name: 'a Git folder',
    open: (branch) => sources.open(gitAddress(`file://${join(host.folder, 'folder.git')}`, { branch }), 'org_1/2'),
    change: () => bareRepositoryIn('folder.git').commit(changed),
  },
]

const bareRepositoryIn = (name: string) => bareRepository(join(host.folder, name))

describe.each(implementations)('$name', ({ name, open, change }) => {
  beforeAll(() => {
    if (name === 'a Git folder') bareRepositoryIn('folder.git').commit(files)
  })

  it('lists and reads the same content under the same SHAs', async () => {
    const source = open('main')
    const head = await source.resolve(null)
    const tree = await source.list(head.commit_sha)
    const expected = Object.entries(files).map(([path, text]) => {
      const bytes = Buffer.from(text)
      return { path, blob_sha: blobSha(bytes), mode: '100644', size: bytes.length }
    })
    const byPath = (a: { path: string }, b: { path: string }) => (a.path < b.path ? -1 : 1)
    expect([...tree.values()].sort(byPath)).toEqual(expected.sort(byPath))
    expect([...tree.keys()]).toEqual([...tree.values()].map(({ path }) => path))
    const shas = expected.map(({ blob_sha }) => blob_sha)
    const blobs = await source.read([...shas, ...shas])
    expect(new Set(blobs.keys())).toEqual(new Set(shas))
    for (const [path, text] of Object.entries(files))
      expect(Buffer.from(blobs.get(tree.get(path)?.blob_sha ?? '') ?? []).toString()).toBe(text)
    expect(await source.read([])).toEqual(new Map())
  })

  it('returns the known head itself while nothing changed, and another one after a commit', async () => {
    const source = open('main')
    const first = await source.resolve(null)
    expect(await source.resolve(first)).toBe(first)
    expect(await open('main').resolve(first)).toBe(first)
    if (change === null) return
    change()
    const second = await source.resolve(first)
    expect(second.commit_sha).not.toBe(first.commit_sha)
    const [before, after] = [await source.list(first.commit_sha), await source.list(second.commit_sha)]
    const differing = [...after.keys()].filter((path) => after.get(path)?.blob_sha !== before.get(path)?.blob_sha)
    expect(differing).toEqual(['empty.yaml'])
    const sha = after.get('empty.yaml')?.blob_sha ?? ''
    expect(Buffer.from((await source.read([sha])).get(sha) ?? []).toString()).toBe(changed['empty.yaml'])
  })

  it('reports a branch that does not exist', async () => {
    await faultOf(open('gone').resolve(null), 'branch_missing')
  })

  it('rejects an invalid or unknown SHA', async () => {
    const source = open('main')
    for (const sha of ['', 'HEAD', '--all', `${'a'.repeat(39)}\n`, '../x', 'A'.repeat(40)]) {
      await faultOf(source.list(sha), name === 'the bundled library' ? 'fetch_failed' : 'rejected')
      await expect(source.read([sha])).rejects.toMatchObject({ code: expect.stringMatching(/rejected|fetch_failed/) })
    }
    await faultOf(source.list('0'.repeat(40)), 'fetch_failed')
  })
})

describe('the bundled library', () => {
  it('is opened by its provider, and its commit is the SHA that Git gives its tree', async () => {
    const address = {
      provider: 'bundled',
      owner: 'svc',
      name: 'library',
      branch: null,
      url: null,
      token: null,
    } as const
    expect(await sources.inspect(address)).toEqual({ visibility: 'public', branch: 'main' })
    const source = sources.open({ ...address, branch: 'main' }, 'library')
    const { commit_sha } = await source.resolve(null)
    const tree = await source.list(commit_sha)
    expect(tree.has('security/agentic-baseline.yaml')).toBe(true)
    const repository = bareRepository(join(host.folder, 'library.git'))
    const blobs = await source.read([...tree.values()].map(({ blob_sha }) => blob_sha))
    repository.commit(
      Object.fromEntries(
        [...tree].map(([path, { blob_sha }]) => [path, Buffer.from(blobs.get(blob_sha) ?? []).toString()]),
      ),
    )
    expect(repository.git('rev-parse', 'main^{tree}')).toBe(commit_sha)
  })
})

describe('a local copy', () => {
  it('that was lost, damaged or emptied is fetched again', async () => {
    const source = sources.open(gitAddress(`${host.url}/policies.git`), 'org_2/1')
    const { commit_sha } = await source.resolve(null)
    const tree = await source.list(commit_sha)
    const sha = tree.get('empty.yaml')?.blob_sha ?? ''
    const copy = join(sources.folder, 'org_2/1', commit_sha)
    for (const part of ['.', 'objects', 'HEAD', 'objects/pack']) {
      rmSync(join(copy, part), { recursive: true })
      expect((await source.read([sha])).size).toBe(1)
      rmSync(join(copy, part), { recursive: true })
      expect(await source.list(commit_sha)).toEqual(tree)
    }
    await sources.forget('org_2/1')
    expect(await source.list(commit_sha)).toEqual(tree)
  })

  it('serves concurrent calls, of one process and of two', async () => {
    const other = testSources({ data_dir: join(sources.folder, '..') })
    const address = gitAddress(`${host.url}/policies.git`)
    const { commit_sha } = await sources.open(address, 'org_3/1').resolve(null)
    const calls = [sources, other, sources, other, sources, other].map(async (one) => {
      const source = one.open(address, 'org_3/1')
      const tree = await source.list(commit_sha)
      return source.read([...tree.values()].map(({ blob_sha }) => blob_sha))
    })
    const results = await Promise.all(calls)
    expect(new Set(results.map(({ size }) => size))).toEqual(new Set([5]))
    await other.close()
  })
})
