// The lock of a data directory between processes that run, crash and start concurrently.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { readConfig } from '../../../platform/config.js'
import { openDatabase } from '../../../platform/db/db.js'
import { lastMigration } from '../../../platform/db/migrations/index.js'
import { startProcess } from '../../support/server/process.js'

const builtLock = new URL('../../../engine/dist/files/lock-file.js', import.meta.url).href
const taker = `
  const { LockTaken, takeLock } = await import('${builtLock}')
  const attempt = (directory) => {
    try {
      takeLock(directory)
      return 'taken'
    } catch (error) {
      return error instanceof LockTaken ? 'rejected' : String(error)
    }
  }
  const { existsSync, writeSync } = await import('node:fs')
  const [, directory, word] = process.argv
  writeSync(1, 'ready')
  while (!existsSync(word));
  writeSync(1, attempt(directory))
  setInterval(() => {}, 1000)
`

/** A process that waits for the file `word`, then takes the lock at the same moment as others, and keeps running. */
async function readyToTake(directory: string, word: string) {
  const child = spawn(process.execPath, ['--input-type=module', '-e', taker, directory, word])
  const said = () =>
    new Promise<string>((resolve, reject) => {
      child.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString()))
      child.stderr.once('data', (chunk: Buffer) => reject(new Error(chunk.toString())))
    })
  await said()
  const ended = new Promise((resolve) => child.once('close', resolve))
  return {
    answer: said(),
    end: () => {
      child.kill('SIGKILL')
      return ended
    },
  }
}

describe('a data directory', () => {
  const folders: string[] = []
  const folder = () => {
    const made = mkdtempSync(join(tmpdir(), 'svc-lock-'))
    folders.push(made)
    return made
  }
  afterAll(() => {
    for (const made of folders) rmSync(made, { recursive: true, force: true })
  })

  it('belongs to one live process, and to the next one after a kill', async () => {
    const data_dir = folder()
    const config = readConfig({ SVC_DATA_DIR: data_dir }).value
    const holder = await startProcess({ SVC_DATA_DIR: data_dir, SVC_PORT: '0' })
    const [pid] = readFileSync(join(data_dir, 'lock'), 'utf8').split(' ')
    await expect(openDatabase(config)).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining(`is in use by process ${pid}`),
    })
    await holder.kill9()
    const db = await openDatabase(config)
    expect(await lastMigration(db)).toMatch(/^\d{4}-[a-z-]+$/)
    await db.close()
  })

  it.each(['no lock', 'a stale lock'])('is opened by one of several concurrent starts with %s', async (found) => {
    for (let round = 0; round < 4; round++) {
      const data_dir = folder()
      const word = join(folder(), 'go')
      if (found === 'a stale lock') writeFileSync(join(data_dir, 'lock'), '999999999 1')
      const starts = await Promise.all(Array.from({ length: 5 }, () => readyToTake(data_dir, word)))
      writeFileSync(word, '')
      const answers = await Promise.all(starts.map((start) => start.answer))
      await Promise.all(starts.map((start) => start.end()))
      expect(answers.sort()).toEqual(['rejected', 'rejected', 'rejected', 'rejected', 'taken'])
    }
  })
})
