// One side of a comparison: a manifest, a folder of manifests, or either of them in a commit.
import { existsSync, statSync } from 'node:fs'
import { normalize, posix, relative, resolve, sep } from 'node:path'
import { readPolicyFiles } from '@svc/engine'
import { isManifest, looksLikeManifest } from '@svc/engine/parts'
import { UsageError } from '../../errors.js'
import { readFromGit } from './git-tree.js'
import type { Side } from './side-file.js'

/** Reads a path, or `REF:PATH` where no such path exists. Rejects with UsageError or a file error. */
export async function readSide(given: string): Promise<Side> {
  if (existsSync(given)) return statSync(given).isDirectory() ? readFolder(given) : readFile(given)
  if (!given.includes(':')) throw new UsageError(`\`${given}\` does not exist: give a file, a folder or REF:PATH`)
  const side = readFromGit(given)
  return {
    ...side,
    given,
    files: side.kind === 'file' ? side.files : side.files.filter(({ text }) => looksLikeManifest(text)),
  }
}

async function readFile(given: string): Promise<Side> {
  const [file] = await readPolicyFiles([given], rethrow)
  return {
    given,
    kind: 'file',
    files: [{ path: baseOf(given), alias: aliasOf(given), shown: given, text: file?.text ?? '' }],
  }
}

async function readFolder(given: string): Promise<Side> {
  const files = (await readPolicyFiles([given], rethrow)).filter(isManifest)
  return {
    given,
    kind: 'folder',
    files: files.map(({ path, text }) => ({
      path: slashed(relative(resolve(given), resolve(path))),
      alias: aliasOf(path),
      shown: path,
      text,
    })),
  }
}

function rethrow(error: unknown): never {
  throw error
}

/** Without `./`. */
function aliasOf(path: string): string {
  return slashed(normalize(path))
}

function baseOf(path: string): string {
  return posix.basename(slashed(path))
}

/** Paths of manifests have slashes on every system. */
function slashed(path: string): string {
  return path.split(sep).join('/')
}
