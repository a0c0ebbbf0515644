// A platform that is killed between the answer 202 and the handling of a delivery: after its next start nothing is lost, nothing
// is handled by two processes, and its log shows neither secrets nor payloads.
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '@svc/platform'
import type { RepositoryList } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { openDatabase, withUnscopedTransaction } from '../../platform/db/db.js'
import { type FakeGithub, startFakeGithub } from '../github/fake-github.js'
import type { App } from '../github/world.js'
import { appVariables, registerApp, signature, webhookPath, webhookSecret } from '../support/git/github-app.js'
import { sharedPostgres } from '../support/server/postgres.js'
import { type PlatformProcess, serverKey, startProcess } from '../support/server/process.js'

const postgres = await sharedPostgres()
const folder = mkdtempSync(join(tmpdir(), 'svc-killed-receiver-'))
const marker = 'a-text-of-a-payload'
let github: FakeGithub
let app: App
beforeAll(async () => {
  github = await startFakeGithub()
  const owner = github.account('acme', 'Organization')
  app = registerApp(github, owner)
  github.repository(owner, 'policies', { files: { 'a.md': 'a' } })
  github.install(app, owner)
})
afterAll(async () => {
  await github.close()
  rmSync(folder, { recursive: true, force: true })
})

const deliver = async ({ url }: PlatformProcess, id: string) => {
  const payload = { action: 'created', installation: { id: github.world.installations[0]?.id }, text: marker }
  const body = JSON.stringify(payload)
  const headers = {
    'content-type': 'application/json',
    'x-github-delivery': id,
    'x-github-event': 'installation',
    'x-hub-signature-256': signature(webhookSecret, body),
  }
  return (await fetch(`${url}${webhookPath}`, { method: 'POST', headers, body })).status
}

const rowsOf = async (env: Readonly<Record<string, string>>) => {
  const db = await openDatabase(readConfig({ ...env }).value)
  try {
    const text = 'select delivery_id, status, attempts from github_deliveries order by delivery_id'
    type Row = { readonly delivery_id: string; readonly status: string; readonly attempts: number }
    return await withUnscopedTransaction(db, (tx) => tx.query<Row>(text))
  } finally {
    await db.close()
  }
}

describe.each([
  { kind: 'pglite', database: () => ({}) },
  ...(postgres === null
    ? []
    : [
        {
          kind: 'postgresql',
          database: () => ({ SVC_DATABASE_URL: postgres.freshDatabase(), SVC_ENCRYPTION_KEY: serverKey }),
        },
      ]),
])('deliveries on $kind', ({ kind, database }) => {
  it('are all handled after a kill', async () => {
    const env: Record<string, string> = {
      ...appVariables(github, app),
      ...database(),
      SVC_DATA_DIR: join(folder, kind),
      SVC_PORT: '0',
      SVC_LOG_LEVEL: 'trace',
    }
    const ids = Array.from({ length: 20 }, () => randomUUID()).sort()
    const first = await startProcess(env)
    // Probot is loaded with the first delivery: these are acknowledged before one is handled.
    expect(await Promise.all(ids.map((id) => deliver(first, id)))).toEqual(ids.map(() => 202))
    await first.kill9()
    const left = await rowsOf(env)
    expect(left.map(({ delivery_id }) => delivery_id)).toEqual(ids)
    const waiting = left.filter(({ status }) => status === 'waiting').length
    expect(waiting).toBeGreaterThan(0)
    const second = await startProcess(env)
    const authorization = `Bearer ${second.operator_token}`
    await vi.waitFor(
      async () => {
        const answer = await fetch(`${second.url}/api/v1/repos?provider=github`, { headers: { authorization } })
        expect(((await answer.json()) as RepositoryList).repos).toMatchObject([{ name: 'policies' }])
        const jobs = await fetch(`${second.url}/api/v1/jobs`, { headers: { authorization } })
        const { jobs: states } = (await jobs.json()) as { jobs: { name: string; waiting: number; active: number }[] }
        const state = states.find(({ name }) => name === 'handle-github-delivery')
        expect(state).toMatchObject({ waiting: 0, active: 0 })
      },
      { timeout: 300_000, interval: 500 },
    )
    await second.terminate()
    expect((await rowsOf(env)).map(({ delivery_id, status }) => [delivery_id, status])).toEqual(
      ids.map((id) => [id, 'done']),
    )
    const printed = first.printed + second.printed
    expect(printed).toContain('svc platform')
    for (const secret of [webhookSecret, app.private_key.slice(40, 100), 'ghs_', 'eyJ', marker])
      expect(printed).not.toContain(secret)
  })
})
