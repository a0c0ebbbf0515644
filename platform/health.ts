// Health, liveness, readiness and metrics. They also answer while the database is unavailable.

import { loadavg } from 'node:os'
import type { Liveness, PlatformHealth, PlatformReadiness } from '@svc/schemas'
import { type Request, type Response, Router } from 'express'
import { type Database, isDiskFull, type Resources, withUnscopedTransaction } from './db/db.js'
import { lastMigration } from './db/migrations/index.js'
import { isAnyFull } from './db/outage.js'
import { PlatformError } from './errors.js'
import { networkOf } from './http/client.js'
import { cachedSource, expositionOf, gauge, type Metric, type MetricSource } from './http/exposition.js'
import { createMeter, type Meter } from './http/meter.js'
import type { Authentication } from './http/principal.js'
import { type ProcessMeter, startProcessMeter } from './http/process-metrics.js'
import type { Queue } from './jobs/jobs.js'
import { isAnyHeldUnscoped } from './log/publish/store/checkpoints.js'

export interface Meters {
  readonly meter: Meter
  readonly process_meter: ProcessMeter
  /** ms since 1970. */
  readonly started_at: number
  /** Aborted when the platform begins to stop. */
  readonly stopping: AbortController
}

export function openMeters(db: Database, started_at: number): Meters {
  const stopping = new AbortController()
  return {
    meter: createMeter(),
    process_meter: startProcessMeter(db, started_at, stopping.signal),
    started_at,
    stopping,
  }
}

interface HealthParts extends Resources, Pick<Meters, 'started_at' | 'stopping'> {
  /** The counters that this process keeps in memory. */
  readonly counted: readonly { readonly metrics: () => readonly Metric[] }[]
  /** The metrics that it reads for a scrape. */
  readonly sources: readonly MetricSource[]
  readonly version: string
  /** The commit that was built; null when that is not known. */
  readonly commit: string | null
  /** Why checkpoints are rejected, by organization. */
  readonly rejected: ReadonlyMap<string, string>
  readonly jobs: Pick<Queue, 'isRunning'>
  /** The folders that must have space. */
  readonly folders: readonly string[]
  readonly identify: Authentication['identify']
}

export function healthRouter(parts: HealthParts): Router {
  const router = Router()
  const probe = createProbe(parts)
  router.get('/health', async (request: Request, response: Response) => {
    const [probed, isKnown] = await Promise.all([probe(), hasCredential(parts, request)])
    const health = healthOf(parts, probed, isKnown)
    answer(response, '/health', health.status === 'ok' ? 200 : 503, health)
  })
  // Liveness never asks the database: a restart of the process would not mend it.
  router.get('/livez', (_request: Request, response: Response) => {
    answer(response, '/livez', 200, { status: 'ok' } satisfies Liveness)
  })
  router.get('/readyz', async (_request: Request, response: Response) => {
    const readiness = readinessOf(parts, await probe())
    answer(response, '/readyz', readiness.not_ready.length === 0 ? 200 : 503, readiness)
  })
  const exposition = createExposition(parts, probe)
  router.get('/metrics', async (request: Request, response: Response) => {
    const text = await exposition(await hasCredential(parts, request))
    response.locals.route = '/metrics'
    response.setHeader('cache-control', 'no-store')
    response.type('text/plain; version=0.0.4; charset=utf-8').send(text)
  })
  return router
}

function readinessOf(
  { rejected, jobs, stopping, db }: HealthParts,
  { connected, is_held, is_full }: Probed,
): PlatformReadiness {
  const running = jobs.isRunning()
  const waitsFor = {
    stopping: stopping.signal.aborted,
    database: !connected,
    disk: is_full,
    jobs: !running,
    log: is_held || db.gate.held !== null,
  }
  const not_ready = (['stopping', 'database', 'disk', 'jobs', 'log'] as const).filter((name) => waitsFor[name])
  // Entries are accepted while checkpoints are rejected, unless a log is held: rejecting entries would lose evidence.
  const checkpoints = rejected.size === 0 ? 'ok' : 'refused'
  const status = not_ready.length === 0 && checkpoints === 'ok' ? 'ok' : 'degraded'
  return { status, not_ready, checkpoints, jobs: { running } }
}

/** The text of /metrics; for a caller with a credential also the versions, as in `/health`. */
function createExposition(parts: HealthParts, probe: () => Promise<Probed>) {
  const { counted, sources, rejected, jobs, version, db } = parts
  const cached = sources.map((source) => cachedSource(source, () => performance.now()))
  return async (isKnown: boolean) => {
    const [{ connected }, ...read] = await Promise.all([probe(), ...cached.map((source) => source())])
    const labels = { version, node: process.version, database: db.kind }
    const build: Metric = {
      name: 'svc_build_info',
      type: 'gauge',
      help: 'Always 1, with the versions.',
      samples: [{ labels, value: 1 }],
    }
    return expositionOf([
      ...(isKnown ? [build] : []),
      gauge('svc_database_up', 'Whether the database answers.', connected ? 1 : 0),
      gauge('svc_jobs_running', 'Whether jobs run.', jobs.isRunning() ? 1 : 0),
      gauge('svc_log_rejected', 'Logs whose checkpoints are rejected.', rejected.size),
      ...counted.flatMap(({ metrics }) => metrics()),
      ...read.flat(),
    ])
  }
}

function answer(response: Response, path: string, status: number, body: object): void {
  response.locals.route = path
  response.setHeader('cache-control', 'no-store')
  response.status(status).json(body)
}

/** True if the request has a valid credential of any kind; an invalid one counts as none. */
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
  /** True if a log takes no entries. */
  readonly is_held: boolean
  /** True if the disk of the database or of a folder of this process is full. */
  readonly is_full: boolean
}

/** The time in which one answer of the database is reused, ms. */
const maxAgeMs = 1000

/** Queries the database at most once per `maxAgeMs`. */
function createProbe({ db, clock, folders }: Pick<HealthParts, 'db' | 'clock' | 'folders'>): () => Promise<Probed> {
  let last: { readonly at: number; readonly probed: Promise<Probed> } | null = null
  const ask = async (started: number): Promise<Probed> => {
    const isFolderFull = isAnyFull(folders)
    try {
      const migration = await lastMigration(db)
      const latency_ms = Math.max(0, clock() - started)
      const is_held = await withUnscopedTransaction(db, isAnyHeldUnscoped)
      const isFull = await isDiskFull(db)
      return { connected: true, latency_ms, migration, is_held, is_full: isFull || (await isFolderFull) }
    } catch {
      const is_full = db.outage.isDiskFull() || (await isFolderFull)
      return { connected: false, latency_ms: null, migration: null, is_held: false, is_full }
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
  const { db, clock, started_at, version, commit } = parts
  return {
    status: connected ? 'ok' : 'degraded',
    ...(isKnown && { version, commit }),
    uptime_seconds: (clock() - started_at) / 1000,
    system: { rss, heap: heapUsed, load: loadavg()[0] ?? 0, ...(isKnown && { node: process.version }) },
    database: { connected, latency_ms, ...(isKnown && { kind: db.kind, migration }) },
  }
}
