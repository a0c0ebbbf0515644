// The session of `svc login`: the output of commands when it has ended or cannot be read.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { saveSession } from '../../cli/account/session-file.js'
import { runSvc } from '../support/cli/svc.js'

const folder = mkdtempSync(join(tmpdir(), 'svc-config-'))
const file = join(folder, 'session.json')
const tokens = { access_token: 'a', refresh_token: 'r', token_type: 'Bearer' as const, expires_in: 900 }
let status = 401
let server: Server
let url: string
beforeAll(async () => {
  server = createServer((_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end('{"code": "X", "detail": "as scripted"}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(async () => {
  await new Promise((resolve) => server.close(resolve))
  rmSync(folder, { recursive: true, force: true })
})

const run = (...args: string[]) => runSvc(args, { SVC_CONFIG_DIR: folder })
const failure = (message: string) => ({ code: 1, stdout: '', stderr: `svc: ${message}\n` })

describe('a session that has ended', () => {
  it.each([
    { what: 'is rejected', now: Date.now() },
    { what: 'cannot be renewed', now: 0 },
  ])('names the login to its platform when it $what', async ({ now }) => {
    status = 401
    const ended = failure(`the session has ended: run \`npx --no-install svc login --url ${url}\``)
    for (const command of ['whoami', 'checkpoint']) {
      saveSession(file, url, tokens, now)
      expect(await run(command)).toEqual(ended)
    }
  })

  it('is kept when the platform cannot answer', async () => {
    status = 503
    saveSession(file, url, tokens, 0)
    expect(await run('whoami')).toEqual(failure('the platform answers 503: as scripted'))
    expect(existsSync(file)).toBe(true)
  })
})

describe('svc logout', () => {
  it('removes a session that the platform does not end', async () => {
    status = 503
    saveSession(file, url, tokens, Date.now())
    const { code, stderr } = await run('logout')
    expect([code, stderr]).toEqual([1, expect.stringContaining('the platform did not confirm it')])
    expect(existsSync(file)).toBe(false)
  })

  it('does nothing without a session', async () => {
    expect(await run('logout')).toEqual({ code: 0, stdout: 'you were not logged in\n', stderr: '' })
  })
})

describe('a damaged session file', () => {
  it.each(['', '{}', 'x'])('is reported with the login: %j', async (text) => {
    writeFileSync(file, text)
    const damaged = failure(`\`${file}\` is damaged: remove it and run \`npx --no-install svc login\``)
    expect(await run('whoami')).toEqual(damaged)
    expect(await run('logout')).toEqual(damaged)
  })
})
