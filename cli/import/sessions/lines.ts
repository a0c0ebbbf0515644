// The lines of a file of sessions. A file that is being written may end in the middle of a line.
import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { type LineReading, readLine, valuesOfSession } from '@svc/adapters/sessions'
import { readLines } from '@svc/engine/parts'
import { documentIn } from '../reading/document.js'

/** A line with its value, or with the reason why it has none; `torn` is the beginning of one. */
export type SessionFileLine = {
  /** From 0; null for a part of a document. */
  readonly line: number | null
  /** In the file. */
  readonly offset: number
} & (
  | { readonly kind: 'value'; readonly value: unknown; readonly text: string }
  | { readonly kind: 'fault'; readonly reason: string }
  | { readonly kind: 'torn' }
)

export interface FileRange {
  readonly path: string
  readonly start: number
  readonly end: number
}

export async function* linesOf(range: FileRange): AsyncGenerator<SessionFileLine> {
  // An older session is one document.
  const document = /\.json$/i.test(range.path) ? await documentIn(range.path) : null
  if (document === null) yield* linesIn(range)
  else if (document.problem !== null) yield { kind: 'fault', line: null, offset: 0, reason: document.problem }
  else
    for (const value of valuesOfSession(document.value) ?? [document.value])
      yield { kind: 'value', line: null, offset: 0, value, text: JSON.stringify(value) }
}

async function* linesIn({ path, start, end }: FileRange): AsyncGenerator<SessionFileLine> {
  let broken: SessionFileLine | null = null
  for await (const read of readLines(path, { start, end })) {
    if (broken !== null) yield broken
    broken = null
    const { line, offset } = read
    if (read.problem === null && read.text.trim() === '') continue
    const reading: LineReading = read.problem === null ? readLine(read.text) : { problem: read.problem, is_open: true }
    if (reading.problem === null)
      yield { kind: 'value', line, offset, value: reading.value, text: read.problem === null ? read.text : '' }
    else broken = { kind: 'fault', line, offset, reason: reading.problem }
  }
  if (broken === null) return
  const { line, offset } = broken
  yield endsInLine(path, end) ? { kind: 'torn', line, offset } : broken
}

/** True when the last line has no end: more of it may follow. */
function endsInLine(path: string, end: number): boolean {
  const size = Math.min(end, statSync(path).size)
  const last = Buffer.alloc(1)
  const file = openSync(path, 'r')
  try {
    return size > 0 && readSync(file, last, 0, 1, size - 1) === 1 && last[0] !== 0x0a
  } finally {
    closeSync(file)
  }
}
