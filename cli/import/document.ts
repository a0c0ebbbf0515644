// Files that are one JSON document, told apart from files with a run on each line.
import { readFileSync, statSync } from 'node:fs'
import { lineAndColumnOf, readLines, readValue } from '@svc/engine'

export type DocumentReading = { readonly value: unknown; readonly problem: null } | { readonly problem: string }

/** As much as a line may have; a larger file is read by lines. */
const maxDocumentBytes = 64 * 1024 * 1024

/** The document that a file is, or the reason why it cannot be read; null for a file of lines. */
export async function documentIn(path: string): Promise<DocumentReading | null> {
  if (statSync(path).size > maxDocumentBytes) return null
  const [first, second] = await firstLines(path)
  if (first === undefined) return null
  const line = readValue(first)
  if (line.problem === null) return second === undefined ? line : null
  if (!line.is_open) return null
  const text = textOf(path)
  if (text === null) return null
  const whole = readValue(text, lineAndColumnOf)
  if (whole.problem === null) return whole
  // A broken first line is followed by another run; a broken document goes on with its members.
  const isDocument = first.trim() === '[' || second === undefined || !second.trimStart().startsWith('{')
  return isDocument ? { problem: whole.problem } : null
}

/** The first two lines with text, if they can be read. */
async function firstLines(path: string): Promise<string[]> {
  const found: string[] = []
  for await (const line of readLines(path)) {
    if (line.problem !== null) return found
    if (line.text.trim() === '') continue
    found.push(line.text)
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
