// What a caller sends as an address, a branch or a name is rejected before Git or GitHub sees it.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { branchProblem } from '../../../../platform/git/source/branch-name.js'
import { createTargets } from '../../../../platform/outgoing/targets.js'
import { bareRepository } from '../../../support/git/git-host.js'
import { faultOf, gitAddress, githubAddress, testSources } from '../../../support/git/sources.js'

const casesOf = (name: string) => parse(readFileSync(new URL(`../../../cases/${name}`, import.meta.url), 'utf8'))
const addresses = casesOf('git-addresses.yaml') as readonly { readonly name: string; readonly url: string }[]
const branches = casesOf('branch-names.yaml') as Readonly<Record<'valid' | 'invalid', readonly string[]>>

const folder = mkdtempSync(join(tmpdir(), 'svc-roots-'))
const roots = join(folder, 'roots')
mkdirSync(roots)
const sources = testSources({ git_file_roots: [roots], targets: createTargets([], false) })
afterAll(async () => {
  await sources.discard()
  rmSync(folder, { recursive: true })
})

describe('an address', () => {
  it.each(addresses)('with $name is rejected', async ({ url }) => {
    await faultOf(sources.open(gitAddress(url), 'a').resolve(null), 'rejected')
    const error = await faultOf(sources.inspect(gitAddress(url, { token: 'secret-token' })), 'rejected')
    expect(error.message).not.toContain('secret')
  })

  it('of a name with a private address is rejected when it is resolved', async () => {
    const error = await faultOf(sources.inspect(gitAddress('https://localhost:9/x.git')), 'rejected')
    expect(error.message).toContain('not on the public internet')
  })

  it.each(['../a', 'a/../b', '/a', '', 'a//b', 'a\0b'])('with the cache %j is rejected', (cache) => {
    expect(() => sources.open(gitAddress('https://example.org/x.git'), cache)).toThrow('cannot be a folder')
  })
})

