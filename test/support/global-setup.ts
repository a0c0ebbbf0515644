// Once a run: the PostgreSQL server that its files share, with a database in it that theirs are copies of.
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
  // A connection to it, such as that of the automatic vacuum, would keep it from being copied.
  server.psql(server.url, `alter database ${templateName} allow_connections false`)
  project.provide('postgres', { url: server.url, folder: server.folder })
  return server.remove
}
