// `svc login` with an authorization server that implements RFC 8628 only.
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { runSvc } from '../support/cli/svc.js'

const folder = mkdtempSync(join(tmpdir(), 'svc-config-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const grant_type = 'urn:ietf:params:oauth:grant-type:device_code'
const code = {
  device_code: 'a-device-code',
  user_code: 'BCDF-GHJK',
  verification_uri: 'http://127.0.0.1/device',
  verification_uri_complete: 'http://127.0.0.1/device?user_code=BCDF-GHJK',
  expires_in: 600,
  interval: 0,
}
const tokens = { access_token: 'a', token_type: 'Bearer', expires_in: 900, refresh_token: 'r' }
const account = { id: 'usr_1', email: 'mia@example.org', name: 'mia', workspaces: [], current_workspace: null }

/** Logs in while the token endpoint gives these answers in order; the printed text and the sent forms. */
async function loginWith(answers: readonly (readonly [status: number, body: object])[]) {
  const left = [...answers]
  const forms: object[] = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += String(chunk)
    const isForm = request.headers['content-type']?.startsWith('application/x-www-form-urlencoded') === true
    if (request.method === 'POST') forms.push(isForm ? Object.fromEntries(new URLSearchParams(text)) : { text })
    const path = request.url ?? ''
    const token = path === '/auth/device/token' ? left.shift() : undefined
    const [status, body] = token ?? [200, path === '/auth/device/code' ? code : account]
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { code: exit, stdout, stderr } = await runSvc(['login', '--url', url], { SVC_CONFIG_DIR: folder })
  await new Promise((resolve) => server.close(resolve))
  return { exit, printed: stdout + stderr, forms }
}

const error = (name: string, error_description = name) => [400, { error: name, error_description }] as const

describe('svc login', () => {
  it('sends forms with the grant, and continues while the answer is pending', async () => {
    const { exit, printed, forms } = await loginWith([error('authorization_pending'), [200, tokens]])
    expect([exit, printed]).toEqual([0, expect.stringContaining('logged in as mia@example.org')])
    const poll = { grant_type, device_code: 'a-device-code', client_id: 'svc-cli' }
    expect(forms).toEqual([{ client_id: 'svc-cli' }, poll, poll])
  })

  it.each([
    ['access_denied', 'the login was denied in the browser'],
    ['expired_token', 'the code is too old'],
    ['invalid_grant', 'no such code'],
  ])('ends with %s', async (name, description) => {
    const { exit, printed } = await loginWith([error(name, description)])
    expect([exit, printed]).toEqual([1, expect.stringContaining(`svc: ${description}`)])
  })
})
