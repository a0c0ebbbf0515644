// Makes a report: this thread reads the log in short transactions, another one hashes, tallies and renders.
import { type BundledReading, receiptsOf } from '@svc/proof'
import {
  type Cut,
  type MadeReport,
  type ReportAnswer,
  type ReportData,
  type ReportPlan,
  type ReportWork,
  readingOf,
  readingOfWork,
  type Wanted,
  type WantedForLists,
} from '@svc/report'
import { type LogKey, versionOf } from '@svc/schemas'
import { readGovernance } from '../../agents/read-governance.js'
import type { Database } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { PlatformError } from '../../errors.js'
import { builtFile, startThread } from '../../jobs/thread.js'
import { indexOfTime } from '../../ledger/log-range.js'
import { cutOffOf, publishedIn, type SignedCutOff } from './checkpoint.js'
import { readEntries, recordAt } from './entries-store.js'
import { readOwnTasks, readWorkspace } from './facts-store.js'
import {
  type Feeding,
  feedEarlierIncidents,
  feedEngineStates,
  feedFacts,
  feedLists,
  feedUnfound,
  feedWanted,
  type ReportThread,
  readPeople,
} from './lookups.js'
import { pagesOf, partsOf, type Read, readerOf, subtreeHashes } from './reading.js'
import { readLogBegan } from './tree-store.js'

export interface ReportParts {
  readonly db: Database
  /** Every key that signs or has signed the log of an organization. */
  readonly keysOf: (org_id: string) => readonly LogKey[]
}

export interface ReportOptions {
  readonly signal?: AbortSignal
  /** Receives how much is done, from 0 to 1. */
  readonly progress?: (done: number) => void
  /** Of the objects of the thread, MiB. */
  readonly max_memory?: number
}

/** Measured: 210 MiB for the tally of a million entries with 100,000 incidents, 280 MiB for a PDF with 500 rows in each list. */
const defaultMemory = 320

/**
 * Makes the file of a report. Rejects with CONFLICT when the checkpoint of the plan is not published any more, with TOO_LARGE
 * when the report needs too much memory, and with the reason of the signal.
 */
export async function makeReport(
  parts: ReportParts,
  scope: Scope,
  plan: ReportPlan,
  options: ReportOptions = {},
): Promise<MadeReport> {
  return withTally(parts, scope, plan, options, async (thread) => {
    const answer = await thread.ask({ kind: 'render' })
    return answer as Extract<ReportAnswer, MadeReport>
  })
}

/** The content of a report, as every format is made from it. Rejects like `makeReport`. */
export async function collectReport(
  parts: ReportParts,
  scope: Scope,
  plan: ReportPlan,
  options: ReportOptions = {},
): Promise<ReportData> {
  return withTally(parts, scope, plan, options, async (thread) => {
    const answer = await thread.ask({ kind: 'data' })
    return (answer as { readonly data: ReportData }).data
  })
}

/** Takes the lines of report.jsonl, in order. */
type WriteReading = (reading: BundledReading) => Promise<void>

/**
 * Reads everything that a report reads besides the entries of its period, for its bundle; `log_index` is that of its leaf. Rejects
 * like `makeReport`.
 */
export async function readReport(
  parts: ReportParts,
  scope: Scope,
  { log_index, ...plan }: ReportPlan & { readonly log_index: number },
  write: WriteReading,
): Promise<void> {
  const recorded = { work: (work: ReportWork) => write(readingOfWork(work, log_index)), write }
  await withTally(parts, scope, plan, {}, async () => undefined, recorded)
}

/** The progress once the entries are read, and once everything is. */
const readShare = 0.8
const tallyShare = 0.9

async function withTally<T>(
  { db, keysOf }: ReportParts,
  scope: Scope,
  plan: ReportPlan,
  { signal, progress = nothing, max_memory = defaultMemory }: ReportOptions,
  use: (thread: ReportThread) => Promise<T>,
  recorded: Recorded | null = null,
): Promise<T> {
  const read = readerOf(db, scope, signal ?? null)
  const cut_off = await cutOffOf(read, scope, plan, keysOf(scope.org_id))
  const work = await workOf(read, scope, plan, cut_off)
  await recorded?.work(work)
  const tally: ReportThread = startThread({
    file: builtFile(import.meta.url, 'reports/collect', 'collect-worker.js'),
    name: 'svc-report',
    data: work,
    max_memory,
    signal: signal ?? null,
    failure: (error) => reportFailure(error, max_memory),
  })
  const thread = recorded === null ? tally : recordedThread(tally, recorded)
  try {
    const feeding = { read, scope, thread }
    await feedFacts(feeding)
    await feedEarlierIncidents(feeding, work.scope)
    await feedEntries(feeding, db, work.scope, cut_off.epoch, (share) => progress(share * readShare))
    const wanted = (await thread.ask({ kind: 'wanted' })) as Wanted
    await feedWanted(feeding, wanted, work.scope)
    const lists = (await thread.ask({ kind: 'wanted_for_lists' })) as WantedForLists
    await feedLists(feeding, lists, work.scope)
    await feedUnfound(feeding, work.scope)
    await feedEngineStates(feeding, work.scope)
    await feedGovernance(feeding, plan, cut_off, lists.agents)
    const tables = {
      ...(await read((tx) => readWorkspace(scope, tx))),
      people: await readPeople(feeding, db),
      checkpoints: await publishedIn(read, scope, plan, cut_off.checkpoint.published_at),
    }
    await thread.ask({ kind: 'tables', tables })
    progress(tallyShare)
    const result = await use(thread)
    progress(1)
    return result
  } finally {
    await thread.close()
  }
}

