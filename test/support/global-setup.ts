// Once per run: the PostgreSQL server that the test files share, with the template of their databases.
import { readConfig } from '@svc/platform'
import type { TestProject } from 'vitest/node'
import { openDatabase } from '../../platform/db/db.js'
import { migrate } from '../../platform/db/migrations/index.js'
import { startPostgres, templateName } from './postgres.js'

export default async function setUp(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const server = await startPostgres('-c fsync=off')
  if (server === null) {
    project.provide('postgres', null)
    return undefined
  }
  server.psql(server.url, `create database ${templateName}`)
  const { value: config } = readConfig({ SVC_DATABASE_URL: server.url.replace(/[^/]+$/, templateName) })
  const db = await openDatabase(config)
  await migrate(db)
  await db.close()
  // A connection, such as that of autovacuum, would prevent copies of it.
  server.psql(server.url, `alter database ${templateName} allow_connections false`)
  project.provide('postgres', { url: server.url, folder: server.folder })
  return server.remove
}
