// A throw-away PostgreSQL server from the machine's own binaries; null with a message where there are none.
import { execFileSync, spawnSync } from 'node:child_process'
import { chownSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Config, readConfig } from '@svc/platform'

export interface Postgres {
  /** Connection URL of a fresh database. */
  readonly freshDatabase: () => string
  readonly psql: (url: string, sql: string) => string
  readonly start: () => void
  readonly stop: (mode: 'fast' | 'immediate') => void
  readonly remove: () => void
  /** Where it lives; it belongs to the user it runs as. */
  readonly folder: string
}

let databases = 0

/** Makes and starts a cluster as an unprivileged user, which PostgreSQL insists on. */
export async function startPostgres(): Promise<Postgres | null> {
  const found = spawnSync('pg_config', ['--bindir'], { encoding: 'utf8' })
  if (found.status !== 0) {
    console.log('skipped: no PostgreSQL server on this machine (pg_config not found)')
    return null
  }
  const bin = (name: string) => join(found.stdout.trim(), name)
  const user = unprivileged()
  const folder = mkdtempSync(join(tmpdir(), 'svc-pg-'))
  if (user.uid !== undefined && user.gid !== undefined) chownSync(folder, user.uid, user.gid)
  const data = join(folder, 'data')
  const run = (name: string, args: readonly string[]) =>
    execFileSync(bin(name), args, { ...user, cwd: folder, encoding: 'utf8', stdio: 'pipe' })
  run('initdb', ['-D', data, '-U', 'svc', '-A', 'trust', '-E', 'UTF8', '--no-sync'])
  const port = await freePort()
  const start = () => {
    const options = `-p ${port} -k ${folder} -h 127.0.0.1 -c max_connections=60 -c listen_addresses=127.0.0.1`
    execFileSync(bin('pg_ctl'), ['-D', data, '-w', '-l', join(folder, 'log'), '-o', options, 'start'], {
      ...user,
      cwd: folder,
      stdio: 'ignore',
    })
  }
  const stop = (mode: string) => run('pg_ctl', ['-D', data, '-m', mode, '-w', 'stop'])
  const url = (name: string) => `postgres://svc@127.0.0.1:${port}/${name}`
  const psql = (at: string, sql: string) =>
    execFileSync(bin('psql'), ['-X', '-A', '-t', '-v', 'ON_ERROR_STOP=1', at, '-c', sql], { encoding: 'utf8' }).trim()
  const remove = () => {
    spawnSync(bin('pg_ctl'), ['-D', data, '-m', 'immediate', '-w', 'stop'], { ...user, cwd: folder })
    rmSync(folder, { recursive: true, force: true })
  }
  // A run that is cut short calls no clean-up of its own.
  process.once('exit', remove)
  start()
  return {
    freshDatabase: () => {
      const name = `svc_${process.pid}_${databases++}`
      psql(url('postgres'), `create database ${name}`)
      return url(name)
    },
    psql,
    folder,
    start,
    stop,
    remove: () => {
      process.removeListener('exit', remove)
      remove()
    },
  }
}

/** PostgreSQL refuses to run as root: its own user then, else nobody. */
function unprivileged(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {}
  for (const name of ['postgres', 'nobody']) {
    const id = (flag: string) => Number(spawnSync('id', [flag, name], { encoding: 'utf8' }).stdout)
    const uid = id('-u')
    if (uid > 0) return { uid, gid: id('-g') }
  }
  throw new Error('there is no unprivileged user to run PostgreSQL as')
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

export interface FreshDatabase {
  readonly kind: 'pglite' | 'postgresql'
  /** Where a database nobody has used lives: a new folder, or a new name in the one cluster of the test file. */
  readonly fresh: () => Config
}

/** Describes the same behaviour on the embedded database and, where there are binaries, on a server. */
export async function forEachDatabase(name: string, tests: (database: FreshDatabase) => void): Promise<void> {
  // Benchmarks use this file too, and outside of a test run vitest cannot be loaded.
  const { afterAll, describe } = await import('vitest')
  const postgres = await startPostgres()
  const folders: string[] = []
  const config = (env: Record<string, string>) => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-db-'))
    folders.push(folder)
    return readConfig({ SVC_DATA_DIR: folder, ...env }).value
  }
  afterAll(() => {
    postgres?.remove()
    for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  })
  describe(`${name} on pglite`, () => tests({ kind: 'pglite', fresh: () => config({}) }))
  describe.skipIf(postgres === null)(`${name} on postgresql`, () =>
    tests({ kind: 'postgresql', fresh: () => config({ SVC_DATABASE_URL: postgres?.freshDatabase() ?? '' }) }),
  )
}
