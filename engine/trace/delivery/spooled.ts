// Lines that wait on disk until a receiver takes them.
import { type JournalLimits, openJournal, type Spool } from '../journal/journal.js'
import { keepRejected } from './rejected-lines.js'
import { type Delivery, type Sender, startSender } from './sender.js'

export interface SpooledParts {
  /** The folder of the queue is `name` below it. */
  readonly folder: string
  readonly name: string
  /** The kind of the lines, such as `incidents`. */
  readonly noun: string
  readonly limits: JournalLimits
  /** Of a request. */
  readonly max_lines: number
  /** Never rejects. */
  readonly deliver: (lines: readonly Buffer[], signal: AbortSignal) => Promise<Delivery>
  /** Called when lines have left the queue. */
  readonly onRoom?: () => void
  readonly report: (line: string) => void
}

const mebibyte = 1024 * 1024

/** Of a queue of some hours of an outage, of which nothing is kept that has arrived. */
export function spoolOf(max_bytes: number): JournalLimits {
  return { max_bytes, reserved_bytes: 0, kept_bytes: 0, file_bytes: mebibyte }
}

/** A queue on disk and the sender that empties it. */
export function spooled({ folder, name, limits, onRoom = () => undefined, ...parts }: SpooledParts) {
  const { report } = parts
  const spool = openJournal(folder, name, limits, report)
  const sender = startSender({
    ...parts,
    spool,
    reject: keepRejected(spool.folders[0] ?? null, Date.now, report),
    onRoom,
    // A platform takes 8 MiB in a request, other receivers less.
    max_bytes: mebibyte / 2,
    clock: Date.now,
    random: Math.random,
  })
  return { spool, sender }
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
