// Health, liveness, readiness and metrics. They also answer while the database is unavailable.

import { loadavg } from 'node:os'
import type { Liveness, PlatformHealth, PlatformReadiness } from '@svc/schemas'
import { type Request, type Response, Router } from 'express'
import type { Resources } from './db/db.js'
import { lastMigration } from './db/migrations/index.js'
import { PlatformError } from './errors.js'
import { networkOf } from './http/client.js'
import type { Meter } from './http/meter.js'
import type { Authentication } from './http/principal.js'
import type { Jobs } from './jobs/jobs.js'

interface HealthParts extends Resources {
  readonly meter: Meter
  readonly version: string
  /** ms since 1970. */
  readonly started_at: number
  /** Why checkpoints are rejected, by organization. */
  readonly rejected: ReadonlyMap<string, string>
  readonly jobs: Pick<Jobs, 'isRunning'>
  readonly identify: Authentication['identify']
}

export function healthRouter(parts: HealthParts): Router {
  const router = Router()
  const probe = createProbe(parts)
  router.get('/health', async (request: Request, response: Response) => {
    const [probed, isKnown] = await Promise.all([probe(), hasCredential(parts, request)])
    const health = healthOf(parts, probed, isKnown)
    answer(response, health.status === 'ok' ? 200 : 503, health)
  })
  router.get('/livez', (_request: Request, response: Response) => {
    answer(response, 200, { status: 'ok' } satisfies Liveness)
  })
  router.get('/readyz', async (_request: Request, response: Response) => {
    const { connected } = await probe()
    // Entries are still accepted while checkpoints are rejected: rejecting entries would lose evidence.
    const checkpoints = parts.rejected.size === 0 ? 'ok' : 'refused'
    const jobs = { running: parts.jobs.isRunning() }
    const status = connected && checkpoints === 'ok' && jobs.running ? 'ok' : 'degraded'
    answer(response, connected ? 200 : 503, { status, checkpoints, jobs } satisfies PlatformReadiness)
  })
  router.get('/metrics', (_request: Request, response: Response) => {
    const { meter, clock, started_at } = parts
    const text = meter.text({ uptime_seconds: (clock() - started_at) / 1000, rss: process.memoryUsage.rss() })
    response.setHeader('cache-control', 'no-store')
    response.type('text/plain; version=0.0.4; charset=utf-8').send(text)
  })
  return router
}

function answer(response: Response, status: number, body: object): void {
  response.setHeader('cache-control', 'no-store')
  response.status(status).json(body)
}

/** Whether the request has a valid credential of any kind; an invalid one counts as none. */
async function hasCredential({ identify }: HealthParts, request: Request): Promise<boolean> {
  const { authorization } = request.headers
  if (authorization === undefined) return false
  const sender = { authorization, cookie: undefined, csrf: undefined, changes: false, network: networkOf(request) }
  try {
    return (await identify(sender)) !== null
  } catch (error) {
    // After too many invalid credentials, or without a database, the caller still gets the public health.
    if (error instanceof PlatformError) return false
    throw error
  }
}

interface Probed {
  readonly connected: boolean
  readonly latency_ms: number | null
  readonly migration: string | null
}

/** How long one answer of the database is reused, ms. */
const maxAgeMs = 1000

/** Queries the database at most once per `maxAgeMs`. */
function createProbe({ db, clock }: Resources): () => Promise<Probed> {
  let last: { readonly at: number; readonly probed: Promise<Probed> } | null = null
  const ask = async (started: number): Promise<Probed> => {
    try {
      const migration = await lastMigration(db)
      return { connected: true, latency_ms: Math.max(0, clock() - started), migration }
    } catch {
      return { connected: false, latency_ms: null, migration: null }
    }
  }
  return () => {
    const now = clock()
    if (last === null || Math.abs(now - last.at) >= maxAgeMs) last = { at: now, probed: ask(now) }
    return last.probed
  }
}

/** The public health; for callers with a credential also the versions. */
function healthOf(parts: HealthParts, { connected, latency_ms, migration }: Probed, isKnown: boolean): PlatformHealth {
  const { rss, heapUsed } = process.memoryUsage()
  const { db, clock, started_at, version } = parts
  return {
    status: connected ? 'ok' : 'degraded',
    ...(isKnown && { version }),
    uptime_seconds: (clock() - started_at) / 1000,
    system: { rss, heap: heapUsed, load: loadavg()[0] ?? 0, ...(isKnown && { node: process.version }) },
    database: { connected, latency_ms, ...(isKnown && { kind: db.kind, migration }) },
  }
}
