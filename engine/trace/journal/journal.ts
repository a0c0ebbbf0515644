// A bounded queue of lines on disk: what cannot be sent yet outlives the process, in the order in which it was added. Memory is
// constant: only the lines that are being sent are read.
import { openCursor, type Position, readCursor } from './cursor.js'
import { type HeldFolder, holdFolder, leftFolders } from './journal-folders.js'
import { createReader } from './journal-reader.js'
import { createWriter, type Writer } from './journal-writer.js'
import { noSegments } from './no-segments.js'
import { endOfSegments, moveSegments, openSegments, type Segments, type TraceBytes } from './segments.js'

/** The queue, as the sender that empties it needs it. */
export interface Spool {
  /** Adds a line of JSON; false when the queue is full. */
  readonly add: (text: string) => boolean
  /** The oldest lines: at most `count`, and of at most `max_bytes` together, but at least one. Rejects when the disk cannot be read. */
  readonly first: (count: number, max_bytes: number) => Promise<readonly Buffer[]>
  /** The oldest line once it was read; null before. */
  readonly oldest: () => Buffer | null
  /** Removes the oldest lines, which `first` has returned. */
  readonly remove: (count: number) => void
  /** Lines. */
  readonly size: () => number
  /** True when the lines outlive the process: they are on disk. */
  readonly isDurable: () => boolean
  /** Writes it to disk and releases its folder. */
  readonly close: () => Promise<void>
}

export interface Journal extends Spool {
  /** As `add`, also into the room that is kept for lines which must not be lost. */
  readonly addReserved: (text: string) => boolean
  /** The offset that the next line will have. */
  readonly position: () => number
  /** Bytes that wait. */
  readonly waiting: () => number
  /** Bytes that `add` accepts. */
  readonly room: () => number
  /** The limit that decides: the bytes that may wait, or the lines that the disk has not taken. */
  readonly roomIn: () => 'spool' | 'buffer'
  /** Bytes that `add` accepts in an empty journal. */
  readonly capacity: number
  /** Everything that is kept, also what has been removed and is not deleted yet. */
  readonly bytes: TraceBytes
  /** Resolves once all lines have left this process or failed to. */
  readonly settled: () => Promise<void>
  /** Resolves once all lines are durable. */
  readonly flush: () => Promise<void>
  /** Lines that were accepted and are gone: another program has removed them, or a process ended while the disk took nothing. */
  readonly lost: () => number
  /** Notes how many steps were dropped and are counted in memory only. */
  readonly noteUnsaved: (steps: number) => void
  /** The reason why the disk takes no lines; null while it does. */
  readonly problem: () => string | null
  /** Writes buffered lines. */
  readonly drain: () => void
  /** Its own, and then those whose lines were taken over; none when the lines are in memory only. */
  readonly folders: readonly string[]
}

export interface JournalLimits {
  /** Bytes that may wait. */
  readonly max_bytes: number
  /** The part of them for `addReserved`. */
  readonly reserved_bytes: number
  /** Removed bytes that are kept, for reading back. */
  readonly kept_bytes: number
  /** Bytes of a file. */
  readonly file_bytes: number
}

/** Without a folder. */
const maxBytesInMemory = 16 * 1024 * 1024

/**
 * The queue in a folder `name` below `parent`, or in the next free one while another process holds that. Queues that
 * ended processes left are taken over. Without a folder that can be written, which is reported, it is in memory only.
 */
export function openJournal(
  parent: string,
  name: string,
  limits: JournalLimits,
  report: (line: string) => void,
): Journal {
  const opened = tryOpen(parent, name, limits, report)
  if (opened !== null) return journalOn(opened, limits, report)
  report(`no folder for \`${name}\` can be used below \`${parent}\`: what is not sent is lost when this process ends`)
  const max_bytes = Math.min(limits.max_bytes, maxBytesInMemory)
  return journalOn({ ...inMemory, segments: noSegments() }, { ...limits, max_bytes }, report)
}

interface Opened {
  readonly segments: Segments
  readonly sent: number
  /** Lines that earlier processes could not write before they ended. */
  readonly lost: number
  readonly folder: string | null
  readonly left: readonly HeldFolder[]
  readonly note: (position: Position) => void
  readonly release: () => void
}

const nothing = () => undefined
const inMemory = { sent: 0, lost: 0, folder: null, left: [], note: nothing, release: nothing }

function tryOpen(parent: string, name: string, limits: JournalLimits, report: (line: string) => void): Opened | null {
  const held = holdFolder(parent, name)
  if (held === null) return null
  const left = leftFolders(parent, name, held.folder)
  try {
    return openIn(held, left, limits)
  } catch (error) {
    for (const { release } of [held, ...left]) release()
    report(`\`${held.folder}\` cannot be used: ${error instanceof Error ? error.message : String(error)}`)
    return null
  }
}

