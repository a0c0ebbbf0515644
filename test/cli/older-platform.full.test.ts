// `svc` with a platform of an older version, whose answers lack fields: a missing field is unknown, not false.
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { saveSession } from '../../cli/account/session-file.js'
import { runSvc } from '../support/cli/svc.js'

const folder = mkdtempSync(join(tmpdir(), 'svc-config-'))
const full = {
  id: 'usr_1',
  email: 'mia@example.org',
  name: 'mia',
  workspaces: [{ org_id: 'org_1', name: 'Acme', kind: 'shared', role: 'member', is_suspended: false }],
  current_workspace: 'org_1',
  is_capped: false,
  is_suspended: false,
}
let answer: object = full
let server: Server
let url: string
beforeAll(async () => {
  server = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(answer))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const tokens = { access_token: 'a', refresh_token: 'r', token_type: 'Bearer' as const, expires_in: 900 }
  saveSession(join(folder, 'session.json'), url, tokens, Date.now())
})
afterAll(async () => {
  await new Promise((resolve) => server.close(resolve))
  rmSync(folder, { recursive: true, force: true })
})

const whoami = (...args: string[]) => runSvc(['whoami', ...args], { SVC_CONFIG_DIR: folder })
const acme = 'Acme (org_1), member'

describe('svc whoami', () => {
  it.each([
    ['all fields', full, acme],
    ['no is_capped', { ...full, is_capped: undefined }, `${acme}, on the waiting list: unknown`],
    ['no is_suspended', { ...full, is_suspended: undefined }, `${acme}, suspended: unknown`],
    [
      'neither',
      { ...full, is_capped: undefined, is_suspended: undefined },
      `${acme}, on the waiting list: unknown, suspended: unknown`,
    ],
    ['both set', { ...full, is_capped: true, is_suspended: true }, `${acme}, on the waiting list, suspended`],
    ['no workspaces', { ...full, workspaces: undefined }, 'workspace unknown'],
  ])('prints the known fields of an answer with %s', async (_, account, line) => {
    answer = account
    expect(await whoami()).toEqual({ code: 0, stdout: `mia@example.org at ${url}: ${line}\n`, stderr: '' })
  })

  it('prints JSON with the fields of the answer only', async () => {
    const { is_capped: _, is_suspended: __, ...older } = full
    answer = older
    expect(JSON.parse((await whoami('--json')).stdout)).toEqual(older)
  })

  it('makes other commands name the missing field', async () => {
    const { workspaces: _, ...older } = full
    answer = older
    const { code, stderr } = await runSvc(['workspace', 'list'], { SVC_CONFIG_DIR: folder })
    expect([code, stderr]).toEqual([1, expect.stringContaining('does not publish')])
  })
})
