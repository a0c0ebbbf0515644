import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'

/** Lines of a file with their 0-based numbers, one at a time. Rejects when the file cannot be read. */
export async function* readLines(file: string): AsyncGenerator<{ line: number; text: string }> {
  const stream = createReadStream(file, 'utf8')
  const failed = new Promise<never>((_, reject) => stream.once('error', reject))
  failed.catch(() => undefined)
  const opened = new Promise((resolve) => stream.once('open', resolve))
  await Promise.race([opened, failed])
  let line = 0
  for await (const text of createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY }))
    yield { line: line++, text }
}
