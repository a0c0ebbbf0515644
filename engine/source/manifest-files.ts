// Reads the files of a validation: manifests and the tests beside them.
import { readFile, stat } from 'node:fs/promises'
import { isTestFile, manifestsOfTestFile, testFilesOf } from '../manifest/file-names.js'
import type { SourceFile } from '../manifest/tests/suites.js'
import { yamlFilesIn } from './policy-files.js'

/** Files that are open at a time. */
const filesAtOnce = 16

/**
 * The YAML files of folders, and the named files with the tests beside them; for a named file of tests its manifest as well.
 * Sorted by path. With a `root`, links to folders out of it are not followed. A file or folder that cannot be
 * read has a problem instead of a text.
 */
export async function readManifestFiles(paths: readonly string[], root?: string): Promise<SourceFile[]> {
  const found = new Map<string, SourceFile>()
  const add = async (path: string, named: boolean) => {
    if (named || !found.has(path)) found.set(path, { path, named, ...(await textOf(path)) })
  }
  const addUnreadable = (error: unknown, path: string) => {
    found.set(path, { path, named: false, text: null, problem: problemOf(error, 'folder') })
  }
  for (const path of paths) {
    if (await isFolder(path)) {
      const inside = await yamlFilesIn(path, addUnreadable, root)
      for (let from = 0; from < inside.length; from += filesAtOnce)
        await Promise.all(inside.slice(from, from + filesAtOnce).map((file) => add(file, false)))
    } else {
      await add(path, true)
      for (const file of isTestFile(path) ? manifestsOfTestFile(path) : testFilesOf(path))
        if (await isFile(file)) await add(file, isTestFile(path))
    }
  }
  return [...found.values()].sort((a, b) => (a.path < b.path ? -1 : 1))
}

async function textOf(path: string): Promise<Pick<SourceFile, 'text' | 'problem'>> {
  try {
    const found = await stat(path)
    if (!found.isFile()) return { text: null, problem: 'it is not a file: remove it' }
    if (found.size > maxBytes) return { text: null, problem: 'the file is larger than 16 MiB: no manifest is' }
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(await readFile(path)) }
  } catch (error) {
    return { text: null, problem: problemOf(error, 'file') }
  }
}

function problemOf(error: unknown, kind: 'file' | 'folder'): string {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return 'the file is not text in UTF-8: save it in this encoding'
  if (code === 'ENOENT') return `the ${kind} does not exist: correct the path`
  return `the ${kind} cannot be read (${code ?? 'unknown error'}): check its permissions`
}

/** Far above the limit of a manifest, which its reader checks. */
const maxBytes = 16 * 1024 * 1024

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isDirectory() === true
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isFile() === true
}
