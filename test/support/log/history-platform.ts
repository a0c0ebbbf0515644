// Workspaces whose whole histories tests play through the commands of the platform, on one embedded database: each has a clock and
// a signing key, so that a year of one takes no time of another.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Task, TaskTable } from '@svc/engine'
import { readConfig } from '@svc/platform'
import { pino } from 'pino'
import { makeWorkspace } from '../../../platform/access/commands/make-workspace.js'
import { createRulebook } from '../../../platform/agents/rulebook.js'
import { type Database, openDatabase, withTransaction, withUnscopedTransaction } from '../../../platform/db/db.js'
import { migrate } from '../../../platform/db/migrations/index.js'
import { type Scope, scopeOf } from '../../../platform/db/scope.js'
import type { KeyIdentity } from '../../../platform/http/principal.js'
import { createPace } from '../../../platform/ingest/pace.js'
import { createPartitions } from '../../../platform/ingest/partitions.js'
import { createIngest, type Ingest } from '../../../platform/ingest/write-queue.js'
import type { Send } from '../../../platform/jobs/job.js'
import { type Bundles, createBundles } from '../../../platform/log/bundle/bundles.js'
import { publishCheckpoint } from '../../../platform/log/publish/publish.js'
import { type LogSigner, openSigner } from '../../../platform/log/publish/signer.js'
import { createRetention, type Retention } from '../../../platform/log/retention/retention.js'
import { createManifestReader } from '../../../platform/policies/manifest-reader.js'
import { readReport } from '../../../platform/reports/collect/make-report.js'
import { encryptionKeys } from '../../../platform/secrets/encryption-key.js'
import { createSealer, type Sealer } from '../../../platform/secrets/seal.js'

export interface HistoryPlatform {
  readonly db: Database
  readonly newWorkspace: (begin: number) => Promise<HistoryWorkspace>
  readonly close: () => Promise<void>
}

export interface HistoryWorkspace {
  readonly db: Database
  readonly scope: Scope
  readonly key: KeyIdentity
  /** ms since 1970 */
  readonly clock: () => number
  readonly wait: (ms: number) => void
  readonly ingest: Ingest
  readonly manifests: ReturnType<typeof createManifestReader>
  readonly sealer: Sealer
  readonly send: Send
  readonly signer: LogSigner
  /** The folder of the signing keys. */
  readonly keys: string
  readonly log_host: string
  readonly bundles: Bundles
  readonly retention: Retention
  /** Signs every entry; returns the size of the log. */
  readonly publish: () => Promise<number>
  readonly query: <Row>(text: string, values?: readonly unknown[]) => Promise<Row[]>
}

const log_host = 'log.example'
const key: KeyIdentity = { key_id: 'key_test', first_key_hash: new Uint8Array(32), scopes: [] }

export async function openHistoryPlatform(): Promise<HistoryPlatform> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-histories-'))
  const config = readConfig({ SVC_DATA_DIR: folder }).value
  const db = await openDatabase(config)
  await migrate(db)
  const sealer = createSealer(encryptionKeys(config))
  const opened: Ingest[] = []
  return {
    db,
    newWorkspace: async (begin) => {
      const workspace = await openWorkspace({ db, sealer, folder, begin, number: opened.length })
      opened.push(workspace.ingest)
      return workspace
    },
    close: async () => {
      for (const ingest of opened) await ingest.close()
      await db.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

interface Opening {
  readonly db: Database
  readonly sealer: Sealer
  readonly folder: string
  readonly begin: number
  readonly number: number
}

async function openWorkspace({ db, sealer, folder, begin, number }: Opening): Promise<HistoryWorkspace> {
  let now = begin
  const clock = () => now++
  const org_id = await withUnscopedTransaction(db, (tx) =>
    makeWorkspace(tx, now, `Workspace ${number}`, null, async () => undefined),
  )
  const scope = scopeOf(org_id, { kind: 'operator', id: 'local' })
  const keys = join(folder, 'keys', org_id)
  const signer = openSigner(keys, clock)
  const logger = pino({ level: 'silent' })
  const { signManifest, everyVerifierOf, epochOf } = signer
  const signedSize = (origin: string) => signer.last(origin)?.size ?? 0
  const keysOf = (org: string) => signer.keysOf(log_host, org)
  const bundles = createBundles({ db, clock, log_host, signManifest, readReport, signedSize, keysOf })
  const archive = { archive_dir: join(folder, 'archive'), archive_entries: 250_000 }
  const retention = createRetention({ db, clock, logger, bundles, log_host, everyVerifierOf, epochOf, ...archive })
  return {
    ...{ db, scope, key, clock, sealer, signer, keys, log_host, bundles, retention, send: async () => undefined },
    wait: (ms) => {
      now += ms
    },
    ingest: openIngest(db, clock, sealer),
    manifests: createManifestReader(10),
    publish: async () => {
      for (;;) {
        const { checkpoint, is_last } = await publishCheckpoint({ db, signer, clock, log_host }, scope)
        if (is_last) return checkpoint.size
      }
    },
    query: (text, values) => withTransaction(db, scope, (tx) => tx.query(text, values)),
  }
}

function openIngest(db: Database, clock: () => number, sealer: Sealer): Ingest {
  const parts = {
    ...{ db, clock, sealer, send: async () => undefined },
    committed: () => undefined,
    remark: () => undefined,
    rulebook: createRulebook(100),
    tasks: new TaskTable<Task>({ maxTasks: 100 }),
    partitions: createPartitions(),
    pace: createPace(),
  }
  return createIngest(parts, (error) => {
    throw error
  })
}