function openIn({ folder, renew, release }: HeldFolder, left: readonly HeldFolder[], limits: JournalLimits): Opened {
  const own = readCursor(folder)
  const folders = [folder, ...left.map((one) => one.folder)]
  const lost = folders.reduce((sum, path) => sum + readCursor(path).unwritten, 0)
  const last = endOfSegments(folder, 0)
  // Beyond the last line there is nothing that could have arrived: what is there is sent again, which adds nothing.
  const noted = last > 0 && own.offset > last ? 0 : own.offset
  let end = Math.max(last, noted)
  for (const { folder: from } of left) end = moveSegments(from, readCursor(from).offset, folder, end)
  const segments = openSegments(folder, limits.file_bytes, noted, renew)
  const cursor = openCursor(folder)
  return {
    segments,
    sent: Math.max(noted, segments.start()),
    lost,
    folder,
    left,
    note: cursor.write,
    release: () => {
      cursor.close()
      release()
    },
  }
}

function journalOn(opened: Opened, limits: JournalLimits, report: (line: string) => void): Journal {
  const { segments, folder } = opened
  let { sent, lost } = opened
  let end = segments.end()
  let lines = segments.countLines(sent)
  const writer = createWriter(segments, folder, () => noteSent(), report)
  const reader = createReader({ read: writer.read }, sent)
  const keeping = createKeeping(opened, limits, writer, report)
  const noteSent = () => keeping.note(sent, lines)
  const capacity = limits.max_bytes - limits.reserved_bytes
  noteSent()
  for (const { release } of opened.left) release()
  const waiting = () => end - sent
  const addUpTo = (text: string, max_bytes: number) => {
    const size = Buffer.byteLength(text) + 1
    if (waiting() + size > max_bytes || !writer.add(text)) return false
    end += size
    lines += 1
    return true
  }
  const moveTo = (offset: number, count: number) => {
    sent = offset
    lines -= count
    noteSent()
    keeping.trim(sent)
  }
  const first = async (count: number, max_bytes: number) => {
    writer.drain()
    const found = await reader.first(count, max_bytes)
    if (found.length > 0 || lines === 0 || !writer.isEmpty() || reader.position() < end) return found
    lost += lines
    report(`another program has removed ${lines} lines that were not sent from \`${folder}\``)
    moveTo(end, lines)
    return found
  }
  const remove = (count: number) => {
    const offset = reader.remove(count)
    if (offset !== null) moveTo(offset, count)
  }
  const { flush, settled, drain, problem } = writer
  return {
    add: (text) => addUpTo(text, capacity),
    addReserved: (text) => addUpTo(text, limits.max_bytes),
    oldest: reader.oldest,
    size: () => lines,
    ...{ first, remove, waiting, capacity, flush, settled, drain, problem },
    position: () => end,
    room: () => Math.min(capacity - waiting(), writer.room()),
    roomIn: () => (writer.room() < capacity - waiting() ? 'buffer' : 'spool'),
    bytes: { start: segments.start, end: segments.end, read: segments.stream },
    lost: () => lost,
    noteUnsaved: keeping.noteUnsaved,
    isDurable: () => folder !== null && writer.isEmpty(),
    folders: folder === null ? [] : [folder, ...opened.left.map((one) => one.folder)],
    close: () => flush().finally(segments.close).finally(opened.release),
  }
}

/** Notes what has arrived, and deletes it. */
function createKeeping(
  { note: noteOn, lost }: Opened,
  { kept_bytes }: JournalLimits,
  writer: Writer,
  report: (line: string) => void,
) {
  if (lost > 0) report(`${lost} lines were lost when a process ended while the disk did not take them`)
  const noteOnce = once('what was sent cannot be noted', noteOn, report)
  let noted = { offset: 0, waiting: 0 }
  let unsaved = 0
  const note = () =>
    noteOnce({ offset: noted.offset, unwritten: Math.min(writer.unwritten(), noted.waiting) + unsaved })
  return {
    note: (offset: number, waiting: number) => {
      noted = { offset, waiting }
      note()
    },
    noteUnsaved: (steps: number) => {
      if (steps === unsaved) return
      unsaved = steps
      note()
    },
    trim: once('what was sent cannot be deleted', (sent: number) => writer.trim(sent, kept_bytes), report),
  }
}

/** Reports the first failure only. */
function once<T>(what: string, act: (value: T) => void, report: (line: string) => void): (value: T) => void {
  let reported = false
  return (value) => {
    try {
      act(value)
    } catch (error) {
      if (!reported) report(`${what}: ${error instanceof Error ? error.message : String(error)}`)
      reported = true
    }
  }
}
