// The files of an import. Each is read twice, so a pipe is copied to a file first.
import { createReadStream, createWriteStream, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, sep } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { UsageError } from '../../errors.js'

/** Standard input in messages. */
export const stdinName = '(stdin)'

export interface Source {
  readonly path: string
  /** The file in messages. */
  readonly name: string
  /** The id of a run that has none. */
  readonly run_id: string
}

interface Given {
  /** A file, a folder, or `-`. */
  readonly file: string
  readonly name: string
  readonly stdin: Readable
}

/**
 * Calls `use` with the files of an import: the file, the files of a folder, or a copy of standard input (`-`), whose runs
 * get the id `name`. Rejects when it cannot be read.
 */
export async function withSources<T>({ file, name, stdin }: Given, use: (sources: Source[]) => Promise<T>): Promise<T> {
  const stat = file === '-' ? null : statSync(file)
  if (stat?.isDirectory()) return use(filesIn(file))
  if (stat?.isFile()) return use([{ path: file, name: file, run_id: baseName(file) }])
  const folder = mkdtempSync(join(tmpdir(), 'svc-import-'))
  try {
    const path = join(folder, 'runs.jsonl')
    await pipeline(file === '-' ? stdin : createReadStream(file), createWriteStream(path, { mode: 0o600 }))
    return await use([{ path, name: file === '-' ? stdinName : file, run_id: name }])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const fileOfRuns = /\.(json|jsonl|ndjson)$/i

/** True for a path that an import of its folder reads. */
export function isFileOfRuns(path: string): boolean {
  return fileOfRuns.test(path)
}

/** The name without its folder and without the ending of a file of runs. */
export function baseName(path: string): string {
  const parts = path.split(/[\\/]/).filter((part) => part !== '')
  return (parts.at(-1) ?? '').replace(fileOfRuns, '')
}

/** The files of runs in a folder and its folders, sorted by path. Hidden files and links to folders are not followed. */
function filesIn(folder: string): Source[] {
  const paths = pathsIn(folder, '').sort()
  if (paths.length === 0) throw new UsageError(`\`${folder}\` has no file that ends in .json, .jsonl or .ndjson`)
  return paths.map((path) => ({
    path: join(folder, path),
    name: join(folder, path),
    run_id: path.replace(fileOfRuns, ''),
  }))
}

/** Paths below the folder, with slashes on every system, so that the ids of runs are the same. */
function pathsIn(folder: string, below: string): string[] {
  return readdirSync(join(folder, below.replaceAll('/', sep)), { withFileTypes: true }).flatMap((entry) => {
    if (entry.name.startsWith('.')) return []
    const path = below === '' ? entry.name : `${below}/${entry.name}`
    if (entry.isDirectory()) return pathsIn(folder, path)
    if (!fileOfRuns.test(entry.name)) return []
    const isFile = entry.isFile() || (entry.isSymbolicLink() && isFileAt(join(folder, path)))
    return isFile ? [path] : []
  })
}

function isFileAt(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true
}
