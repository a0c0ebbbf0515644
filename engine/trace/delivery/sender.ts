// Sends what a spool holds, oldest first, until it has arrived; no step waits for it.
import type { Spool } from '../journal/journal.js'

/** A line that the receiver does not take, now or later. */
export interface Rejection {
  /** Its index among the lines that were sent together. */
  readonly line: number
  /** For the log of the operator: without payloads. */
  readonly problem: string
  /** The answer of the receiver, which may quote the line. */
  readonly detail: string
}

export interface RejectedLine extends Rejection {
  readonly bytes: Buffer
}

/** The results of lines that were sent together. */
export type Delivery =
  /** The first `taken` lines need not be sent again; `later` is why the others must. */
  | {
      readonly kind: 'delivered'
      readonly taken: number
      readonly rejected: readonly Rejection[]
      readonly later: Failure | null
    }
  /** The receiver rejects them for good, at least one of them. */
  | ({ readonly kind: 'rejected' } & Pick<Rejection, 'problem' | 'detail'>)
  | ({ readonly kind: 'failed' } & Failure)

/** Later it may succeed. */
export interface Failure {
  readonly problem: string
  /** The wait that the receiver asks for, ms. */
  readonly retry_after: number | null
  /** Nothing answered: the receiver may be back at any moment. */
  readonly is_away: boolean
}

export interface SenderParts {
  readonly spool: Spool
  /** Never rejects. */
  readonly deliver: (lines: readonly Buffer[], signal: AbortSignal) => Promise<Delivery>
  /** Receives the lines of a delivery that were rejected for good; never throws. */
  readonly reject: (rejected: readonly RejectedLine[]) => void
  /** Called when lines have left the spool. */
  readonly onRoom: () => void
  /** The kind of the lines, such as `incidents`. */
  readonly noun: string
  readonly max_lines: number
  readonly max_bytes: number
  readonly clock: () => number
  /** From 0 to before 1. */
  readonly random: () => number
  readonly report: (line: string) => void
}

export interface SenderStatus {
  readonly sent: number
  readonly rejected: number
  /** Null after a success. */
  readonly last_problem: string | null
  /** ms since 1970 */
  readonly last_sent_at: number | null
  /** ms since 1970; no line that waits and was not read yet is older. Null when all were read. */
  readonly unread_since: number | null
}

export interface Sender {
  /** Sends the lines that were added to the spool. */
  readonly wake: () => void
  readonly status: () => SenderStatus
  /** Sends what it can in a short time; the rest stays in the spool for the next start. */
  readonly close: () => Promise<void>
}

const firstRetryMs = 500
const maxRetryMs = 60_000
/** While nothing answers: what waits is sent soon after the receiver is back. */
const maxAwayMs = 15_000
/** From a delivery to the next one, while less than a full one waits: a request for every few lines would cost more than they do. */
const gatherMs = 50
/** The longest delay of the end of the program by the last lines. */
const stopTimeoutMs = 2_000

export function startSender(parts: SenderParts): Sender {
  const { spool, report, noun } = parts
  const stopping = new AbortController()
  const closing = new AbortController()
  const status: SenderStatus = { sent: 0, rejected: 0, last_problem: null, last_sent_at: null, unread_since: null }
  const state: SenderState = { ...status, failures: 0, gather_until: 0 }
  let sending: Promise<void> | null = null
  const start = () => {
    sending ??= sendAll(parts, state, stopping.signal, closing.signal).finally(() => {
      sending = null
      if (spool.size() > 0 && !closing.signal.aborted) wake()
    })
  }
  // The answer to the step leaves first.
  const wake = () => {
    state.unread_since ??= parts.clock()
    if (sending === null && !closing.signal.aborted) setImmediate(start)
  }
  if (spool.size() > 0) wake()
  return {
    wake,
    status: () => state,
    close: async () => {
      closing.abort()
      const timer = setTimeout(() => stopping.abort(), stopTimeoutMs)
      await sending
      if (spool.size() > 0) await sendAll(parts, state, stopping.signal, closing.signal)
      clearTimeout(timer)
      const left = spool.size()
      if (left > 0)
        report(
          `${left} ${noun} are not sent yet; ${spool.isDurable() ? 'the next start with the same location sends them' : 'those that are not on disk are lost'}`,
        )
      await spool.close()
    },
  }
}

