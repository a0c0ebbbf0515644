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
    response.status(connected ? 200 : 503).json({ status: connected ? 'ok' : 'degraded' })
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
