// Lines that are read many at a time are those that are read one at a time.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readBatches, readLines } from '@svc/engine/parts'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { runs } from '../../support/random.js'

const folder = mkdtempSync(join(tmpdir(), 'svc-lines-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function* chunksOf(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size)
}

async function inBatches(bytes: Buffer, size: number) {
  const lines: (string | { problem: string })[] = []
  let end = 0
  for await (const batch of readBatches(chunksOf(bytes, size))) {
    expect(batch.first).toBe(lines.length)
    lines.push(...batch.lines)
    end = batch.end
  }
  return { lines, end }
}

async function oneByOne(bytes: Buffer) {
  const path = join(folder, 'lines')
  writeFileSync(path, bytes)
  const lines: (string | { problem: string })[] = []
  for await (const line of readLines(path)) lines.push(line.problem === null ? line.text : { problem: line.problem })
  return lines
}

const pieces = [
  Buffer.from('\n'),
  Buffer.from('{"a":"é😀\u2028"}'),
  Buffer.from('\r\n\n'),
  Buffer.from([0xff]),
  Buffer.from([0xef, 0xbb, 0xbf]),
  Buffer.from([0xe2, 0x82]),
  Buffer.from('text'),
]

describe('lines in batches', () => {
  it('are those of the file, with any size of the chunks', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...pieces), { maxLength: 12 }),
        fc.integer({ min: 1, max: 9 }),
        async (parts, size) => {
          const bytes = Buffer.concat(parts)
          const { lines, end } = await inBatches(bytes, size)
          expect(lines).toEqual(await oneByOne(bytes))
          expect(end).toBe(bytes.length)
        },
      ),
      { numRuns: runs(200) },
    )
  })

  it('are left out where they are too long, and the next ones are read', async () => {
    const long = Buffer.alloc(65 * 1024 * 1024, 'x')
    const bytes = Buffer.concat([Buffer.from('a\n'), long, Buffer.from('\nb\nc')])
    const { lines } = await inBatches(bytes, 1024 * 1024)
    expect(lines).toEqual(['a', { problem: 'longer than 64 MiB' }, 'b', 'c'])
  })
})
