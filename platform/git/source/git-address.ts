// The addresses of Git hosts that may be read: https everywhere that outgoing calls may go, http on this machine, and folders of
// the operator.
import { lstat, readdir, readFile, realpath } from 'node:fs/promises'
import { isIP } from 'node:net'
import { join, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { quote } from '@svc/engine/parts'
import type { Targets } from '../../outgoing/targets.js'
import type { Setting } from './git-process.js'
import { SourceError } from './source.js'

/** An address that was checked just now, with the settings that keep Git to it. */
export interface GitAddress {
  readonly url: string
  readonly protocol: 'https' | 'http' | 'file'
  readonly settings: readonly Setting[]
}

export interface AddressRules {
  readonly targets: Targets
  readonly file_roots: readonly string[]
}

/** Rejects with `rejected` for an address that must not be read, and `fetch_failed` when its name does not resolve. */
export async function checkedAddress(text: string, rules: AddressRules): Promise<GitAddress> {
  if (text.length > 2000 || !/^[!-~]+$/.test(text) || text.includes('\\'))
    throw rejected('the URL must be at most 2,000 characters of ASCII without spaces')
  if (!URL.canParse(text)) throw rejected(`the URL ${quote(text)} is invalid: write \`https://HOST/PATH.git\``)
  const url = new URL(text)
  if (url.username !== '' || url.password !== '')
    throw rejected('the URL must not contain a user name or password: send the token in `token`')
  if (url.search !== '' || url.hash !== '') throw rejected('the URL must not contain `?` or `#`')
  if (url.protocol === 'file:') return fileAddress(url, rules.file_roots)
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw rejected('the URL must begin with https://, as in `https://HOST/PATH.git`')
  const problem = rules.targets.problemOf(text)
  if (problem !== null) throw rejected(problem)
  if (url.hostname.endsWith('.')) throw rejected('the host name must not end with `.`')
  return { url: url.href, protocol: url.protocol === 'https:' ? 'https' : 'http', settings: await pinned(url, rules) }
}

/** Git connects to the addresses that are checked here, and resolves no name itself, which could have changed by then. */
async function pinned(url: URL, { targets }: AddressRules): Promise<readonly Setting[]> {
  const { hostname, protocol } = url
  if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0) return []
  const port = url.port || (protocol === 'https:' ? '443' : '80')
  const found = await new Promise<readonly string[]>((resolve, reject) => {
    targets.lookup(hostname, { all: true }, (error, addresses) => {
      if (error === null && typeof addresses !== 'string') resolve(addresses.map(({ address }) => address))
      else if (error?.code === 'TARGET_REJECTED') reject(rejected(error.message))
      else reject(new SourceError('fetch_failed', `the name ${quote(hostname)} does not resolve: ${error?.code}`))
    })
  })
  const addresses = found.map((address) => (isIP(address) === 6 ? `[${address}]` : address))
  return [['http.curloptResolve', `${hostname}:${port}:${addresses.join(',')}`]]
}

const notInRoots = 'the folder is not in a folder that SVC_GIT_FILE_ROOTS lists, or not a Git repository'

/** Links may not lead out of a root, wherever they are: in the path, or in the repository. */
async function fileAddress(url: URL, roots: readonly string[]): Promise<GitAddress> {
  if (url.hostname !== '') throw rejected('the URL of a folder must begin with file:///')
  try {
    const real = await realpath(fileURLToPath(url))
    const realRoots = await Promise.all(roots.map((root) => realpath(root).catch(() => null)))
    const root = realRoots.find(
      (one) => one !== null && (real === one || real.startsWith(one.endsWith(sep) ? one : one + sep)),
    )
    if (root === undefined) throw rejected(notInRoots)
    const folder = (await kindOf(join(real, '.git'))) === 'folder' ? join(real, '.git') : real
    await assertSelfContained(folder)
    return { url: pathToFileURL(folder).href, protocol: 'file', settings: [] }
  } catch (error) {
    // One answer for all, so that it does not tell which folders exist.
    throw error instanceof SourceError ? error : rejected(notInRoots)
  }
}

/**
 * A repository can name the objects of another one: by alternates, by a common folder, by links, or as a partial clone,
 * which makes some versions of Git run the program that its configuration names.
 */
async function assertSelfContained(folder: string): Promise<void> {
  const [head, objects] = await Promise.all([kindOf(join(folder, 'HEAD')), kindOf(join(folder, 'objects'))])
  if (head !== 'file' || objects !== 'folder') throw rejected(notInRoots)
  const lenders = ['commondir', 'objects/info/alternates', 'objects/info/http-alternates']
  const kinds = await Promise.all(lenders.map((name) => kindOf(join(folder, name))))
  const config = await readFile(join(folder, 'config'), 'utf8').catch(() => '')
  if (kinds.some((kind) => kind !== null) || /partialclone|promisor|\[\s*include/i.test(config))
    throw rejected(`the repository uses objects or settings from elsewhere: ${makeCopy}`)
  const top = (await readdir(folder, { withFileTypes: true })).filter(({ name }) => readByGit.includes(name))
  const parts = ['objects', 'refs'].map((name) => readdir(join(folder, name), { withFileTypes: true, recursive: true }))
  const entries = [...top, ...(await Promise.all(parts)).flat()]
  if (entries.some((entry) => entry.isSymbolicLink()))
    throw rejected(`the repository contains symbolic links: ${makeCopy}`)
}

const makeCopy = 'make a copy with `git clone --bare --no-local`'
const readByGit = ['HEAD', 'config', 'config.worktree', 'info', 'objects', 'packed-refs', 'refs', 'shallow']

async function kindOf(path: string): Promise<'file' | 'folder' | 'other' | null> {
  const stats = await lstat(path).catch(() => null)
  if (stats === null) return null
  if (stats.isDirectory()) return 'folder'
  return stats.isFile() ? 'file' : 'other'
}

function rejected(message: string): SourceError {
  return new SourceError('rejected', message)
}
