// Anchors store checkpoints outside the installation; a failing anchor does not stop the others.
import { execFileSync, spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { parseCheckpoint, parseNote } from '@svc/proof'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { downloadBundle, openAuditorFolder, verifyWithBoth } from '../../support/log/bundle.js'
import { checkpointOf, fast, logSteps, register } from '../../support/log/log.js'
import { discard, startPlatform } from '../../support/server/platform.js'
import { soon } from '../../support/server/soon.js'

const auditor = openAuditorFolder()
afterAll(() => auditor.clear())
const git = (folder: string, ...args: string[]) =>
  execFileSync('git', ['-C', folder, ...args], { encoding: 'utf8' }).trim()

describe('anchors', () => {
  it('store each checkpoint in a folder, a repository and an HTTP endpoint', async () => {
    const [folder, clone, remote] = ['notes', 'clone', 'remote.git'].map((name) => join(auditor.folder, name)) as [
      string,
      string,
      string,
    ]
    execFileSync('git', ['init', '--quiet', '--bare', remote])
    execFileSync('git', ['clone', '--quiet', remote, clone], { stdio: 'ignore' })
    // A hook of the repository must not run here.
    mkdirSync(join(clone, '.git', 'hooks'), { recursive: true })
    auditor.put('clone/.git/hooks/pre-commit', '#!/bin/sh\nexit 1\n')
    execFileSync('chmod', ['+x', join(clone, '.git', 'hooks', 'pre-commit')])
    const received: string[] = []
    const hook = createServer(async (request, response) => {
      let text = ''
      for await (const chunk of request) text += String(chunk)
      received.push(text)
      response.writeHead(received.length === 1 ? 500 : 204).end()
    })
    await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve))
    const address = `http://127.0.0.1:${(hook.address() as AddressInfo).port}/checkpoints?token=secret`
    const SVC_ANCHORS = `file:${folder} git:${clone} git:${auditor.folder}/none http://127.0.0.1:1/ ${address}`
    const platform = await startPlatform({ env: { ...fast, SVC_ANCHORS, PATH: process.env.PATH ?? '' } })
    await register(platform)
    await logSteps(platform, 'one', 3)
    const first = await checkpointOf(platform, 3)
    await logSteps(platform, 'two', 3)
    const last = await checkpointOf(platform, 6)
    await vi.waitFor(() => expect(received).toContain(last.note), soon)
    await vi.waitFor(() => expect(git(remote, 'log', '--format=%s')).toContain(`checkpoint ${last.size} of`), soon)
    const [own = ''] = readdirSync(folder)
    expect(decodeURIComponent(own)).toBe(last.origin)
    expect(readFileSync(join(folder, own, `${first.size}.note`), 'utf8')).toBe(first.note)
    expect(readFileSync(join(folder, own, `${last.size}.note`), 'utf8')).toBe(last.note)
    const committed = git(remote, 'show', `HEAD:${own}.note`)
    expect(parseCheckpoint(parseNote(`${committed}\n`)?.text ?? '')?.size).toBe(last.size)
    // A verifier accepts an anchored note.
    const bundle = auditor.put('bundle.zip', await downloadBundle(platform))
    expect((await verifyWithBoth(bundle, `log ${last.key}\n`, auditor, `${committed}\n`)).valid).toBe(true)
    await discard(platform)
    await new Promise((resolve) => hook.close(resolve))
    rmSync(clone, { recursive: true })
  })

  it('run no program that the configuration of a repository names', async () => {
    const [clone, remote, marks] = ['hostile', 'hostile.git', 'marks'].map((name) => join(auditor.folder, name)) as [
      string,
      string,
      string,
    ]
    mkdirSync(marks)
    execFileSync('git', ['init', '--quiet', '--bare', remote])
    execFileSync('git', ['init', '--quiet', clone])
    const leaves = (name: string) => {
      const path = auditor.put(`${name}.sh`, `#!/bin/sh\ntouch ${join(marks, name)}\ncat\n`)
      execFileSync('chmod', ['+x', path])
      return path
    }
    const programs: Record<string, string> = {
      'core.fsmonitor': leaves('fsmonitor'),
      'core.editor': leaves('editor'),
      'core.pager': leaves('pager'),
      'core.askPass': leaves('askpass'),
      'core.sshCommand': leaves('ssh'),
      'core.alternateRefsCommand': leaves('alternates'),
      'credential.helper': `!${leaves('credential')}`,
      'diff.external': leaves('external-diff'),
      'diff.x.textconv': leaves('textconv'),
      'diff.x.command': leaves('diff-command'),
      'filter.x.clean': leaves('clean'),
      'filter.x.smudge': leaves('smudge'),
      'filter.y.process': leaves('process'),
      'gpg.program': leaves('gpg'),
      'gpg.ssh.program': leaves('gpg-ssh'),
      'commit.gpgSign': 'true',
      'push.gpgSign': 'if-asked',
      'user.signingKey': 'x',
      'merge.x.driver': leaves('merge'),
      'remote.origin.receivepack': leaves('receive-pack'),
      'gc.auto': '1',
    }
    git(clone, 'remote', 'add', 'origin', remote)
    for (const [name, value] of Object.entries(programs)) git(clone, 'config', name, value)
    git(clone, 'config', 'filter.x.required', 'true')
    mkdirSync(join(clone, '.git', 'other-hooks'))
    for (const hook of [
      'pre-commit',
      'commit-msg',
      'post-commit',
      'pre-push',
      'reference-transaction',
      'post-index-change',
    ])
      for (const folder of ['hooks', 'other-hooks']) {
        mkdirSync(join(clone, '.git', folder), { recursive: true })
        copyFileSync(leaves(hook), join(clone, '.git', folder, hook))
      }
    git(clone, 'config', 'core.hooksPath', '.git/other-hooks')
    auditor.put('hostile/.gitattributes', '*.note filter=x diff=x merge=x\n* filter=y\n')
    auditor.put('hostile/.git/info/attributes', '*.note filter=x diff=x\n')
    // Without the overrides, Git runs these programs.
    auditor.put('hostile/other.note', 'x')
    spawnSync('git', ['-C', clone, 'add', 'other.note'])
    expect(readdirSync(marks)).toEqual(expect.arrayContaining(['clean', 'fsmonitor', 'post-index-change']))
    rmSync(marks, { recursive: true })
    mkdirSync(marks)

    const env = { ...fast, SVC_ANCHORS: `git:${clone}`, PATH: process.env.PATH ?? '' }
    const platform = await startPlatform({ env })
    await register(platform)
    await logSteps(platform, 'one', 3)
    await checkpointOf(platform, 3)
    await logSteps(platform, 'two', 3)
    const last = await checkpointOf(platform, 6)
    await vi.waitFor(
      () => expect(git(remote, 'log', '--all', '--format=%s')).toContain(`checkpoint ${last.size} of`),
      soon,
    )
    await discard(platform)
    expect(readdirSync(marks)).toEqual([])
    const [file = ''] = git(remote, 'ls-tree', '--name-only', '-r', 'HEAD').split('\n')
    expect(`${git(remote, 'show', `HEAD:${file}`)}\n`).toBe(last.note)
    // Other staged files are not committed.
    expect(git(remote, 'ls-tree', '--name-only', '-r', 'HEAD')).not.toContain('other.note')
  })

  it.each(['ftp://example.org', 'folder', 'file:', 'http://'])('reject %s', async (text) => {
    await expect(startPlatform({ env: { SVC_ANCHORS: text } })).rejects.toThrow('SVC_ANCHORS')
  })
})
