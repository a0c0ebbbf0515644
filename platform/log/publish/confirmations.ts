// A process without the signing key adds to logs only after a process with the key has compared them with the signed
// checkpoints: it cannot notice by itself that an older backup was restored (docs/adr/0066-processes-without-the-key.md).
import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import type { Logger } from 'pino'
import { type Database, withUnscopedTransaction } from '../../db/db.js'
import { startIntervalWorker } from '../../jobs/interval-worker.js'
import { reportFailures } from './failures.js'
import {
  askUnscoped,
  confirmUnscoped,
  openQuestionsUnscoped,
  renewUnscoped,
  withdrawUnscoped,
} from './store/confirmations.js'

interface Parts {
  readonly db: Database
  readonly logger: Logger
}

/** Between two looks for open questions, ms; a start of a process without the key waits this long. */
const answerMs = 500
/** Between two renewals, ms: a backup that is younger can be restored unnoticed while this process runs. */
const renewMs = 2000
/** The maximum wait of a start for the confirmation, ms; then it continues without taking entries. */
const maxStartMs = 5000

const waiting =
  'no process with the signing key has compared the logs with the signed checkpoints since this process started or a ' +
  'backup was restored: start a process whose `SVC_LOG_KEY_DIR` holds that key. If the key is lost, set ' +
  '`SVC_LOG_KEY_LOST=1` here, to take entries that no checkpoint covers'

interface Closable {
  readonly close: () => Promise<void>
}

/** Answers questions, in a process with the key; `compare` compares every log with its signed checkpoints. */
export function startAnswering({ db, logger }: Parts, compare: () => Promise<void>): Closable {
  const failures = reportFailures(logger, 'logs could not be confirmed')
  const run = async () => {
    const ids = await withUnscopedTransaction(db, openQuestionsUnscoped)
    failures.ended()
    if (ids.length === 0) return
    await compare()
    await withUnscopedTransaction(db, (tx) => confirmUnscoped(tx, ids))
  }
  return startIntervalWorker(answerMs, run, failures.failed)
}

/** Holds this process until the logs are confirmed. Resolves then, or after some seconds. */
export async function startAsking({ db, logger }: Parts): Promise<Closable> {
  const { gate } = db
  let id: string = randomUUID()
  const ask = async () => {
    gate.held = waiting
    id = randomUUID()
    await withUnscopedTransaction(db, (tx) => askUnscoped(tx, id))
  }
  const renew = async () => {
    const renewed = await withUnscopedTransaction(db, (tx) => renewUnscoped(tx, id, randomUUID()))
    if (renewed === null) {
      await ask()
      logger.error(`this process takes no entries, because ${waiting}`)
      return
    }
    id = renewed.id
    if (!renewed.is_confirmed || gate.held === null) return
    gate.held = null
    logger.info('a process with the signing key has confirmed the logs: this process takes entries')
  }
  await ask()
  for (const end = Date.now() + maxStartMs; gate.held !== null && Date.now() < end; ) {
    await setTimeout(answerMs / 2)
    await renew()
  }
  if (gate.held !== null) logger.error(`this process takes no entries, because ${waiting}`)
  const failures = reportFailures(logger, 'the confirmation of the logs could not be renewed')
  const worker = startIntervalWorker(renewMs, () => renew().then(failures.ended), failures.failed)
  const close = async () => {
    await worker.close()
    await withUnscopedTransaction(db, (tx) => withdrawUnscoped(tx, id)).catch(() => undefined)
  }
  return { close }
}
