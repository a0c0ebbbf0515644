// `svc report` with a platform whose answers are scripted: interrupted waits, failures, and files that are not the issued ones.
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Account, Report } from '@svc/schemas'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { saveSession } from '../../cli/account/session-file.js'
import { startSvc } from '../support/cli/svc.js'
import { sha256Of } from '../support/reports/reports.js'

const folder = mkdtempSync(join(tmpdir(), 'svc-report-'))
const id = `rep_${'a'.repeat(32)}`
const running: Report = {
  id,
  status: 'running',
  progress: 0.4,
  format: 'json',
  from: '2026-01-01T00:00:00.000Z',
  to: '2026-02-01T00:00:00.000Z',
  by: 'received',
  agent_ids: null,
  cut_off: 7,
  root: '0'.repeat(64),
  requested_by: 'person:usr_1',
  created_at: '2026-02-02T00:00:00.000Z',
  ready_at: null,
  bytes: null,
  sha256: null,
  log_index: null,
  error: null,
}
const ready: Report = { ...running, status: 'ready', bytes: 2, log_index: 8, sha256: sha256Of(Buffer.from('{}')) }
const workspace = { org_id: 'org_1', name: 'Acme\u001b[31m', role: 'auditor', kind: 'shared' }
const account = { workspaces: [workspace], current_workspace: 'org_1' } as unknown as Account

interface Answer {
  readonly status: number
  readonly body: unknown
  readonly retry?: string
}
/** The answers to a request of a report and then to questions for its state; the last one repeats. */
let answers: Answer[] = []
let file = '{}'
let server: Server
beforeAll(async () => {
  server = createServer((request, response) => {
    if (request.url?.endsWith('/download')) {
      response.end(file)
      return
    }
    const found = request.url?.startsWith('/api/v1/reports') === true
    if (request.url === '/api/v1/log/checkpoint') {
      response.end(JSON.stringify({ size: 9 }))
      return
    }
    const scripted = () => (answers.length > 1 ? answers.shift() : answers[0])
    const { status, body, retry } = (found ? scripted() : null) ?? { status: 200, body: account }
    response.writeHead(status, { 'content-type': 'application/json', ...(retry && { 'retry-after': retry }) })
    response.end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const tokens = { access_token: 'a', refresh_token: 'r', token_type: 'Bearer' as const, expires_in: 900 }
  saveSession(join(folder, 'session.json'), url, tokens, Date.now())
})
afterAll(async () => {
  await new Promise((resolve) => server.close(resolve))
  rmSync(folder, { recursive: true, force: true })
})
beforeEach(() => {
  file = '{}'
})
const start = (...args: string[]) => startSvc(['report', ...args], { SVC_CONFIG_DIR: folder }, undefined, folder)
const problem = (status: number, detail: string, retry?: string): Answer => ({
  status,
  body: { code: 'X', detail },
  ...(retry !== undefined && { retry }),
})

describe('svc report', () => {
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('names the command that continues a wait that %s ends', async (signal, exit) => {
    answers = [{ status: 202, body: running }]
    const { child, finished } = start('--out', 'my report.json')
    await new Promise<void>((resolve) => child.stderr?.on('data', (text) => /in progress/.test(text) && resolve()))
    child.kill(signal)
    const { code, stdout, stderr } = await finished
    expect([code, stdout]).toEqual([exit, ''])
    expect(stderr).toContain(`${id} is in progress, 25 %\n`)
    expect(stderr).toMatch(
      /the platform continues the report: `\S.* report --id rep_a+ --out 'my report.json'` gets it later\n$/,
    )
  })

  it('waits as often as the platform asks, and prints each reason once', async () => {
    const unsigned = problem(503, 'entries are not signed yet', '0')
    const busy = problem(429, 'too many reports', '1')
    answers = [
      unsigned,
      unsigned,
      busy,
      { status: 202, body: { ...running, status: 'queued' } },
      { status: 200, body: ready },
    ]
    const { code, stdout, stderr } = await start('--out', 'a.json').finished
    expect([code, stderr.split('\n')]).toEqual([
      0,
      [
        'waiting: the platform answers 503: entries are not signed yet',
        'waiting: too many reports',
        `${id} is queued`,
        '',
      ],
    ])
    expect(stdout).toMatch(/^a\.json: Acme\S*\[31m, 2026-01-01/)
    expect(stdout).not.toContain('\u001b')
  })

  it('removes a file that is not the issued one', async () => {
    answers = [{ status: 200, body: ready }]
    file = '{} '
    const { code, stderr } = await start('--out', 'altered.json').finished
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('the downloaded file is not the issued report, and was removed'),
    ])
    expect(existsSync(join(folder, 'altered.json'))).toBe(false)
  })

  it.each<[string, Answer, string]>([
    [
      'has failed',
      { status: 200, body: { ...running, status: 'failed', error: 'too long' } },
      'svc: the report failed: too long\n',
    ],
    ['was deleted', problem(404, 'no such report'), 'svc: the report was deleted meanwhile\n'],
    ['cannot be read', problem(500, 'an error'), 'the platform answers 500: an error; `'],
  ])('reports that it %s', async (_, answer, message) => {
    answers = [{ status: 202, body: running }, answer]
    const { code, stdout, stderr } = await start().finished
    expect([code, stdout, stderr]).toEqual([1, '', expect.stringContaining(message)])
  })
})
