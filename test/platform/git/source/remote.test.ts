// A Git host as a source: who may read, what its answers mean, and where a token goes.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createTargets } from '../../../../platform/outgoing/targets.js'
import { bareRepository, type GitHost, packet, startGitHost } from '../../../support/git/git-host.js'
import { faultOf, gitAddress, type SourceOptions, type TestSources, testSources } from '../../../support/git/sources.js'

const token = 'glpat-very-secret'
let host: GitHost
let folder: string
const opened: TestSources[] = []
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'svc-remote-'))
  host = await startGitHost()
  host.add('open.git').commit({ 'a.yaml': 'name: a\n' })
  host.add('hidden.git').commit({ 'a.yaml': 'name: hidden\n' })
  host.passwords.set('hidden.git', token)
})
afterEach(() => {
  host.requests.length = 0
  host.intercept = () => false
})
afterAll(async () => {
  for (const sources of opened) await sources.discard()
  host.close()
  rmSync(folder, { recursive: true })
})

function at(options: SourceOptions = {}): TestSources {
  const sources = testSources(options)
  opened.push(sources)
  return sources
}
const address = (name: string, more: Parameters<typeof gitAddress>[1] = {}) => gitAddress(`${host.url}/${name}`, more)
const listed = async (sources: TestSources, name: string, more?: Parameters<typeof gitAddress>[1]) => {
  const source = sources.open(address(name, more), 'x')
  return source.list((await source.resolve(null)).commit_sha)
}

describe('a repository', () => {
  it('that anonymous callers can read is public, with or without a token', async () => {
    for (const more of [{}, { token: 'any' }, { branch: null }])
      expect(await at().inspect(address('open.git', more))).toEqual({ visibility: 'public', branch: 'main' })
    expect(new Set(host.requests.map(({ authorization }) => authorization))).toEqual(new Set([undefined]))
  })

  it('that asks for a password is private', async () => {
    await faultOf(at().inspect(address('hidden.git')), 'private')
    await faultOf(listed(at(), 'hidden.git'), 'private')
    await faultOf(at().inspect(address('hidden.git', { token: 'wrong' })), 'access_revoked')
    await faultOf(listed(at(), 'hidden.git', { token: 'wrong' }), 'access_revoked')
    for (const sent of [token, `someone:${token}`]) {
      expect(await at().inspect(address('hidden.git', { token: sent }))).toEqual({
        visibility: 'private',
        branch: 'main',
      })
      expect([...(await listed(at(), 'hidden.git', { token: sent })).keys()]).toEqual(['a.yaml'])
    }
  })

  it('that is missing or empty, or lacks the branch, is told apart', async () => {
    await faultOf(at().inspect(address('missing.git')), 'repository_missing')
    await faultOf(listed(at(), 'missing.git'), 'repository_missing')
    host.add('empty.git')
    await faultOf(at().inspect(address('empty.git', { branch: null })), 'branch_missing')
    await faultOf(listed(at(), 'empty.git'), 'branch_missing')
    await faultOf(at().inspect(address('open.git', { branch: 'other' })), 'branch_missing')
  })

  it('has the default branch that its HEAD names', async () => {
    const other = host.add('trunk.git')
    other.commit({ 'a.yaml': '' }, 'release/2')
    other.git('symbolic-ref', 'HEAD', 'refs/heads/release/2')
    expect(await at().inspect(address('trunk.git', { branch: null }))).toMatchObject({ branch: 'release/2' })
    expect((await listed(at(), 'trunk.git', { branch: 'release/2' })).size).toBe(1)
  })

  it('with a default branch that Git does not allow is rejected', async () => {
    const refs = `001e# service=git-upload-pack\n0000${packet(`${'a'.repeat(40)} HEAD\0symref=HEAD:refs/heads/--x\n`)}0000`
    host.intercept = (_, response) => {
      response.writeHead(200, { 'content-type': 'application/x-git-upload-pack-advertisement' }).end(refs)
      return true
    }
    await faultOf(at().inspect(address('open.git', { branch: null })), 'rejected')
  })

  it('is not mixed up with a reference whose name ends like the branch', async () => {
    const odd = host.add('odd.git')
    const sha = odd.commit({ 'a.yaml': '' }, 'x')
    odd.git('update-ref', 'refs/heads/refs/heads/main', sha)
    odd.git('update-ref', 'refs/tags/main', sha)
    await faultOf(listed(at(), 'odd.git'), 'branch_missing')
  })

  it('that names objects by SHA-256 is rejected', async () => {
    const sha256 = join(host.folder, 'sha256.git')
    execFileSync('git', ['init', '--quiet', '--bare', '--object-format=sha256', '--initial-branch=main', sha256])
    bareRepository(sha256).commit({ 'a.yaml': '' })
    await faultOf(listed(at(), 'sha256.git'), 'rejected')
  })

  it('whose branch was moved back is still read at the commit that was resolved', async () => {
    const moving = host.add('moving.git')
    const first = moving.commit({ 'a.yaml': 'name: first\n' })
    moving.commit({ 'a.yaml': 'name: second\n' })
    const source = at().open(address('moving.git'), 'x')
    const { commit_sha } = await source.resolve(null)
    moving.git('update-ref', 'refs/heads/main', first)
    expect((await source.list(commit_sha)).size).toBe(1)
  })

  it('shows links, submodules and an empty tree as what they are', async () => {
    const mixed = host.add('mixed.git')
    const commit = 'c'.repeat(40)
    mixed.commit({ link: { mode: '120000', content: '/etc/passwd' }, sub: { mode: '160000', content: commit } })
    mixed.commit({ '.gitmodules': '[submodule "sub"]\n\tpath = sub\n\turl = http://127.0.0.1:1/x\n' }, 'modules')
    const tree = await listed(at(), 'mixed.git')
    expect(tree.get('link')).toMatchObject({ mode: '120000', size: 11 })
    expect(tree.get('sub')).toEqual({ path: 'sub', mode: '160000', blob_sha: commit, size: null })
    mixed.commit({})
    expect((await listed(at(), 'mixed.git')).size).toBe(0)
  })

  it('is read at a name that only the checked resolution knows', async () => {
    const asked: string[] = []
    const targets = createTargets('all', false)
    const lookup: typeof targets.lookup = (name, _, done) => {
      asked.push(name)
      done(null, [
        { address: '::1', family: 6 },
        { address: '127.0.0.1', family: 4 },
      ])
    }
    const sources = at({ targets: { ...targets, lookup } })
    const url = `http://git.example.invalid:${new URL(host.url).port}/open.git`
    expect(await sources.inspect(gitAddress(url))).toEqual({ visibility: 'public', branch: 'main' })
    expect(asked).toEqual(['git.example.invalid'])
  })
})