type SenderState = { -readonly [K in keyof SenderStatus]: SenderStatus[K] } & {
  failures: number
  /** On the clock of `performance`. */
  gather_until: number
}

/** Sends until the spool is empty; after a failure it waits, and ends once `closing` is aborted. Reports each problem once. */
async function sendAll(
  parts: SenderParts,
  state: SenderState,
  stopping: AbortSignal,
  closing: AbortSignal,
): Promise<void> {
  const { spool, deliver, random, report, noun, clock } = parts
  const reported = new Set<string>()
  const reportOnce = (line: string) => {
    if (!reported.has(line)) report(line)
    reported.add(line)
  }
  const remove = (lines: readonly Buffer[], taken: number, rejected: readonly Rejection[]) => {
    parts.reject(rejected.map((one) => ({ ...one, bytes: lines[one.line] ?? Buffer.alloc(0) })))
    spool.remove(taken)
    state.rejected += rejected.length
    state.sent += taken - rejected.length
    if (taken === 0) return
    state.failures = 0
    state.last_sent_at = clock()
    parts.onRoom()
  }
  let count = parts.max_lines
  while (spool.size() > 0 && !stopping.aborted) {
    const gathering = state.gather_until - performance.now()
    if (gathering > 0 && spool.size() < count) await pause(gathering, closing)
    const waiting = spool.size()
    const lines = await readFirst(parts, state, count)
    const delivery = typeof lines === 'string' ? unread(lines) : await deliver(lines, stopping)
    // Long lines fill a delivery before they are many.
    const is_full = lines.length < Math.min(count, waiting)
    state.gather_until = is_full ? 0 : performance.now() + gatherMs
    if (delivery.kind === 'rejected' && lines.length > 1) {
      // One of them is rejected: smaller parts find it.
      count = Math.ceil(lines.length / 2)
      continue
    }
    if (typeof lines !== 'string' && delivery.kind === 'rejected') remove(lines, 1, [{ line: 0, ...delivery }])
    if (typeof lines !== 'string' && delivery.kind === 'delivered') remove(lines, delivery.taken, delivery.rejected)
    const failure = failureIn(delivery)
    if (failure === null) {
      if (state.last_problem !== null) report(`${noun} are being sent again`)
      if (state.last_problem !== null) reported.clear()
      state.last_problem = null
      count = Math.min(parts.max_lines, count * 2)
      continue
    }
    if (closing.aborted) return
    state.last_problem = failure.problem
    reportOnce(`${failure.problem}; ${noun} are kept and sent later`)
    state.failures += 1
    await pause(waitAfter(state.failures, failure, random()), closing)
  }
}

/** The problem as text when the disk cannot be read. */
async function readFirst(
  { spool, max_bytes, noun }: SenderParts,
  state: SenderState,
  count: number,
): Promise<readonly Buffer[] | string> {
  const { unread_since } = state
  state.unread_since = null
  const notRead = (problem: string) => {
    state.unread_since = unread_since ?? state.unread_since
    return problem
  }
  try {
    const lines = await spool.first(count, max_bytes)
    return lines.length > 0 || spool.size() === 0 ? lines : notRead(`${noun} are not on disk yet`)
  } catch (error) {
    return notRead(`${noun} cannot be read from disk: ${error instanceof Error ? error.message : String(error)}`)
  }
}

function unread(problem: string): Delivery {
  return { kind: 'failed', problem, retry_after: null, is_away: true }
}

function failureIn(delivery: Delivery): Failure | null {
  if (delivery.kind === 'failed') return delivery
  return delivery.kind === 'delivered' ? delivery.later : null
}

/** ms; the wait doubles with each failure in a row. */
function waitAfter(failures: number, { retry_after, is_away }: Failure, random: number): number {
  const max = is_away ? maxAwayMs : maxRetryMs
  const backoff = Math.min(max, firstRetryMs * 2 ** Math.min(failures - 1, 10)) * (0.8 + 0.2 * random)
  return Math.max(backoff, Math.min(retry_after ?? 0, maxRetryMs))
}

function pause(ms: number, until: AbortSignal): Promise<void> {
  if (until.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      until.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    timer.unref()
    until.addEventListener('abort', done)
  })
}
