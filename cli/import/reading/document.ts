// Files that are one JSON document, told apart from files with a run on each line.
import { readFileSync, statSync } from 'node:fs'
import { lineAndColumnOf, readLines, readOtlpText, readValue, runValuesOf } from '@svc/engine/parts'

export type DocumentReading = { readonly value: unknown; readonly problem: null } | { readonly problem: string }

/** As much as a line may have. */
const maxDocumentBytes = 64 * 1024 * 1024

/** The first run, span or step of a file, as far as it can be read; undefined for a file without one. */
export async function firstValueIn(path: string): Promise<unknown> {
  const document = await documentIn(path, readOtlpText)
  if (document !== null) return document.problem === null ? runValuesOf(document.value)[0] : undefined
  const [line] = await firstLines(path)
  const reading = readOtlpText(line ?? '')
  return reading.problem === null ? reading.value : undefined
}

/** The document that a file is, or the reason why it cannot be read; null for a file of lines. */
export async function documentIn(path: string, read: typeof readValue = readValue): Promise<DocumentReading | null> {
  const [first, second] = await firstLines(path)
  if (typeof first !== 'string') return null
  const line = read(first)
  if (line.problem === null) return second === undefined ? line : null
  if (!line.is_open) return null
  const isDocument = beginsDocument(first, second)
  if (statSync(path).size > maxDocumentBytes) return isDocument ? tooLong : null
  const text = textOf(path)
  if (text === null) return isDocument ? { problem: 'not UTF-8' } : null
  const whole = read(text, lineAndColumnOf)
  if (whole.problem === null) return whole
  return isDocument ? { problem: whole.problem } : null
}

/** A broken first line is followed by another run; a broken document continues with its members. */
function beginsDocument(first: string, second: string | null | undefined): boolean {
  if (second === undefined || /^[[{]+$/.test(first.trim())) return true
  return second !== null && !second.trimStart().startsWith('{')
}

const tooLong = { problem: `a document longer than ${maxDocumentBytes / 1024 / 1024} MiB: write one run per line` }

/** The first two lines that are not empty; null for a line that cannot be read. */
async function firstLines(path: string): Promise<(string | null)[]> {
  const found: (string | null)[] = []
  for await (const line of readLines(path)) {
    if (line.problem === null && line.text.trim() === '') continue
    found.push(line.problem === null ? line.text : null)
    if (found.length === 2) return found
  }
  return found
}

/** The text of the file; null when it is not UTF-8. */
function textOf(path: string): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path))
  } catch (error) {
    if (error instanceof TypeError) return null
    throw error
  }
}