describe('a token', () => {
  it('is not sent to a host whose certificate is not trusted', async () => {
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
    const request = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', '-subj', '/CN=localhost']
    execFileSync('openssl', [...request, '-keyout', key, '-out', cert], { stdio: 'pipe' })
    const received: unknown[] = []
    const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, ({ headers }, response) => {
      received.push(headers)
      response.end()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `https://localhost:${(server.address() as AddressInfo).port}/x.git`
    await faultOf(at().open(gitAddress(url, { token }), 'x').resolve(null), 'fetch_failed')
    expect(received).toEqual([])
    server.close()
  })

  it('is in no argument of a process, no error and no file, only in the environment of Git', async () => {
    const real = execFileSync('which', ['git'], { encoding: 'utf8' }).trim()
    const log = join(folder, 'calls')
    const script = `#!/bin/sh\n{ echo "args: $*"; env; } >> ${log}\nexec ${real} "$@"\n`
    writeFileSync(join(folder, 'git'), script, { mode: 0o755 })
    const sources = at({ path: `${folder}:${process.env.PATH}` })
    await listed(sources, 'hidden.git', { token })
    const error = await faultOf(listed(sources, 'hidden.git', { token: 'wrong-secret', branch: 'x' }), 'access_revoked')
    const calls = readFileSync(log, 'utf8')
    const encoded = Buffer.from(`x-access-token:${token}`).toString('base64')
    const args = calls.split('\n').filter((line) => line.startsWith('args: '))
    expect(args.some((line) => line.includes('fetch'))).toBe(true)
    expect(args.filter((line) => line.includes(token) || line.includes(encoded))).toEqual([])
    expect(calls).toContain(`=Authorization: Basic ${encoded}`)
    // Variables of this process, such as those of vitest, do not reach Git.
    expect(Object.keys(process.env).filter((name) => name.startsWith('VITEST'))).not.toEqual([])
    expect(calls).not.toContain('VITEST')
    expect(error.message).not.toMatch(/secret|Basic/)
    const found = ['-r', '-l', '-e', token, '-e', encoded, sources.folder]
    expect(() => execFileSync('grep', found, { encoding: 'utf8' })).toThrow()
  })
})

describe('the command git', () => {
  it.each([
    ['is missing', null, 'not installed'],
    ['is too old', 'git version 2.36.9', 'too old'],
    ['is something else', 'hello', 'too old'],
  ])('that %s is reported', async (_, version, message) => {
    const bin = mkdtempSync(join(folder, 'bin-'))
    if (version !== null) writeFileSync(join(bin, 'git'), `#!/bin/sh\necho ${version}\n`, { mode: 0o755 })
    const error = await faultOf(at({ path: bin }).inspect(address('open.git')), 'fetch_failed')
    expect(error.message).toContain(message)
  })

  it('that answers nothing, even with success, is not taken for an empty repository', async () => {
    const bin = mkdtempSync(join(folder, 'bin-'))
    for (const code of [0, 1]) {
      const script = `#!/bin/sh\ncase $1 in version) echo git version 2.40.1;; *) exit ${code};; esac\n`
      writeFileSync(join(bin, 'git'), script, { mode: 0o755 })
      const source = at({ path: bin }).open(address('open.git'), 'x')
      await faultOf(source.resolve(null), code === 0 ? 'branch_missing' : 'fetch_failed')
      await faultOf(source.list('a'.repeat(40)), 'fetch_failed')
    }
  })
})