describe('a folder', () => {
  const outside = bareRepository(join(folder, 'outside.git'))
  outside.commit({ 'secret.yaml': 'name: secret\n' })
  const inspect = (name: string) => sources.inspect(gitAddress(`file://${join(roots, name)}`))

  it('below a root is read, bare or with a working tree', async () => {
    bareRepository(join(roots, 'bare.git')).commit({ 'a.yaml': 'name: a\n' })
    bareRepository(join(roots, 'work', '.git')).commit({ 'a.yaml': 'name: a\n' })
    for (const name of ['bare.git', 'work'])
      expect(await inspect(name)).toEqual({ visibility: 'public', branch: 'main' })
  })

  it('is not reached by a link that leaves the root', async () => {
    symlinkSync(outside.folder, join(roots, 'link.git'))
    symlinkSync(folder, join(roots, 'up'))
    for (const name of ['link.git', 'up/outside.git', '../outside.git', '%2e%2e/outside.git'])
      await faultOf(inspect(name), 'rejected')
  })

  it('with objects of a repository elsewhere is rejected', async () => {
    const sha = outside.git('rev-parse', 'main')
    const lent = bareRepository(join(roots, 'lent.git'))
    mkdirSync(join(lent.folder, 'objects', 'info'), { recursive: true })
    writeFileSync(join(lent.folder, 'objects', 'info', 'alternates'), `${outside.folder}/objects\n`)
    lent.git('update-ref', 'refs/heads/main', sha)
    await faultOf(inspect('lent.git'), 'rejected')
    const linked = bareRepository(join(roots, 'linked.git'))
    rmSync(join(linked.folder, 'objects'), { recursive: true })
    symlinkSync(join(outside.folder, 'objects'), join(linked.folder, 'objects'))
    await faultOf(inspect('linked.git'), 'rejected')
    const common = bareRepository(join(roots, 'common.git'))
    writeFileSync(join(common.folder, 'commondir'), outside.folder)
    await faultOf(inspect('common.git'), 'rejected')
    mkdirSync(join(roots, 'pointer'))
    writeFileSync(join(roots, 'pointer', '.git'), `gitdir: ${outside.folder}\n`)
    await faultOf(inspect('pointer'), 'rejected')
  })

  it('runs no program that its configuration or its hooks name', async () => {
    const hostile = bareRepository(join(roots, 'hostile.git'))
    hostile.commit({ 'a.yaml': 'name: a\n', '.gitattributes': '* filter=x diff=x\n' })
    const mark = join(folder, 'executed')
    const script = join(folder, 'script')
    writeFileSync(script, `#!/bin/sh\ntouch ${mark}\nexec "$@"\n`, { mode: 0o755 })
    for (const [name, value] of Object.entries({
      'uploadpack.packObjectsHook': script,
      'core.fsmonitor': script,
      'core.hooksPath': join(folder, 'hooks'),
      'core.alternateRefsCommand': script,
      'core.sshCommand': script,
      'core.gitProxy': script,
      'core.askPass': script,
      'core.pager': script,
      'credential.helper': `!${script}`,
      'filter.x.smudge': script,
      'diff.x.textconv': script,
      'remote.origin.uploadpack': script,
      'alias.upload-pack': `!${script}`,
    }))
      hostile.git('config', name, value)
    mkdirSync(join(folder, 'hooks'))
    for (const hook of ['reference-transaction', 'post-checkout', 'pre-receive', 'post-update', 'post-upload-pack'])
      for (const at of [join(folder, 'hooks'), join(hostile.folder, 'hooks')])
        writeFileSync(join(at, hook), `#!/bin/sh\ntouch ${mark}\n`, { mode: 0o755 })
    const source = sources.open(gitAddress(`file://${hostile.folder}`), 'hostile')
    const { commit_sha } = await source.resolve(null)
    const tree = await source.list(commit_sha)
    expect([...tree.keys()]).toEqual(['.gitattributes', 'a.yaml'])
    expect((await source.read([...tree.values()].map(({ blob_sha }) => blob_sha))).size).toBe(2)
    expect(spawnSync('test', ['-e', mark]).status).toBe(1)
  })

  it('that is a partial clone, which could name a program for its missing objects, is rejected', async () => {
    for (const [index, setting] of [
      ['extensions.partialClone', 'origin'],
      ['remote.origin.promisor', 'true'],
      ['include.path', '/etc/gitconfig'],
    ].entries()) {
      const partial = bareRepository(join(roots, `partial-${index}.git`))
      partial.commit({ 'a.yaml': 'name: a\n' })
      partial.git('config', ...setting)
      await faultOf(inspect(`partial-${index}.git`), 'rejected')
    }
  })

  it.skipIf(process.getuid?.() !== 0)('of another user of the server is read', async () => {
    const foreign = bareRepository(join(roots, 'foreign.git'))
    foreign.commit({ 'a.yaml': 'name: a\n' })
    execFileSync('chown', ['-R', '12345', foreign.folder])
    const source = sources.open(gitAddress(`file://${foreign.folder}`), 'foreign')
    expect((await source.list((await source.resolve(null)).commit_sha)).size).toBe(1)
  })

  it('around the local copies does not configure Git', async () => {
    const around = mkdtempSync(join(folder, 'around-'))
    execFileSync('git', ['init', '--quiet', around])
    execFileSync('git', ['-C', around, 'config', `url.file://${outside.folder}.insteadOf`, `file://${roots}/bare.git`])
    const inner = testSources({ data_dir: join(around, 'data'), git_file_roots: [roots] })
    const source = inner.open(gitAddress(`file://${join(roots, 'bare.git')}`), 'x')
    expect((await source.resolve(null)).commit_sha).not.toBe(outside.git('rev-parse', 'main'))
    await inner.discard()
  })
})

describe('a branch', () => {
  it.each(branches.valid)('%j is accepted, as by Git', (name) => {
    expect(branchProblem(name)).toBeNull()
    expect(spawnSync('git', ['check-ref-format', `refs/heads/${name}`]).status).toBe(0)
  })

  it.each(branches.invalid)('%j is rejected for GitHub and for a Git host', async (name) => {
    expect(branchProblem(name)).not.toBeNull()
    const branch = { branch: name }
    const address = gitAddress(`file://${join(roots, 'bare.git')}`, branch)
    await faultOf(sources.open(address, 'b').resolve(null), 'rejected')
    await faultOf(sources.open(address, 'b').list('0'.repeat(40)), 'rejected')
    await faultOf(sources.inspect(address), 'rejected')
    await faultOf(sources.open(githubAddress('x', branch), 'b').resolve(null), 'rejected')
  })
})

describe('the name of a repository on GitHub', () => {
  it.each([
    ['acme', '../x'],
    ['acme', '..'],
    ['acme', ''],
    ['acme', 'a/b'],
    ['acme', 'a?b'],
    ['acme', 'a%2fb'],
    ['acme', 'a\nb'],
    ['acme', 'x.git'],
    ['..', 'x'],
    ['-x', 'x'],
    ['', 'x'],
    ['a\0', 'x'],
    ['acme/..', 'x'],
  ])('%j/%j is rejected', async (owner, name) => {
    await faultOf(sources.open(githubAddress(name, { owner }), 'c').resolve(null), 'rejected')
    await faultOf(sources.inspect(githubAddress(name, { owner })), 'rejected')
  })
})
