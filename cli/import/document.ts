// Files that are one JSON document, told apart from files with a run on each line.
import { readFileSync, statSync } from 'node:fs'
import { lineAndColumnOf, readLines, readValue } from '@svc/engine'

export type DocumentReading = { readonly value: unknown; readonly problem: null } | { readonly problem: string }

/** As much as a line may have. */
const maxDocumentBytes = 64 * 1024 * 1024

/** The document that a file is, or the reason why it cannot be read; null for a file of lines. */
export async function documentIn(path: string): Promise<DocumentReading | null> {
  const [first, second] = await firstLines(path)
  if (typeof first !== 'string') return null
  const line = readValue(first)
  if (line.problem === null) return second === undefined ? line : null
  if (!line.is_open) return null
  const isDocument = beginsDocument(first, second)
  if (statSync(path).size > maxDocumentBytes) return isDocument ? tooLong : null
  const text = textOf(path)
  if (text === null) return isDocument ? { problem: 'not UTF-8' } : null
  const whole = readValue(text, lineAndColumnOf)
  if (whole.problem === null) return whole
  return isDocument ? { problem: whole.problem } : null
}

/** A broken first line is followed by another run; a broken document goes on with its members. */
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
