// The queue on disk while the disk takes nothing, and when another program removes its files.
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { addAll, allLines, journals, linesOf, removeFirst } from '../../support/engine/journals.js'

const { parent, opened, kill } = journals()
let names = 0
/** Lets no file be made, as a full disk does; an open one can be written. */
const fill = (name: string) => {
  rmSync(join(parent, name), { recursive: true })
  writeFileSync(join(parent, name), '')
}
const free = (name: string) => rmSync(join(parent, name))

describe('a disk that takes nothing', () => {
  it('delays no line: they are sent from memory, and written once it takes them', async () => {
    const name = `f${names++}`
    const journal = opened(name)
    await addAll(journal, linesOf(0, 8))
    await removeFirst(journal, 8)
    fill(name)
    await addAll(journal, linesOf(8, 12))
    expect([await allLines(journal), journal.size(), journal.isDurable()]).toEqual([linesOf(8, 12), 4, false])
    await addAll(journal, linesOf(12, 14))
    await removeFirst(journal, 3)
    expect([await allLines(journal), journal.size()]).toEqual([linesOf(11, 14), 3])
    await expect(journal.flush()).rejects.toThrow()
    free(name)
    await addAll(journal, ['[1]'])
    expect([await allLines(journal), journal.isDurable()]).toEqual([[...linesOf(11, 14), '[1]'], true])
    const of_writing = journal.reports.filter((line) => /cannot be written|written to/.test(line))
    expect(of_writing).toEqual([
      expect.stringContaining('the trace cannot be written'),
      expect.stringContaining('again; 0 lines were lost'),
    ])
    let kept = ''
    for await (const bytes of journal.bytes.read({ start: 0, end: journal.position() })) kept += bytes.toString()
    expect(kept.trim().split('\n')).toEqual([...linesOf(0, 14), '[1]'])
  })

  it('frees what has arrived for what waits', async () => {
    const name = `f${names++}`
    const journal = opened(name, { file_bytes: 1_000 })
    await addAll(journal, linesOf(0, 300))
    await removeFirst(journal, 10)
    expect(journal.files()).toHaveLength(3)
    // The last file, which is open, is full for the next line.
    mkdirSync(join(parent, name, `${String(journal.position()).padStart(20, '0')}.jsonl`))
    await addAll(journal, [`["${'x'.repeat(900)}"]`])
    await removeFirst(journal, 290)
    expect(journal.files().length).toBeLessThan(3)
    expect(await allLines(journal)).toHaveLength(1)
  })

  it('holds nothing once all that is on it has arrived: what was sent from memory is never written', async () => {
    const name = `f${names++}`
    const journal = opened(name, { file_bytes: 16 })
    await addAll(journal, linesOf(0, 2))
    mkdirSync(join(parent, name, `${String(journal.position()).padStart(20, '0')}.jsonl`))
    await addAll(journal, linesOf(2, 6))
    await removeFirst(journal, 3)
    rmSync(join(parent, name, `${String(16).padStart(20, '0')}.jsonl`), { recursive: true })
    expect([journal.files(), await allLines(journal), journal.size()]).toEqual([[], linesOf(3, 6), 3])
    await addAll(journal, linesOf(6, 7))
    expect([journal.files(), await allLines(journal)]).toEqual([
      [24, 48].map((start) => `${String(start).padStart(20, '0')}.jsonl`),
      linesOf(3, 7),
    ])
    kill(name)
    const again = opened(name)
    expect([await allLines(again), again.lost()]).toEqual([linesOf(3, 7), 0])
  })

  it('and the end of the process: the lines that are lost are counted at the next start', async () => {
    const name = `f${names++}`
    const journal = opened(name, { file_bytes: 16 })
    await addAll(journal, linesOf(0, 2))
    mkdirSync(join(parent, name, `${String(journal.position()).padStart(20, '0')}.jsonl`))
    await addAll(journal, linesOf(2, 6))
    expect(await allLines(journal)).toEqual(linesOf(0, 6))
    await removeFirst(journal, 1)
    rmSync(join(parent, name, `${String(16).padStart(20, '0')}.jsonl`), { recursive: true })
    kill(name)
    const again = opened(name)
    expect([again.lost(), again.reports.join()]).toEqual([4, expect.stringContaining('4 lines were lost')])
    kill(name)
    expect(opened(name).lost()).toBe(0)
  })
})

describe('another program that removes', () => {
  it('the folder: what is there is written again, and held', async () => {
    const name = `f${names++}`
    const journal = opened(name, { file_bytes: 1_000 })
    await addAll(journal, linesOf(0, 5))
    rmSync(join(parent, name), { recursive: true })
    expect(await allLines(journal)).toEqual(linesOf(0, 5))
    rmSync(join(parent, name), { recursive: true })
    await addAll(journal, linesOf(5, 8))
    expect(opened(name).folders[0]).toMatch(/-2$/)
    kill(name)
    expect(await allLines(opened(name))).toEqual(linesOf(0, 8))
  })

  it('lines that were not sent: they are counted and reported', async () => {
    const name = `f${names++}`
    const journal = opened(name)
    await addAll(journal, linesOf(0, 20))
    rmSync(join(parent, name, journal.files()[1] ?? ''))
    await removeFirst(journal, 13)
    await allLines(journal)
    expect([journal.lost(), journal.size(), journal.reports]).toEqual([
      7,
      0,
      [expect.stringContaining('has removed 7 lines that were not sent')],
    ])
  })
})

describe('beside the queue', () => {
  it('a file with the name of another queue, and one that cannot be deleted, stop nothing', async () => {
    const name = `f${names++}`
    writeFileSync(join(parent, `${name}-2`), '')
    const journal = opened(name, { kept_bytes: 0 })
    await addAll(journal, linesOf(0, 12))
    const [first = ''] = journal.files()
    await allLines(journal)
    rmSync(join(parent, name, first))
    mkdirSync(join(parent, name, first))
    journal.remove(10)
    journal.remove(1)
    expect(journal.reports).toEqual([expect.stringContaining('what was sent cannot be deleted')])
    expect(await allLines(journal)).toEqual(linesOf(11, 12))
  })

  it('a lock of a process whose id was used again holds nothing', async () => {
    const name = `f${names++}`
    const journal = opened(name)
    await addAll(journal, linesOf(0, 2))
    writeFileSync(join(parent, name, 'lock'), `${process.pid} 1`)
    const next = opened(name)
    expect([await allLines(next), next.folders]).toEqual([linesOf(0, 2), [join(parent, name)]])
  })

  it('a link in place of the cursor is not followed', async () => {
    const name = `f${names++}`
    const other = join(parent, `${name}.txt`)
    writeFileSync(other, 'of another program')
    mkdirSync(join(parent, name))
    symlinkSync(other, join(parent, name, 'cursor'))
    const journal = opened(name)
    await addAll(journal, linesOf(0, 2))
    await removeFirst(journal, 1)
    expect([readFileSync(other, 'utf8'), journal.isDurable()]).toEqual(['of another program', false])
  })
})
