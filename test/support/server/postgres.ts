// PostgreSQL servers from the binaries of this machine: one per run, and servers that a test can stop.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { chownSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Config } from '@svc/platform'

/** The server that all files of a run share. */
export interface SharedPostgres {
  /** Connection URL of a new database with the tables of this build. */
  readonly freshDatabase: () => string
  /** Connection URL of a new empty database. */
  readonly emptyDatabase: () => string
  readonly psql: (url: string, sql: string) => string
  /** Its folder, owned by the user it runs as. */
  readonly folder: string
}

/** A server of one test file. */
export interface Postgres extends Omit<SharedPostgres, 'freshDatabase'> {
  readonly url: string
  readonly start: () => void
  readonly stop: (mode: 'fast' | 'immediate') => void
  readonly remove: () => Promise<void>
}

declare module 'vitest' {
  export interface ProvidedContext {
    /** Where a file asks for the shared server; null without binaries. */
    postgres: string | null
    project: 'fast' | 'full' | 'night'
  }
}

/** The template database of the shared server. */
export const templateName = 'svc_template'

/** The folder of the server's binaries; null without them. Looked up once: a test runs psql hundreds of times. */
const bindir = findBinaries()

function findBinaries(): string | null {
  const found = spawnSync('pg_config', ['--bindir'], { encoding: 'utf8' })
  return found.status === 0 ? found.stdout.trim() : null
}

const missing = 'skipped: no PostgreSQL server on this machine (pg_config not found)'

/** Whether this machine has the binaries of a server. */
export function hasPostgres(): boolean {
  return bindir !== null
}

/**
 * Creates and starts a cluster as an unprivileged user, as PostgreSQL requires; null, with a message, without binaries. It
 * ends with the process that started it, also after a crash. `settings` are options of the server.
 */
export async function startPostgres(settings = ''): Promise<Postgres | null> {
  if (bindir === null) {
    console.log(missing)
    return null
  }
  const bin = (name: string) => join(bindir, name)
  const user = unprivileged()
  const folder = mkdtempSync(join(tmpdir(), 'svc-pg-'))
  if (user.uid !== undefined && user.gid !== undefined) chownSync(folder, user.uid, user.gid)
  const data = join(folder, 'data')
  const run = (name: string, args: readonly string[]) =>
    execFileSync(bin(name), args, { ...user, cwd: folder, stdio: 'ignore' })
  run('initdb', ['-D', data, '-U', 'svc', '-A', 'trust', '-E', 'UTF8', '--no-sync'])
  const port = await freePort()
  const options = `-p ${port} -k ${folder} -h 127.0.0.1 -c max_connections=200 ${settings}`
  const start = () => run('pg_ctl', ['-D', data, '-w', '-l', join(folder, 'log'), '-o', options, 'start'])
  const guard = watch([bin('pg_ctl'), data, folder], user)
  start()
  const url = `postgres://svc@127.0.0.1:${port}/postgres`
  return {
    url,
    emptyDatabase: () => createDatabase(url, ''),
    psql,
    folder,
    start,
    stop: (mode) => run('pg_ctl', ['-D', data, '-m', mode, '-w', 'stop']),
    remove: async () => {
      guard.ref()
      guard.stdin.end()
      await once(guard, 'exit')
    },
  }
}

/** Stops the server and removes its folder when its standard input ends, at the latest with this process. */
function watch(places: readonly string[], user: { uid?: number; gid?: number }) {
  const script = 'cat; "$1" -D "$2" -m immediate -w stop; rm -rf "$3"'
  const guard = spawn('sh', ['-c', script, 'sh', ...places], {
    ...user,
    cwd: '/',
    // In its own process group, so that Ctrl+C does not end it first.
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  guard.unref()
  ;(guard.stdin as unknown as { unref: () => void }).unref()
  return guard
}

/** The server that the files of a run share; null, with a message, without binaries. */
export async function sharedPostgres(): Promise<SharedPostgres | null> {
  const { inject } = await import('vitest')
  const door = inject('postgres')
  if (!door) {
    console.log(missing)
    return null
  }
  const answer = await fetch(door)
  if (!answer.ok) throw new Error(`the shared PostgreSQL server did not start: ${await answer.text()}`)
  const shared = (await answer.json()) as { readonly url: string; readonly folder: string }
  return {
    freshDatabase: () => createDatabase(shared.url, `template ${templateName}`),
    emptyDatabase: () => createDatabase(shared.url, ''),
    psql,
    folder: shared.folder,
  }
}

function createDatabase(server: string, template: string): string {
  const name = `svc_${randomUUID().replaceAll('-', '')}`
  psql(server, `create database ${name} ${template}`)
  return server.replace(/[^/]+$/, name)
}

function psql(url: string, sql: string): string {
  const args = ['-X', '-A', '-t', '-v', 'ON_ERROR_STOP=1', url, '-c', sql]
  return execFileSync(join(bindir ?? '', 'psql'), args, { encoding: 'utf8' }).trim()
}

/** PostgreSQL does not run as root: selects its own user, or another unprivileged one. */
function unprivileged(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {}
  for (const name of ['postgres', 'daemon']) {
    const id = (flag: string) => Number(spawnSync('id', [flag, name], { encoding: 'utf8' }).stdout)
    const uid = id('-u')
    if (uid > 0) return { uid, gid: id('-g') }
  }
  throw new Error('PostgreSQL needs an unprivileged user, such as `postgres`')
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const at = server.address()
      server.close(() => resolve(typeof at === 'object' && at !== null ? at.port : 0))
    })
  })
}

/**
 * The database of a long suite: in the fast project the server if there is one, which takes half the time; otherwise, and
 * in the full project, the embedded database.
 */
export async function databaseHere(): Promise<{ kind: FreshDatabase['kind']; database_url: string | null }> {
  const { inject } = await import('vitest')
  const server = inject('project') === 'fast' ? await sharedPostgres() : null
  return server === null
    ? { kind: 'pglite', database_url: null }
    : { kind: 'postgresql', database_url: server.freshDatabase() }
}

interface FreshDatabase {
  readonly kind: 'pglite' | 'postgresql'
  /** The location of a new database with the tables of this build: a new folder, or a new name. */
  readonly fresh: () => Config
  /** Like `fresh`, but without tables on a server. */
  readonly empty: () => Config
}

/** Describes the same behaviour on the embedded database and, where there are binaries, on a server. */
export async function forEachDatabase(name: string, tests: (database: FreshDatabase) => void): Promise<void> {
  const { afterAll, describe } = await import('vitest')
  const { readConfig } = await import('@svc/platform')
  const postgres = await sharedPostgres()
  const folders: string[] = []
  const config = (env: Record<string, string>) => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-db-'))
    folders.push(folder)
    return readConfig({ SVC_DATA_DIR: folder, ...env }).value
  }
  afterAll(() => {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  })
  const embedded = () => config({})
  describe(`${name} on pglite`, () => tests({ kind: 'pglite', fresh: embedded, empty: embedded }))
  describe.skipIf(postgres === null)(`${name} on postgresql`, () =>
    tests({
      kind: 'postgresql',
      fresh: () => config({ SVC_DATABASE_URL: postgres?.freshDatabase() ?? '' }),
      empty: () => config({ SVC_DATABASE_URL: postgres?.emptyDatabase() ?? '' }),
    }),
  )
}
