// The memories of agents as a file of lines, which survives a restart and is shared by the engines of one folder: every
// change is appended, and the table is what the lines of the file make, in their order.
import { randomBytes } from 'node:crypto'
import { closeSync, constants, existsSync, fstatSync, openSync, readSync, statSync, writeFileSync } from 'node:fs'
import { parseJson } from '@svc/proof'
import { replaceFile } from '../../files/durable-file.js'
import { type Digest, keyedDigest } from '../../memory/marks.js'
import { createMemoryTable, type MemoryLine, type MemoryTable, memoryLimits } from '../../memory/table.js'

export interface MemoryStore {
  /** Makes the digests that the table holds now. */
  readonly digest: () => Digest
  /** The table as it is now. */
  readonly table: () => MemoryTable
  /** Applies the lines; they are in the file when this returns, unless the disk rejects them. */
  readonly add: (lines: readonly MemoryLine[]) => void
  /** True when the table outlives the process. */
  readonly durable: boolean
}

/** A store without a file, for an engine without a trace and a folder. Its digests leave the process in no way. */
export function memoryInProcess(): MemoryStore {
  const table = createMemoryTable(memoryLimits)
  const add = (lines: readonly MemoryLine[]) => {
    for (const line of lines) table.apply(line)
  }
  return { digest: () => keyedDigest(''), table: () => table, add, durable: false }
}

/** Bytes. A larger file is made smaller at the start when less than half of it is needed. */
const minCompacted = 1024 * 1024

interface OpenFile {
  readonly path: string
  readonly table: MemoryTable
  readonly key: string
  readonly digest: Digest
  /** The file that was read, and how far. */
  ino: number
  offset: number
  /** Lines that the disk rejected; they are written before the next ones. */
  unsaved: readonly MemoryLine[]
}

/**
 * The file is created with the first line. Throws when it cannot be read; later failures go to `report`, once each.
 */
export function memoryFile(path: string, report: (line: string) => void): MemoryStore {
  const empty = createMemoryTable(memoryLimits)
  let open = existsSync(path) ? openMemory(path) : null
  if (open !== null) compact(open)
  const current = () => {
    try {
      open = upToDate(path, open)
    } catch {
      // The table in memory stays valid; `add` reports a file that cannot be written.
    }
    return open
  }
  /** `upToDate` writes the file; where it cannot, `append` reports it and the memory ends with the process. */
  const created = () => {
    open = current() ?? newMemory(path, randomBytes(16).toString('hex'))
    return current() ?? open
  }
  return {
    digest: () => created().digest,
    table: () => current()?.table ?? empty,
    add: (lines) => {
      if (lines.length > 0) append(created(), lines, report)
      current()
    },
    durable: true,
  }
}

/** Reads what this engine or another one of the folder has appended; reads all when another one has replaced the file. */
function upToDate(path: string, open: OpenFile | null): OpenFile | null {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) {
    if (open !== null) rewrite(open)
    return open
  }
  if (open === null) return openMemory(path)
  if (found.ino !== open.ino) return { ...openMemory(path), unsaved: open.unsaved }
  readOn(open, found.size)
  return open
}

function append(open: OpenFile, lines: readonly MemoryLine[], report: (line: string) => void): void {
  const failed = open.unsaved.length > 0
  const waiting = [...open.unsaved, ...lines]
  try {
    appendTo(open.path, textOf(waiting))
    open.unsaved = []
    if (failed) report(`the memory index is being written to \`${open.path}\` again`)
  } catch (error) {
    open.unsaved = waiting
    for (const line of lines) open.table.apply(line)
    if (!failed) report(`the memory index cannot be written: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** Does not create the file: without its first line it could not be read. */
function appendTo(path: string, text: string): void {
  const file = openSync(path, constants.O_APPEND | constants.O_WRONLY)
  try {
    writeFileSync(file, text)
  } finally {
    closeSync(file)
  }
}

function newMemory(path: string, key: string): OpenFile {
  const table = createMemoryTable(memoryLimits)
  return { path, table, key, digest: keyedDigest(key), ino: 0, offset: 0, unsaved: [] }
}

function openMemory(path: string): OpenFile {
  const { key, size, ino } = headOf(path)
  const open = { ...newMemory(path, key), ino, offset: size }
  readOn(open, statSync(path).size)
  return open
}

/** The first line has the key of the digests. */
function headText(key: string): string {
  return `${JSON.stringify({ v: 1, key })}\n`
}

const maxHead = 1000

function headOf(path: string) {
  const file = openSync(path, 'r')
  try {
    const bytes = Buffer.alloc(maxHead)
    const text = bytes.subarray(0, readSync(file, bytes, 0, maxHead, 0)).toString()
    const [first = ''] = text.split('\n')
    const key = (jsonOf(first) as { key?: unknown } | null)?.key
    if (typeof key !== 'string') throw new Error(`\`${path}\` is not a memory index: move it away`)
    return { key, size: Buffer.byteLength(first) + 1, ino: fstatSync(file).ino }
  } finally {
    closeSync(file)
  }
}

/** Bytes that are read at once. */
const chunkBytes = 4 * 1024 * 1024

/** Applies the whole lines after `offset`. A line that a crash has cut off ends with the next one, and is left out. */
function readOn(open: OpenFile, size: number): void {
  if (size <= open.offset) return
  const file = openSync(open.path, 'r')
  try {
    let rest = Buffer.alloc(0)
    for (let at = open.offset; at < size; ) {
      const bytes = Buffer.alloc(Math.min(chunkBytes, size - at))
      const read = readSync(file, bytes, 0, bytes.length, at)
      if (read === 0) return
      at += read
      const text = Buffer.concat([rest, bytes.subarray(0, read)])
      const end = text.lastIndexOf('\n') + 1
      for (const line of text.subarray(0, end).toString().split('\n')) applyText(open.table, line)
      open.offset += end
      rest = text.subarray(end)
    }
  } finally {
    closeSync(file)
  }
}

function applyText(table: MemoryTable, text: string): void {
  const line = text === '' ? null : jsonOf(text)
  if (line !== null && 'agent' in line) table.apply(line as unknown as MemoryLine)
}

function jsonOf(text: string): object | null {
  try {
    const value: unknown = parseJson(text)
    return typeof value === 'object' ? value : null
  } catch {
    return null
  }
}

/** Begins with a line break, because a crash may have cut off the last line. */
function textOf(lines: readonly MemoryLine[]): string {
  return `\n${lines.map((line) => `${JSON.stringify(line)}\n`).join('')}`
}

/** Makes a large file smaller, unless another engine is writing it. */
function compact(open: OpenFile): void {
  const { path, offset, table } = open
  if (offset < minCompacted || statSync(path).size !== offset) return
  if (textOf(table.lines()).length * 2 < offset) rewrite(open)
}

/** Replaces the file by the lines that its table needs. */
function rewrite(open: OpenFile): void {
  const { path, key, table } = open
  replaceFile(path, headText(key) + textOf(table.lines()))
  const { size, ino } = statSync(path)
  open.offset = size
  open.ino = ino
}
