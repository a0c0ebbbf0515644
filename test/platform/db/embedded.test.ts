// The embedded database: concurrent connections on one session, with separate transactions.
import { chmodSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { readConfig } from '@svc/platform'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDatabase, withUnscopedTransaction } from '../../../platform/db/db.js'
import { createSession } from '../../../platform/db/embedded-session.js'
import { newDatabasePath, prepareFolder } from '../../../platform/db/new-database.js'

const folders: string[] = []
const folder = () => {
  const made = mkdtempSync(join(tmpdir(), 'svc-embedded-'))
  folders.push(made)
  return made
}
afterAll(() => {
  for (const made of folders) rmSync(made, { recursive: true, force: true })
})

describe('a connection to the one session', () => {
  let pglite: PGlite
  let connect: (maxWaitMs?: number) => Promise<pg.Client>
  beforeAll(async () => {
    const made = join(folder(), 'pg')
    prepareFolder(made, newDatabasePath())
    pglite = await PGlite.create({ dataDir: made })
    const sessionOf = (maxWaitMs: number) =>
      createSession((messages, take) => pglite.execProtocolRawStream(messages, { onRawData: take }), maxWaitMs)
    const session = sessionOf(20_000)
    const impatient = sessionOf(20)
    connect = async (maxWaitMs) => {
      const client = new pg.Client({
        user: 'postgres',
        stream: (maxWaitMs === undefined ? session : impatient).connect,
      })
      client.on('error', () => undefined)
      await client.connect()
      return client
    }
    const client = await connect()
    await client.query('create table rows (writer int, round int)')
    await client.end()
  })
  afterAll(() => pglite.close())

  it('gets its own answers, beside transactions and plain statements of others', async () => {
    const rounds = 40
    const writer = async (id: number) => {
      const client = await connect()
      for (let round = 0; round < rounds; round++) {
        await client.query('begin')
        await client.query('insert into rows values ($1, $2)', [id, round])
        const { rows } = await client.query('select max(round) as last from rows where writer = $1', [id])
        expect(rows).toEqual([{ last: round }])
        await client.query('commit')
      }
      await client.end()
    }
    const reader = async (id: number) => {
      const client = await connect()
      for (let round = 0; round < rounds; round++)
        expect((await client.query('select $1::int as asked', [id * 1000 + round])).rows).toEqual([
          { asked: id * 1000 + round },
        ])
      await client.end()
    }
    const writers = [1, 2, 3, 4].map(writer)
    const readers = [5, 6, 7, 8].map(reader)
    await Promise.all([...writers, ...readers])
    const client = await connect()
    const { rows } = await client.query('select count(*)::int as count from rows')
    expect(rows).toEqual([{ count: 4 * rounds }])
    await client.query('truncate rows')
    await client.end()
  })

  it('is rolled back when it is lost inside a transaction, and the next one gets the session', async () => {
    const [lost, other] = [await connect(), await connect()]
    await lost.query('begin')
    await lost.query('insert into rows values (9, 9)')
    const waiting = other.query('select count(*)::int as count from rows')
    ;(lost as unknown as { connection: { stream: { destroy: () => void } } }).connection.stream.destroy()
    expect((await waiting).rows).toEqual([{ count: 0 }])
    await other.end()
  })

  it('is rolled back when it is lost during a failing statement', async () => {
    const [lost, other] = [await connect(), await connect()]
    await lost.query('begin')
    const failing = lost.query('select 1 / 0')
    ;(lost as unknown as { connection: { stream: { destroy: () => void } } }).connection.stream.destroy()
    await expect(failing).rejects.toThrow()
    expect((await other.query('select 1 as one')).rows).toEqual([{ one: 1 }])
    await other.end()
  })

  it('gets 55P03 when it waits too long, and can retry', async () => {
    const [holder, waiting] = [await connect(20), await connect(20)]
    await holder.query('begin')
    await expect(waiting.query('select 1')).rejects.toMatchObject({ code: '55P03' })
    await holder.query('commit')
    expect((await waiting.query('select 1 as one')).rows).toEqual([{ one: 1 }])
    await Promise.all([holder.end(), waiting.end()])
  })

  it.each([0, 1, 3_000_000])('gets a whole answer of %i characters', async (length) => {
    const client = await connect()
    const { rows } = await client.query(`select repeat('ä', $1) as text from generate_series(1, 3)`, [length])
    expect(rows.map(({ text }) => text.length)).toEqual([length, length, length])
    await client.end()
  })
})

describe('the embedded database', () => {
  const started = async (data_dir: string) => {
    const remarks: string[] = []
    const config = readConfig({ SVC_DATA_DIR: data_dir }).value
    return { db: await openDatabase(config, (message) => remarks.push(message)), remarks }
  }

  it('makes its folder unreadable for other users, even an existing one', async () => {
    const data_dir = folder()
    chmodSync(data_dir, 0o755)
    await (await started(data_dir)).db.close()
    chmodSync(join(data_dir, 'pg'), 0o755)
    const { db, remarks } = await started(data_dir)
    expect(statSync(join(data_dir, 'pg')).mode & 0o777).toBe(0o700)
    expect(remarks).toEqual([])
    await db.close()
  })

  it('warns of a parent folder in which every user can replace it', async () => {
    const parent = folder()
    const data_dir = join(parent, 'data')
    chmodSync(parent, 0o777)
    const { db, remarks } = await started(data_dir)
    expect(remarks).toEqual([
      `\`${parent}\` is writable by every user, who could replace the database: run \`chmod o-w ${parent}\``,
    ])
    await db.close()
  })

  it('closes during an open transaction', async () => {
    const data_dir = folder()
    const { db } = await started(data_dir)
    let begun = () => {}
    const isBegun = new Promise<void>((resolve) => {
      begun = resolve
    })
    const endless = withUnscopedTransaction(db, async (tx) => {
      await tx.query('select 1')
      begun()
      await new Promise(() => undefined)
    })
    endless.catch(() => undefined)
    await isBegun
    await db.close()
    expect(existsSync(join(data_dir, 'lock'))).toBe(false)
  })
})
