// Once per run: the PostgreSQL server that the test files share, with the template of their databases. The first file that asks for
// it starts it: a run of pure tests needs none.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestProject } from 'vitest/node'
import { hasPostgres, type Postgres, startPostgres, templateName } from './server/postgres.js'

export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  let starting: Promise<Postgres | null> | null = null
  const door = createServer((_, response) => {
    // A kept connection may be closed just when the next file of the same process asks.
    response.setHeader('connection', 'close')
    starting ??= startShared()
    starting.then(
      (server) => response.end(JSON.stringify(server && { url: server.url, folder: server.folder })),
      (error: unknown) => response.writeHead(500).end(String(error)),
    )
  })
  door.listen(0, '127.0.0.1')
  await once(door, 'listening')
  project.provide('postgres', hasPostgres() ? `http://127.0.0.1:${(door.address() as AddressInfo).port}/` : null)
  return async () => {
    door.close()
    await (await starting)?.remove()
  }
}

async function startShared(): Promise<Postgres | null> {
  const server = await startPostgres('-c fsync=off')
  if (server === null) return null
  server.psql(server.url, `create database ${templateName}`)
  // Loaded here, because a run of pure tests needs none of the platform.
  const [{ readConfig }, { openDatabase }, { migrate }] = await Promise.all([
    import('@svc/platform'),
    import('../../platform/db/db.js'),
    import('../../platform/db/migrations/index.js'),
  ])
  const { value: config } = readConfig({ SVC_DATABASE_URL: server.url.replace(/[^/]+$/, templateName) })
  const db = await openDatabase(config)
  await migrate(db)
  await db.close()
  // A connection, such as that of autovacuum, would prevent copies of it.
  server.psql(server.url, `alter database ${templateName} allow_connections false`)
  return server
}