interface Recorded {
  readonly work: (work: ReportWork) => Promise<void>
  readonly write: WriteReading
}

/** Writes what each message reads before the thread gets it, in their order. */
function recordedThread({ ask, close }: ReportThread, { write }: Recorded): ReportThread {
  let last: Promise<unknown> = Promise.resolve()
  return {
    close,
    ask: (message) => {
      const written = last.then(async () => {
        if (message.kind !== 'data' && message.kind !== 'render') await write(readingOf(message))
      })
      last = written.catch(nothing)
      return written.then(() => ask(message))
    },
  }
}

async function workOf(
  read: Read,
  scope: Scope,
  { id, format, period, by, agent_ids, cut_off: size }: ReportPlan,
  { checkpoint, is_signed }: SignedCutOff,
): Promise<ReportWork> {
  const receipts = receiptsOf({ ...period, by })
  const { from, to } = receipts
  const first = await read((tx) => indexOfTime(scope, tx, from, size))
  const end = to === null ? size : Math.max(first, await read((tx) => indexOfTime(scope, tx, to, size)))
  const log_began = await read((tx) => readLogBegan(scope, tx))
  const times = { period, by, as_of: checkpoint.published_at, log_began }
  return {
    head: { id, format, org_id: scope.org_id, ...times, agent_ids, version: versionOf('API') },
    scope: { first, end, cut_off: size },
    receipts,
    checkpoint,
    is_signed,
    left: await subtreeHashes(read, scope, { from: 0, to: first }),
    right: await subtreeHashes(read, scope, { from: end, to: size }),
    own_tasks: agent_ids === null ? null : await read((tx) => readOwnTasks(scope, tx, agent_ids, { first, end })),
  }
}

/** Pages that the thread has not yet answered: more would only fill memory. */
const maxWaiting = 4

async function feedEntries(
  { read, scope, thread }: Feeding,
  db: Database,
  { first, end, cut_off }: Cut,
  epoch: number,
  progress: (share: number) => void,
): Promise<void> {
  const [before, after] = await read(async (tx) => [
    first === 0 ? null : await recordAt(scope, tx, first - 1),
    end === cut_off ? null : await recordAt(scope, tx, end),
  ])
  await thread.ask({ kind: 'neighbours', before: before ?? null, after: after ?? null })
  const waiting: Promise<unknown>[] = []
  for (const range of pagesOf(db.kind, first, end)) {
    const page = await read((tx) => readEntries(scope, tx, range, epoch))
    const answered = thread.ask({ kind: 'entries', page })
    // A rejection is thrown by the `await` of a later round.
    answered.catch(nothing)
    waiting.push(answered)
    if (waiting.length > maxWaiting) await waiting.shift()
    progress((range.to - first) / (end - first))
  }
  await Promise.all(waiting)
}

/** Agents whose governance is read at once. */
const agentsPerRead = 50

async function feedGovernance(
  { read, scope, thread }: Feeding,
  { period: { from, to }, cut_off: size }: ReportPlan,
  { checkpoint: { published_at: at } }: SignedCutOff,
  ids: readonly string[],
): Promise<void> {
  for (const agent_ids of partsOf(ids, agentsPerRead)) {
    const found = await read((tx) => readGovernance(scope, tx, { agent_ids, from, to, cut_off: { size, at } }))
    await thread.ask({ kind: 'governance', agents: [...found] })
  }
}

function reportFailure(error: NodeJS.ErrnoException, max_memory: number): Error {
  if (error.code === 'ERR_WORKER_OUT_OF_MEMORY')
    return new PlatformError(
      'TOO_LARGE',
      `the report needs more than ${max_memory} MiB of memory: choose a shorter period or fewer agents`,
      { cause: error },
    )
  return new Error(`the report could not be made: ${error.message}`, { cause: error })
}

function nothing(): void {}
