// What is imported is read twice, so what cannot be is put aside first.
import { createReadStream, createWriteStream, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'

export interface ImportSource {
  /** A file that can be read again and again. */
  readonly path: string
  /** False for a copy of what came through a pipe. */
  readonly is_file: boolean
}

/** Gives a readable file for FILE, `-` being standard input, while `use` runs. Rejects when it cannot be read. */
export async function withSource<T>(file: string, use: (source: ImportSource) => Promise<T>): Promise<T> {
  if (file !== '-' && statSync(file).isFile()) return use({ path: file, is_file: true })
  const folder = mkdtempSync(join(tmpdir(), 'svc-import-'))
  try {
    const path = join(folder, 'runs.jsonl')
    await pipeline(file === '-' ? process.stdin : createReadStream(file), createWriteStream(path, { mode: 0o600 }))
    return await use({ path, is_file: false })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
