// Whether the platform works: for people and for load balancers, without a credential.
import { loadavg } from 'node:os'
import type { PlatformHealth } from '@svc/schemas'
import { type Request, type Response, Router } from 'express'
import { lastMigration } from '../migrations/index.js'
import type { Platform } from '../platform.js'

export function healthRouter(platform: Platform): Router {
  const router = Router()
  router.get('/health', async (_request: Request, response: Response) => {
    const health = await healthOf(platform)
    response.status(health.status === 'ok' ? 200 : 503).json(health)
  })
  router.get('/livez', (_request: Request, response: Response) => {
    response.json({ status: 'ok' })
  })
  router.get('/readyz', async (_request: Request, response: Response) => {
    const { connected } = (await healthOf(platform)).database
    const { size } = platform.log.refused
    // Entries are still taken: turning senders away would lose more than it saves.
    const checkpoints = size === 0 ? 'ok' : 'refused'
    const status = connected && size === 0 ? 'ok' : 'degraded'
    response.status(connected ? 200 : 503).json({ status, checkpoints })
  })
  return router
}

async function healthOf({ db, clock, started_at, version }: Platform): Promise<PlatformHealth> {
  const started = clock()
  const migration = await lastMigration(db).catch(() => undefined)
  const connected = migration !== undefined
  const { rss, heapUsed } = process.memoryUsage()
  return {
    status: connected ? 'ok' : 'degraded',
    version,
    uptime_seconds: (clock() - started_at) / 1000,
    system: { rss, heap: heapUsed, load: loadavg()[0] ?? 0, node: process.version },
    database: {
      connected,
      latency_ms: connected ? clock() - started : null,
      kind: db.kind,
      migration: migration ?? null,
    },
  }
}
