// Checkpoints are kept where this installation cannot take them back, and go on when one such place fails.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { parseCheckpoint, parseNote } from '@svc/engine'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { bothOn, downloadBundle, openDesk } from '../support/bundle.js'
import { checkpointOf, fast, logSteps, register, soon } from '../support/log.js'
import { discard, startPlatform } from '../support/platform.js'

const desk = openDesk()
afterAll(() => desk.clear())
const git = (folder: string, ...args: string[]) =>
  execFileSync('git', ['-C', folder, ...args], { encoding: 'utf8' }).trim()

describe('anchors', () => {
  it('keep each checkpoint in a folder, in a repository and elsewhere', async () => {
    const [folder, clone, remote] = ['notes', 'clone', 'remote.git'].map((name) => join(desk.folder, name)) as [
      string,
      string,
      string,
    ]
    execFileSync('git', ['init', '--quiet', '--bare', remote])
    execFileSync('git', ['clone', '--quiet', remote, clone], { stdio: 'ignore' })
    // A hook of the repository must not run here.
    mkdirSync(join(clone, '.git', 'hooks'), { recursive: true })
    desk.put('clone/.git/hooks/pre-commit', '#!/bin/sh\nexit 1\n')
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
    const SVC_ANCHORS = `file:${folder} git:${clone} git:${desk.folder}/none http://127.0.0.1:1/ ${address}`
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
    // What was kept is what a verifier can be given.
    const bundle = desk.put('bundle.zip', await downloadBundle(platform))
    expect((await bothOn(bundle, `log ${last.key}\n`, desk, `${committed}\n`)).valid).toBe(true)
    await discard(platform)
    await new Promise((resolve) => hook.close(resolve))
    rmSync(clone, { recursive: true })
  })

  it.each(['ftp://example.org', 'folder', 'file:', 'http://'])('are not %s', async (text) => {
    await expect(startPlatform({ env: { SVC_ANCHORS: text } })).rejects.toThrow('SVC_ANCHORS')
  })
})
