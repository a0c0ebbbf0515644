// The work of `svc init`: writes all files of a manifest repository, or none.
import { lstat, mkdir, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Writable } from 'node:stream'
import { manifestSchema, testFileSchema } from '@svc/engine/parts'
import { printable } from '@svc/proof'
import { shellWord } from '../../called-as.js'
import { filesOf } from './files.js'

interface Output {
  readonly out: Writable
  readonly err: Writable
}

/** Returns the exit code. */
export async function runInit(folder: string, svc: string, { out, err }: Output): Promise<number> {
  const files = filesOf({ manifest: manifestSchema(), tests: testFileSchema() })
  const obstacles = await obstaclesIn(folder, [...files.keys()])
  if (obstacles.length > 0) {
    err.write(`svc init: nothing was written to ${shown(folder)}:\n${obstacles.map((line) => `  ${line}\n`).join('')}`)
    err.write('move them away, or name a new folder\n')
    return 1
  }
  const problem = await writeAll(folder, files)
  if (problem !== null) {
    err.write(`svc init: ${problem}\n`)
    return 1
  }
  const path = shellWord(join(folder.startsWith('-') ? `./${folder}` : folder, 'policies'))
  out.write(`wrote to ${shown(folder)}:\n${[...files.keys()].map((file) => `  ${file}\n`).join('')}`)
  out.write(`\nNext:\n  ${svc} validate ${printable(path)} --strict\n  ${svc} test ${printable(path)} --coverage\n`)
  return 0
}

/** The existing files that would be overwritten, and the files that are where a folder has to be. */
async function obstaclesIn(folder: string, files: readonly string[]): Promise<string[]> {
  const above = [...new Set(['.', ...files.flatMap(foldersOf)])]
  const found = await Promise.all([
    ...above.map(async (path) =>
      (await kindOf(join(folder, path))) === 'file' ? `${pathIn(path)} is not a folder` : '',
    ),
    ...files.map(async (path) => ((await kindOf(join(folder, path))) === null ? '' : `${path} exists`)),
  ])
  return found.filter((line) => line !== '')
}

function pathIn(path: string): string {
  return path === '.' ? 'it' : path
}

/** The folders of a file, from the top: `a/b/c.txt` is in `a` and `a/b`. */
function foldersOf(file: string): string[] {
  const parts = dirname(file).split('/')
  return parts[0] === '.' ? [] : parts.map((_, index) => parts.slice(0, index + 1).join('/'))
}

/** A link counts as what it leads to; one that leads nowhere is a file, because writing to it would create another file. */
async function kindOf(path: string): Promise<'file' | 'folder' | null> {
  const link = await lstat(path).catch(() => null)
  if (link === null) return null
  const target = link.isSymbolicLink() ? await stat(path).catch(() => link) : link
  return target.isDirectory() ? 'folder' : 'file'
}

/** Writes the files; after an error those that were written are removed. Returns what was wrong. */
async function writeAll(folder: string, files: ReadonlyMap<string, string>): Promise<string | null> {
  const written: string[] = []
  try {
    for (const [path, text] of files) {
      const file = join(folder, path)
      await mkdir(dirname(file), { recursive: true })
      // Not even a file that appeared in the meantime is overwritten.
      await writeFile(file, text, { flag: 'wx' })
      written.push(file)
    }
    return null
  } catch (error) {
    for (const file of written) await rm(file, { force: true })
    const { code, path } = error as NodeJS.ErrnoException
    return `${shown(path ?? folder)} cannot be written (${code ?? 'unknown error'}): nothing was written`
  }
}

function shown(path: string): string {
  return `\`${printable(path)}\``
}
