// The input is read twice, so a pipe is copied to a file first.
import { createReadStream, createWriteStream, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'

/** Calls `use` with the path of a file that can be read twice; `-` is standard input. Rejects when it cannot be read. */
export async function withSource<T>(file: string, use: (path: string) => Promise<T>): Promise<T> {
  if (file !== '-' && statSync(file).isFile()) return use(file)
  const folder = mkdtempSync(join(tmpdir(), 'svc-import-'))
  try {
    const path = join(folder, 'runs.jsonl')
    await pipeline(file === '-' ? process.stdin : createReadStream(file), createWriteStream(path, { mode: 0o600 }))
    return await use(path)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
