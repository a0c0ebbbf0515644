// Folders of keys: a start and the operator's commands reject those in which other users can write.
import { execSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { runSvc } from '../../support/cli/svc.js'
import { runPlatform, startProcess } from '../../support/server/process.js'

const root = mkdtempSync(join(tmpdir(), 'svc-key-folders-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

/** A new folder with this mode. */
function folderWith(mode: number): string {
  const folder = join(mkdtempSync(join(root, "it's ")), 'data')
  mkdirSync(folder)
  chmodSync(folder, mode)
  return folder
}

describe.skipIf(process.platform === 'win32')('a folder of keys', () => {
  it.each([
    ['the data folder, by every user', 'SVC_DATA_DIR', 0o777, ['start']],
    ['the data folder, by its group', 'SVC_DATA_DIR', 0o770, ['start']],
    ['the folder of the signing key', 'SVC_LOG_KEY_DIR', 0o757, ['start']],
    ['the data folder, at a rotation', 'SVC_DATA_DIR', 0o777, ['rotate-key', '--reason', 'yearly']],
    ['the data folder, at a command for accounts', 'SVC_DATA_DIR', 0o777, ['admin', 'release', 'mia@example.org']],
  ])('that others can write is rejected: %s', async (_, name, mode, args) => {
    const folder = folderWith(mode)
    const env = { SVC_DATA_DIR: folderWith(0o755), SVC_PORT: '0', SVC_LOG_LEVEL: 'error', [name]: folder }
    const { code, stderr } = await runPlatform(args, env)
    expect([code, readdirSync(folder)]).toEqual([1, []])
    const last = stderr.trimEnd().split('\n').at(-1) ?? ''
    expect(last).toContain(`other users can write in the folder \`${folder}\`, which holds keys`)
    const [, command = ''] = /run `(chmod [^`]+)`/.exec(last) ?? []
    execSync(command)
    expect(statSync(folder).mode & 0o022).toBe(0)
  })

  it('is accepted after the printed command', async () => {
    const folder = folderWith(0o775)
    chmodSync(folder, 0o755)
    const platform = await startProcess({ SVC_DATA_DIR: folder, SVC_PORT: '0' })
    expect(await platform.terminate()).toBe(0)
  })

  it('of a witness is rejected as well', async () => {
    const folder = folderWith(0o777)
    const key = 'log.example/org/org_1/1+4722738a+AYqI4910CfGV/VLbLTy6XXLKZwm/HZQSG/N0iAG0D29c'
    const { code, stderr } = await runSvc(['witness', '--name', 'w.example', '--dir', folder, '--log', key])
    expect([code, stderr]).toEqual([1, expect.stringContaining('which holds keys')])
  })
})
