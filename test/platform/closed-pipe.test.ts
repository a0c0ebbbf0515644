// Readers that close the pipe of `svc-platform`: a command ends without output, the platform continues.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { freePort, startPiped, svcPlatform } from '../support/server/closed-pipe.js'
import { sharedPostgres } from '../support/server/postgres.js'
import { soon } from '../support/server/soon.js'

describe('a command whose output is closed', () => {
  it.each([
    { closed: 'stdout', args: ['--help'] },
    { closed: 'stdout', args: ['--version'] },
    { closed: 'stderr', args: ['nothing'] },
    { closed: 'stderr', args: ['rotate-key'] },
  ] as const)('ends without an error message: svc-platform $args', async ({ closed, args }) => {
    const { code, other } = await startPiped(closed, [svcPlatform, ...args]).ended
    expect(other).toBe('')
    expect([0, 2, 141]).toContain(code)
  })
})

describe('a platform whose output is closed', () => {
  it.each(['stdout', 'stderr'] as const)('continues to serve: %s', async (closed) => {
    const postgres = await sharedPostgres()
    if (postgres === null) return
    const folder = mkdtempSync(join(tmpdir(), 'svc-pipe-'))
    const env = {
      SVC_DATABASE_URL: postgres.freshDatabase(),
      SVC_DATA_DIR: folder,
      SVC_LOG_LEVEL: 'debug',
      SVC_ENCRYPTION_KEY: 'ab'.repeat(32),
    }
    const { pid, ended, status } = await startServing(closed, env)
    for (let call = 0; call < 5; call++) expect(await status()).toBe(200)
    process.kill(await pid, 'SIGTERM')
    expect((await ended).code).toBe(0)
    rmSync(folder, { recursive: true, force: true })
  })
})

/** Starts a platform that answers; another program can take the free port first, and then another port is tried. */
async function startServing(closed: 'stdout' | 'stderr', env: Readonly<Record<string, string>>, attempts = 3) {
  const port = await freePort()
  const piped = startPiped(closed, [svcPlatform, 'start'], { ...env, SVC_PORT: `${port}` })
  const status = () => fetch(`http://127.0.0.1:${port}/health`).then((response) => response.status)
  let isRunning = true
  void piped.ended.then(() => {
    isRunning = false
  })
  await vi.waitFor(async () => expect(!isRunning || (await status()) === 200).toBe(true), soon)
  if (isRunning || attempts === 1) return { ...piped, status }
  return startServing(closed, env, attempts - 1)
}
