// Lines that wait on disk until a receiver takes them; while too many wait, further ones are dropped and reported.
import { openJournal } from '../journal/journal.js'
import type { Spool } from '../journal/spool.js'
import { keepRejected } from './rejected-lines.js'
import { type Delivery, type Sender, startSender } from './sender.js'

const mebibyte = 1024 * 1024
/** The incidents of some hours of an outage; what has arrived is not kept. */
export const spoolLimits = { max_bytes: 16 * mebibyte, reserved_bytes: 0, kept_bytes: 0, file_bytes: mebibyte }
/** A request of the platform takes a hundred incidents; other receivers take less than its 8 MiB. */
const batch = { max_lines: 100, max_bytes: mebibyte / 2 }

export interface SpooledParts {
  /** The folder of the queue is `name` below it. */
  readonly folder: string
  readonly name: string
  /** What the lines are, such as `incidents`. */
  readonly noun: string
  readonly max_bytes: number
  /** Never rejects. */
  readonly deliver: (lines: readonly Buffer[], signal: AbortSignal) => Promise<Delivery>
  readonly report: (line: string) => void
}

export interface Spooled {
  readonly write: (line: string) => void
  readonly spool: ReturnType<typeof openJournal>
  readonly sender: Sender
  readonly dropped: () => number
}

export function spooled({ folder, name, noun, max_bytes, deliver, report }: SpooledParts): Spooled {
  const spool = openJournal(folder, name, { ...spoolLimits, max_bytes }, report)
  const sender = startSender({
    spool,
    deliver,
    reject: keepRejected(spool.folders[0] ?? null, Date.now, report),
    onRoom: () => undefined,
    noun,
    ...batch,
    clock: Date.now,
    random: Math.random,
    report,
  })
  const intake = orDropped(spool, sender, noun, report)
  return { ...intake, spool, sender }
}

/** Adds lines to the spool, or drops them while it is full, which is reported once. */
export function orDropped(spool: Spool, sender: Pick<Sender, 'wake'>, noun: string, report: (line: string) => void) {
  let dropped = 0
  let reported = 0
  return {
    write: (line: string) => {
      if (spool.add(line)) {
        if (dropped > reported) report(`${dropped - reported} ${noun} were dropped while too many waited to be sent`)
        reported = dropped
        sender.wake()
        return
      }
      if (dropped === reported) report(`${noun} are dropped: ${spool.size()} wait to be sent, the maximum`)
      dropped += 1
    },
    dropped: () => dropped,
  }
}
