// Answers requests: probes and the API description, pages, then the routes.
import { productVersion, versionOf } from '@svc/schemas'
import { createAuthentication } from './access/authentication.js'
import type { AccessParts } from './access/parts.js'
import type { WaitingEngines } from './agents/waiting-engines.js'
import { builtCommit } from './commit.js'
import { type Config, isLoopback } from './config.js'
import { createApi } from './dashboard/api.js'
import { pages, showProblem } from './dashboard/pages.js'
import { createConcurrencyLimits } from './db/concurrency.js'
import type { GitRoom } from './git/room.js'
import { healthRouter, type Meters } from './health.js'
import { createApp } from './http/app.js'
import { ownHostOnly } from './http/client.js'
import { docsRouter } from './http/docs.js'
import type { ActionRoom } from './incidents/actions/room.js'
import { createArrivalOrder } from './ingest/otlp/arrival-order.js'
import { createPace } from './ingest/pace.js'
import type { Ingest } from './ingest/write-queue.js'
import type { Queue } from './jobs/jobs.js'
import type { Log } from './log/parts.js'
import type { ReportRoom } from './reports/room.js'
import type { Room } from './room.js'
import { routes } from './routes.js'

interface Handling {
  readonly config: Config
  readonly access: AccessParts
  readonly waiting_engines: WaitingEngines
  readonly operator: { readonly operator_org: string; readonly operator_token: string }
  readonly meters: Meters
  readonly ingest: Ingest
  readonly log: Log
  readonly queue: Queue
  readonly git: GitRoom
  readonly reports: ReportRoom
  readonly actions: ActionRoom
  readonly above: Room
}

/** Large requests of spans of one organization that are taken at once: one of 20 MiB takes 300 MB of memory. */
const maxConversions = 2

export function requestHandler({ config, access, waiting_engines, operator, meters, ...rooms }: Handling) {
  const { ingest, log, queue, git, reports, actions, above } = rooms
  const { clock, logger, limits } = access
  const { public_url, trusted_proxies } = config
  const version = versionOf('API')
  const { authenticate, identify } = createAuthentication(access, operator)
  const { meter } = meters
  const health = healthRouter({
    ...access,
    ...meters,
    counted: [meters.process_meter, meter, ingest, waiting_engines],
    sources: [queue.metrics, log.metrics, actions.metrics],
    version: productVersion,
    commit: builtCommit(),
    rejected: log.rejected,
    jobs: queue,
    folders: [config.data_dir, config.log_key_dir, config.archive_dir],
    identify,
  })
  const served = [...routes, ...above.routes]
  const parts = {
    ...access,
    ingest,
    span_order: createArrivalOrder(),
    pace: createPace(),
    conversions: createConcurrencyLimits(maxConversions),
    evaluated: meter.evaluated,
    log: log.identity,
    bundles: log.bundles,
    retention: log.retention,
    ...git.parts,
    ...reports.parts,
    ...actions.parts,
    jobs: queue,
    waiting_engines,
    announceChange: waiting_engines.announceChange,
    policy_ttl_seconds: config.policy_ttl_seconds,
    task_timeout_seconds: config.task_timeout_seconds,
  }
  const sends_mail = config.smtp_url !== null
  const api = createApi(served, parts)
  const pageParts = { ...access, api, authenticate, public_url, sends_mail, send: queue.send }
  return createApp({
    clock,
    logger,
    meter,
    trusted_proxies,
    public_url,
    limits,
    authenticate,
    pages: [...(isLoopback(config) ? [ownHostOnly()] : []), health, docsRouter(served, version), ...pages(pageParts)],
    routes: served,
    parts,
    showProblem,
  })
}
