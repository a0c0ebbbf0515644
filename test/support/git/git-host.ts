// Real Git repositories in a folder, and a server that offers them over smart HTTP with Git's own program.
import { execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { request as ask, createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
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
    else void backend(folder, request, response)
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

/** Git's program for servers, which a small process runs; `path` is that of the repository in the folder. */
export async function backend(
  folder: string,
  request: IncomingMessage,
  response: ServerResponse,
  path: string = request.url ?? '/',
): Promise<void> {
  started ??= startBackend()
  const { connection: _, ...headers } = request.headers
  const to = {
    port: await started,
    method: request.method,
    headers: { ...headers, 'x-folder': folder, 'x-path': path },
  }
  const inner = ask({ host: '127.0.0.1', ...to }, (answer) => {
    response.writeHead(answer.statusCode ?? 500, answer.headers)
    answer.pipe(response)
  })
  inner.on('error', () => response.destroy())
  response.on('close', () => inner.destroy())
  request.pipe(inner)
}

let started: Promise<number> | null = null

/** To start a program from a process of 500 MB, as that of the tests is, takes 50 ms; from a small one 4 ms. */
async function startBackend(): Promise<number> {
  const root = import.meta.url.includes('/test/dist/') ? './' : '../../dist/support/git/'
  const child = fork(fileURLToPath(new URL(`${root}backend-process.js`, import.meta.url)), { execArgv: [] })
  const ended = once(child, 'exit').then(() => {
    throw new Error('the process that runs Git for servers has ended: run `npm run build`')
  })
  const [port] = (await Promise.race([once(child, 'message'), ended])) as [number]
  child.unref()
  child.channel?.unref()
  return port
}
