// Real Git repositories in a folder, and a server that offers them over smart HTTP with Git's own program.
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Files } from './github.js'

export interface RealRepository {
  readonly folder: string
  readonly git: (...args: readonly string[]) => string
  /** Adds a commit that holds exactly these files, and returns its SHA. */
  readonly commit: (files: Files, branch?: string) => string
}

export interface GitHost {
  /** The folder of all repositories. */
  readonly folder: string
  /** `http://127.0.0.1:PORT`. */
  readonly url: string
  readonly requests: { readonly path: string; readonly authorization: string | undefined }[]
  /** Repositories that need a password, with it. */
  readonly passwords: Map<string, string>
  /** Answers instead of Git when it returns true. */
  intercept: (request: IncomingMessage, response: ServerResponse) => boolean
  readonly add: (name: string) => RealRepository
  readonly close: () => void
}

export async function startGitHost(): Promise<GitHost> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-git-host-'))
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    const { authorization } = request.headers
    host.requests.push({ path, authorization })
    if (host.intercept(request, response)) return
    const password = host.passwords.get(path.split('/')[1] ?? '')
    const sent = Buffer.from(authorization?.replace('Basic ', '') ?? '', 'base64').toString()
    if (password !== undefined && sent.split(':')[1] !== password)
      response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end()
    else backend(folder, request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const host: GitHost = {
    folder,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: [],
    passwords: new Map(),
    intercept: () => false,
    add: (name) => bareRepository(join(folder, name)),
    close: () => {
      server.closeAllConnections()
      server.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
  return host
}

/** Creates a bare repository in the folder. */
export function bareRepository(folder: string): RealRepository {
  execFileSync('git', ['init', '--quiet', '--bare', '--initial-branch=main', folder], { stdio: 'pipe' })
  const git = (...args: readonly string[]) =>
    execFileSync('git', [`--git-dir=${folder}`, ...args], { encoding: 'utf8', stdio: 'pipe' }).trim()
  return {
    folder,
    git,
    commit: (files, branch = 'main') => {
      const parts = Object.entries(files).flatMap(([path, file]) => {
        const { mode, content } = typeof file === 'string' ? { mode: '100644', content: file } : file
        if (mode === '160000') return [Buffer.from(`M ${mode} ${content} ${path}\n`)]
        const bytes = Buffer.from(content as string)
        return [Buffer.from(`M ${mode} inline ${path}\ndata ${bytes.length}\n`), bytes, Buffer.from('\n')]
      })
      const head = git('for-each-ref', '--format=%(objectname)', `refs/heads/${branch}`)
      const author = 'committer test <test@example.org> 1767600000 +0000\ndata 4\ntest'
      const from = head === '' ? '' : `from ${head}\n`
      const first = Buffer.from(`commit refs/heads/${branch}\n${author}\n${from}deleteall\n`)
      const input = Buffer.concat([first, ...parts])
      execFileSync('git', [`--git-dir=${folder}`, 'fast-import', '--quiet', '--force'], { input, stdio: 'pipe' })
      return git('rev-parse', `refs/heads/${branch}`)
    },
  }
}

/** A packet of Git's protocol: its length in hex, then the content. */
export function packet(content: string | Buffer): Buffer {
  const bytes = Buffer.from(content as string)
  return Buffer.concat([Buffer.from((bytes.length + 4).toString(16).padStart(4, '0')), bytes])
}

/** Git's program for servers, by the rules of CGI; `path` is that of the repository in the folder. */
export function backend(
  folder: string,
  request: IncomingMessage,
  response: ServerResponse,
  path: string = request.url ?? '/',
): void {
  const { pathname, search } = new URL(path, 'http://localhost')
  const { headers } = request
  const env = {
    PATH: process.env.PATH ?? '',
    GIT_PROJECT_ROOT: folder,
    GIT_HTTP_EXPORT_ALL: '1',
    PATH_INFO: pathname,
    QUERY_STRING: search.slice(1),
    REQUEST_METHOD: request.method ?? '',
    CONTENT_TYPE: headers['content-type'] ?? '',
    HTTP_CONTENT_ENCODING: headers['content-encoding'] ?? '',
    GIT_PROTOCOL: String(headers['git-protocol'] ?? ''),
  }
  const child = spawn('git', ['http-backend'], { env, stdio: ['pipe', 'pipe', 'ignore'] })
  request.pipe(child.stdin)
  child.stdin.on('error', () => undefined)
  response.on('close', () => child.kill())
  let head = Buffer.alloc(0)
  const onData = (chunk: Buffer) => {
    head = Buffer.concat([head, chunk])
    const end = head.indexOf('\r\n\r\n')
    if (end === -1) return
    child.stdout.off('data', onData)
    const lines = head.subarray(0, end).toString('latin1').split('\r\n')
    const pairs = lines.map((line) => line.split(/: (.*)/s) as [string, string])
    const status = Number(pairs.find(([name]) => name === 'Status')?.[1].slice(0, 3) ?? 200)
    response.writeHead(status, Object.fromEntries(pairs.filter(([name]) => name !== 'Status')))
    response.write(head.subarray(end + 4))
    child.stdout.pipe(response)
  }
  child.stdout.on('data', onData)
}
