// Sends what a spool holds, oldest first, until it has arrived; no step waits for it.
import type { Spool } from './spool.js'

/** What became of lines that were sent together. */
export type Delivery =
  /** They have arrived; `problems` names those that the receiver does not take. */
  | { readonly kind: 'delivered'; readonly problems: readonly string[] }
  /** The receiver rejects them for good, at least one of them. */
  | { readonly kind: 'rejected'; readonly problem: string }
  /** Later it may succeed; `retry_after` is the wait that the receiver asks for, ms. */
  | { readonly kind: 'failed'; readonly problem: string; readonly retry_after: number | null }

export interface SenderParts {
  readonly spool: Spool
  /** Never rejects. */
  readonly deliver: (lines: readonly string[], signal: AbortSignal) => Promise<Delivery>
  /** What the lines are, such as `incidents`. */
  readonly noun: string
  /** From 0 to before 1. */
  readonly random: () => number
  readonly report: (line: string) => void
}

export interface Sender {
  readonly send: (line: string) => void
  /** Sends what it can in a short time; the rest stays in the spool for the next start. */
  readonly close: () => Promise<void>
}

const maxLines = 100
/** A request of the platform may have 8 MiB; other receivers take less. */
const maxChars = 512 * 1024
const firstRetryMs = 500
const maxRetryMs = 60_000
/** How long the last lines may delay the end of the program. */
const stopTimeoutMs = 2_000

export function startSender(parts: SenderParts): Sender {
  const { spool, report, noun } = parts
  const stopping = new AbortController()
  const closing = new AbortController()
  let sending: Promise<void> | null = null
  let dropped = 0
  const start = () => {
    sending ??= sendAll(parts, stopping.signal, closing.signal).finally(() => {
      sending = null
      if (spool.size() > 0 && !closing.signal.aborted) later()
    })
  }
  // The answer to the step leaves first.
  const later = () => void setImmediate(start)
  if (spool.size() > 0) later()
  return {
    send: (line) => {
      if (spool.add(line)) {
        if (dropped > 0) report(`${dropped} ${noun} were dropped while too many waited to be sent`)
        dropped = 0
        later()
        return
      }
      if (dropped === 0) report(`${noun} are dropped: ${spool.size()} wait to be sent, the maximum`)
      dropped += 1
    },
    close: async () => {
      closing.abort()
      const timer = setTimeout(() => stopping.abort(), stopTimeoutMs)
      await sending
      if (spool.size() > 0) await sendAll(parts, stopping.signal, closing.signal)
      clearTimeout(timer)
      const left = spool.size()
      if (left > 0) report(`${left} ${noun} are not sent yet; the next start sends them`)
      spool.close()
    },
  }
}

/** Sends until the spool is empty; after a failure it waits, and ends once `closing` is aborted. Reports each problem once. */
async function sendAll(
  { spool, deliver, random, report, noun }: SenderParts,
  stopping: AbortSignal,
  closing: AbortSignal,
): Promise<void> {
  const reported = new Set<string>()
  const reportOnce = (line: string) => {
    if (!reported.has(line)) report(line)
    reported.add(line)
  }
  let failures = 0
  let count = maxLines
  while (spool.size() > 0 && !stopping.aborted) {
    const lines = spool.first(count, maxChars)
    const delivery = await deliver(lines, stopping)
    if (delivery.kind === 'failed') {
      if (closing.aborted) return
      reportOnce(`${delivery.problem}; ${noun} are kept and sent later`)
      failures += 1
      await pause(waitAfter(failures, delivery.retry_after, random()), closing)
      continue
    }
    if (delivery.kind === 'rejected' && lines.length > 1) {
      // One of them is rejected: smaller parts find it.
      count = Math.ceil(lines.length / 2)
      continue
    }
    for (const problem of delivery.kind === 'rejected' ? [delivery.problem] : delivery.problems) reportOnce(problem)
    spool.remove(lines.length)
    count = Math.min(maxLines, count * 2)
    failures = 0
  }
}

/** ms; the wait doubles with each failure in a row. */
function waitAfter(failures: number, retry_after: number | null, random: number): number {
  const backoff = Math.min(maxRetryMs, firstRetryMs * 2 ** Math.min(failures - 1, 10)) * (0.8 + 0.2 * random)
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
