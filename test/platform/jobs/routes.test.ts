// What operators see of the jobs of a running platform.
import type { JobList, PlatformReadiness } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type MailServer, startMailServer } from '../../support/people/mail.js'
import { signedIn } from '../../support/people/people.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'
import { sharedPostgres } from '../../support/server/postgres.js'
import { soon } from '../../support/server/soon.js'

const postgres = await sharedPostgres()

describe.skipIf(postgres === null)('GET /api/v1/jobs', () => {
  const url = postgres?.freshDatabase() ?? ''
  let now = Date.parse('2026-03-01T12:00:00Z')
  let platform: TestPlatform
  let mails: MailServer
  beforeAll(async () => {
    mails = await startMailServer()
    platform = await startPlatform({ database_url: url, env: { SVC_SMTP_URL: mails.url }, clock: () => now })
  })
  afterAll(async () => {
    await discard(platform)
    await mails.close()
  })
  const answered = async (as: string) => (await platform.call<JobList>('GET', '/api/v1/jobs', { as })).body
  /** The job of the retention, which this test moves through its schedule. */
  const listed = async (as: string) => (await answered(as)).jobs.filter(({ name }) => name === 'prune-log')
  const first = { name: 'prune-log', schedule: '7 * * * *', waiting: 0, active: 0 }
  const none = { last_started_at: null, last_completed_at: null, last_failed_at: null, last_error: null }

  it('lists the jobs with their schedules, before the first run', async () => {
    const { running, jobs } = await answered('operator')
    const schedules = jobs.map(({ name, schedule }) => [name, schedule])
    expect(running).toBe(true)
    expect(schedules).toEqual([
      ['deliver-action', null],
      ['delete-old-deliveries', '* * * * *'],
      ['note-unfinished-tasks', '* * * * *'],
      ['prune-log', '7 * * * *'],
      ['reconcile-repository', null],
      ['find-due-repositories', '* * * * *'],
      ['make-report', null],
    ])
    expect(await listed('operator')).toEqual([{ ...first, ...none }])
  })

  it('shows a run, and its time', async () => {
    now = Date.parse('2026-03-01T12:07:00Z')
    const at = '2026-03-01T12:07:00.000Z'
    await vi.waitFor(
      async () =>
        expect(await listed('operator')).toEqual([{ ...first, ...none, last_started_at: at, last_completed_at: at }]),
      soon,
    )
  })

  it('shows the message of a failure to the operator of the installation, not to the admin of a workspace', async () => {
    postgres?.psql(url, 'alter table organizations rename to elsewhere')
    now = Date.parse('2026-03-01T13:07:00Z')
    const failed = `select count(*) from job_runs where last_error like '%organizations%'`
    await vi.waitFor(() => expect(postgres?.psql(url, failed)).toBe('1'), soon)
    postgres?.psql(url, 'alter table elsewhere rename to organizations')
    const last_failed_at = '2026-03-01T13:07:00.000Z'
    const last_error = expect.stringContaining('"organizations"')
    expect(await listed('operator')).toMatchObject([{ last_failed_at, last_error }])
    const { token } = await signedIn(platform, mails, 'mia@example.org')
    expect(await listed(token)).toMatchObject([{ last_failed_at, last_error: null }])
  })

  it('is in the readiness, in short', async () => {
    const { body } = await platform.call<PlatformReadiness>('GET', '/readyz', { as: null })
    expect(body).toEqual({ status: 'ok', not_ready: [], checkpoints: 'ok', jobs: { running: true } })
  })
})
