// The first commands of the README and the guides, as npm and npx run them.
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { soon } from '../support/server/soon.js'

const data_dir = mkdtempSync(join(tmpdir(), 'svc-npm-start-'))
const children: ChildProcess[] = []
afterAll(() => {
  for (const child of children) child.kill('SIGKILL')
  rmSync(data_dir, { recursive: true, force: true })
})

describe.skipIf(process.platform === 'win32')('npm start', () => {
  it('reports the creation of the database, and ends all processes on SIGTERM', async () => {
    const npm = spawn('npm', ['start'], {
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
      env: { ...process.env, SVC_DATA_DIR: data_dir, SVC_PORT: '0', SVC_LOG_LEVEL: 'error' },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    children.push(npm)
    let printed = ''
    npm.stdout.on('data', (chunk: Buffer) => {
      printed += chunk.toString()
    })
    await vi.waitFor(() => expect(printed).toContain('API description'), soon)
    expect(printed.indexOf(`first start: creating a database in ${join(data_dir, 'pg')}`)).toBeGreaterThan(0)
    expect(existsSync(join(data_dir, 'lock'))).toBe(true)
    npm.kill('SIGTERM')
    await vi.waitFor(() => expect(existsSync(join(data_dir, 'lock'))).toBe(false), soon)
    const url = /running at (http:\S+)/.exec(printed)?.[1] ?? ''
    await expect(fetch(`${url}/livez`)).rejects.toThrow('fetch failed')
  })
})

describe.skipIf(process.platform === 'win32')('npx', () => {
  it.each([
    { args: ['svc', 'serve', '--baseline', '--port', '0'], at: /, at (http:\S+)\n/ },
    { args: ['svc-platform', 'start'], at: /running at (http:\S+)/ },
  ])('ends $args with itself on SIGTERM', async ({ args, at }) => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-npx-'))
    const npx = spawn('npx', ['--no-install', ...args], {
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
      env: { ...process.env, SVC_DATA_DIR: folder, SVC_PORT: '0', SVC_LOG_LEVEL: 'error' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    children.push(npx)
    let printed = ''
    for (const stream of [npx.stdout, npx.stderr])
      stream.on('data', (chunk: Buffer) => {
        printed += chunk.toString()
      })
    await vi.waitFor(() => expect(printed).toMatch(at), soon)
    const url = `${at.exec(printed)?.[1]}/health`
    expect((await fetch(url)).status).toBe(200)
    npx.kill('SIGTERM')
    const isAway = () =>
      fetch(url).then(
        () => false,
        () => true,
      )
    await vi.waitFor(async () => expect(await isAway()).toBe(true), soon)
    if (args[0] === 'svc-platform') await vi.waitFor(() => expect(existsSync(join(folder, 'lock'))).toBe(false), soon)
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
  })
})
