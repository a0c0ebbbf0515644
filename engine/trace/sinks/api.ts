// The trace on its way to the platform: every line is in a journal on disk before the step is answered, and is sent from there.
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { requestJson } from '@svc/proof'
import { isoTime } from '@svc/schemas'
import { postTraces, type TracePlatform } from '../delivery/post-traces.js'
import { spooled } from '../delivery/spooled.js'
import { statusOf } from '../delivery/status.js'
import type { Journal } from '../journal/journal.js'
import { apiSpool } from '../journal/other-spools.js'
import { createRecall, type Recall } from '../recall/recall.js'
import { withLogOfPlatform } from '../recall/recall-platform.js'
import { createDroppedSteps, type DroppedSteps, type Gap } from './dropped-steps.js'
import type { Sink, TraceLine } from './sink.js'

const mebibyte = 1024 * 1024
/** Delivered lines that are kept for tasks which are read back. */
const keptBytes = 64 * mebibyte
const fileBytes = 8 * mebibyte
/** For the ends of tasks and for gaps, when the spool is full. */
const reservedBytes = mebibyte

export interface ApiSinkOptions {
  readonly platform: TracePlatform
  /** The data directory. */
  readonly folder: string
  /** The limit of the lines that wait on disk. */
  readonly spool_mib: number
  readonly report: (line: string) => void
}

export function apiSink({ platform, folder, spool_mib, report }: ApiSinkOptions): Sink {
  const { url, agent_key } = platform
  const max_bytes = spool_mib * mebibyte
  const limits = { max_bytes, reserved_bytes: reservedBytes, kept_bytes: keptBytes, file_bytes: fileBytes }
  const spool = join(folder, 'spool')
  const { name } = apiSpool(url, agent_key)
  const { spool: journal, sender } = spooled({
    folder: spool,
    name,
    noun: 'lines of the trace',
    limits,
    max_lines: 500,
    deliver: (lines, signal) => postTraces(platform, lines, signal),
    onRoom: () => intake.onRoom(),
    report,
  })
  reportShared(journal, join(spool, name), report)
  const dropped = createDroppedSteps(journal.folders, randomUUID, journal.noteUnsaved)
  const is_new = journal.position() === 0
  const recall = createRecall(journal.bytes, journal.drain)
  for (const { task_id } of dropped.earlier) recall.noteGap(task_id, journal.position())
  const intake = createIntake({ journal, dropped, recall, onGap: sender.wake, report })
  intake.onRoom()
  return {
    on_stdout: false,
    write: (line) => {
      intake.write(line)
      sender.wake()
    },
    settled: journal.settled,
    recall: withLogOfPlatform(recall, { platform, is_new, elapsed: () => performance.now(), report }),
    flush: journal.flush,
    close: async () => {
      intake.close()
      await sender.close()
    },
    status: () => statusOf(journal, sender, intake.dropped()),
  }
}

/** A folder can be taken over by another engine at the next start, with the histories in it. */
function reportShared({ folders: [own] }: Journal, first: string, report: (line: string) => void): void {
  if (own !== undefined && own !== first)
    report(
      `another engine uses \`${first}\`, so this one uses \`${own}\`: after a restart each may lack the history of running tasks; give each engine its own SVC_DATA_DIR`,
    )
}

interface IntakeParts {
  readonly journal: Journal
  readonly dropped: DroppedSteps
  readonly recall: Recall
  /** Called when gaps are in the journal. */
  readonly onGap: () => void
  readonly report: (line: string) => void
}

/** Accepts lines, or counts the steps of those that do not fit. */
function createIntake({ journal, dropped, recall, onGap, report }: IntakeParts) {
  let is_full = dropped.isPending()
  let count = 0
  let count_before = 0
  const least_room = Math.min(journal.capacity / 16, 8 * mebibyte)
  /** Lines are dropped until there is this much room: otherwise every few lines would be a gap. */
  let resume_bytes = least_room
  let lost = 0
  /** Lines that left the journal without being sent: their tasks are not known. */
  const noteLost = () => {
    const found = journal.lost() - lost
    if (found === 0) return
    lost += found
    dropped.noteLost(found, isoTime(Date.now()))
    recall.noteGap(null, journal.position())
    is_full = true
  }
  const resume = () => {
    noteLost()
    if (!is_full || journal.room() < resume_bytes) return
    dropped.move((gap) => journal.addReserved(gapJson(gap)))
    onGap()
    if (dropped.isPending()) return
    is_full = false
    if (count > count_before)
      report(`the spool has room again: ${count - count_before} lines of the trace were dropped`)
    count_before = count
  }
  const drop = (line: TraceLine, text: string) => {
    // The caller of /end_task gets an error and repeats the request: an acknowledged end must be in the journal.
    if (line.kind === 'end') throw new Error('the spool of the trace is full')
    if (!is_full) {
      report(fullMessage(journal))
      resume_bytes = Math.min(journal.capacity, Math.max(least_room, 2 * text.length))
    }
    is_full = true
    count += 1
    if (line.kind !== 'step') return
    dropped.note(line)
    if (line.task_id !== undefined) recall.noteLost(line.task_id, journal.position())
  }
  return {
    write: (line: TraceLine) => {
      resume()
      const position = journal.position()
      const text = requestJson(line)
      const is_in = line.kind === 'end' ? journal.addReserved(text) : !is_full && journal.add(text)
      if (!is_in) drop(line, text)
      else noteAdded(recall, line, position)
    },
    onRoom: resume,
    /** Lines that are not in the journal then stay in their file. */
    close: dropped.save,
    dropped: () => count + lost,
  }
}

function gapJson(gap: Gap): string {
  return requestJson({ kind: 'gap', recorded_at: isoTime(Date.now()), ...gap })
}

function noteAdded(recall: Recall, line: TraceLine, position: number): void {
  if (line.kind === 'step' && line.task_id !== undefined) recall.noteStep(line.task_id, position)
}

function fullMessage(journal: Journal): string {
  if (journal.roomIn() === 'buffer')
    return 'the disk does not take the trace: new steps are evaluated, and dropped from the trace until it does'
  const size = `${Math.ceil(journal.waiting() / mebibyte)} MiB wait to be sent`
  return `the spool of the trace is full (${size}): new steps are evaluated, and dropped from the trace; see \`trace\` of /health for the problem, or raise SVC_SPOOL_MIB`
}
