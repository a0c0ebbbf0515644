// The first command of the README.
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { soon } from '../support/soon.js'

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
