// The first start with an ordinary user of a server: it prints the missing statements, and they suffice.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fast, logSteps, register } from '../../support/log/log.js'
import { discard, startPlatform } from '../../support/server/platform.js'
import { hasPostgres, type Postgres, startPostgres } from '../../support/server/postgres.js'
import { runPlatform, serverKey } from '../../support/server/process.js'

const folder = mkdtempSync(join(tmpdir(), 'svc-rights-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const makeRole = 'create role svc_app nologin; grant svc_app to'
const useSchema = 'grant usage, create on schema public to'

describe.skipIf(!hasPostgres())('a database user', () => {
  // A separate server, on which no other test has created the role.
  let postgres: Postgres
  beforeAll(async () => {
    postgres = (await startPostgres('-c fsync=off')) as Postgres
  })
  afterAll(() => postgres.remove())
  // Roles belong to the whole server: the role does not exist for the first row, and exists for the others.
  const users: readonly [string, string, string, string[]][] = [
    [
      'without any right',
      'create role "An App" login',
      '"An App"',
      [`${makeRole} "An App";`, `${useSchema} "An App";`],
    ],
    [
      'on a server with the role',
      'create role second login',
      'second',
      ['grant svc_app to second;', `${useSchema} second;`],
    ],
    [
      'who owns the database',
      'create role third login; alter database % owner to third',
      'third',
      ['grant svc_app to third;'],
    ],
    ['who can create roles', 'create role fourth login createrole', 'fourth', [`${useSchema} fourth;`]],
  ]
  it.each(users)('%s gets the statements to run, and then starts', async (_, made, user, statements) => {
    const admin = postgres.emptyDatabase()
    const name = admin.split('/').at(-1) ?? ''
    postgres.psql(admin, made.replace('%', name))
    const url = admin.replace('svc@', `${encodeURIComponent(user.replaceAll('"', ''))}@`)
    const env = { SVC_DATABASE_URL: url, SVC_ENCRYPTION_KEY: serverKey, SVC_DATA_DIR: join(folder, name) }
    const { code, stdout, stderr } = await runPlatform(['start'], env)
    expect([code, stdout, stderr]).toEqual([
      1,
      expect.stringMatching(/^svc platform \S+: connecting to the database at \S+\n$/),
      `svc-platform cannot start: the database user \`${user}\` lacks rights: run these statements as an administrator in the database \`${name}\`, then start again\n${statements.map((line) => `  ${line.replace('%', name)}\n`).join('')}`,
    ])
    postgres.psql(admin, stderr.split('\n').slice(1).join('\n'))
    const platform = await startPlatform({ database_url: url, env: fast })
    await register(platform)
    await logSteps(platform, 'one', 2)
    await discard(platform)
  })
})
