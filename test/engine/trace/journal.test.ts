// The queue on disk: what it holds after a crash, in several processes, and beyond its bounds.
import { appendFileSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openJournal } from '../../../engine/trace/journal/journal.js'
import { addAll, allLines, journalLimits, journals, linesOf, removeFirst } from '../../support/engine/journals.js'

const { parent, opened, kill } = journals()
let names = 0

describe('a journal', () => {
  it('leaves alone what its links lead to', () => {
    const name = `j${names++}`
    const other = join(parent, `${name}.txt`)
    writeFileSync(other, 'a line\nand a half')
    mkdirSync(join(parent, name))
    symlinkSync(other, join(parent, name, `${'0'.repeat(20)}.jsonl`))
    const journal = opened(name)
    expect(journal.add('{"n":1}')).toBe(true)
    expect(readFileSync(other, 'utf8')).toBe('a line\nand a half')
    expect([journal.isDurable(), journal.reports.join()]).toEqual([
      false,
      expect.stringContaining('not a file of the queue'),
    ])
  })

  it.each(['9007199254740991', '-1', '1e300', 'x', '00000000009999999999\n1'])(
    'loses no line after the cursor %j',
    async (cursor) => {
      const name = `j${names++}`
      const first = opened(name)
      await addAll(first, linesOf(0, 3))
      await first.close()
      writeFileSync(join(parent, name, 'cursor'), cursor)
      const journal = opened(name)
      await addAll(journal, linesOf(3, 5))
      expect(await allLines(journal)).toEqual(linesOf(0, 5))
    },
  )

  it('has files named by the offset of their first byte, each with whole lines', async () => {
    const journal = opened(`j${names++}`)
    await addAll(journal, linesOf(0, 20))
    const starts = journal.files().map(Number.parseFloat)
    expect(starts).toEqual([0, 64, 125])
    expect(await allLines(journal)).toEqual(linesOf(0, 20))
    expect([journal.size(), journal.position(), journal.waiting()]).toEqual([20, 170, 170])
  })

  it('has the same lines after a crash, without what was removed and without a torn line', async () => {
    const name = `j${names++}`
    const first = opened(name)
    await addAll(first, linesOf(0, 10))
    await removeFirst(first, 3)
    appendFileSync(join(parent, name, first.files().at(-1) ?? ''), '{"n":10')
    kill(name)
    const again = opened(name)
    expect([again.size(), again.position()]).toEqual([7, 80])
    await addAll(again, ['{"n":11}'])
    expect(await allLines(again)).toEqual([...linesOf(3, 10), '{"n":11}'])
  })

  it('has many lines of an earlier process, and deletes their files once they are sent', async () => {
    const name = `j${names++}`
    const large = { max_bytes: 10_000_000, kept_bytes: 0, file_bytes: 400_000 }
    const lines = Array.from({ length: 40_000 }, (_, index) => `{"n":${index},"text":"${'x'.repeat(40)}"}`)
    const first = opened(name, large)
    for (const line of lines) first.add(line)
    await first.settled()
    kill(name)
    const again = opened(name, large)
    again.add('{"n":"new"}')
    await removeFirst(again, 10_000)
    expect(again.size()).toBe(30_001)
    expect(await allLines(again)).toEqual([...lines.slice(10_000), '{"n":"new"}'])
    await removeFirst(again, 30_001)
    expect([again.size(), again.waiting(), again.files()]).toEqual([0, 0, []])
    kill(name)
    const third = opened(name, large)
    for (const line of lines) third.add(line)
    await third.close()
    await opened(name, large).close()
    expect(opened(name, large).waiting()).toBe(third.waiting())
  })

  it('returns at most as many lines and bytes as are asked for, and at least one line', async () => {
    const journal = opened(`j${names++}`)
    await addAll(journal, ['["ä"]', `["${'x'.repeat(300_000)}"]`.slice(0, 90_000), '[3]'])
    const sizes = async (count: number, bytes: number) => (await journal.first(count, bytes)).length
    expect([await sizes(9, 1), await sizes(2, 1e6), await sizes(9, 20), await sizes(9, 1e6)]).toEqual([1, 2, 1, 3])
    await removeFirst(journal, 1)
    expect(await sizes(9, 1)).toBe(1)
    await removeFirst(journal, 2)
    expect([await allLines(journal), journal.size(), journal.waiting()]).toEqual([[], 0, 0])
  })

  it('is bounded in bytes that wait, with room for lines that must not be lost', async () => {
    const journal = opened(`j${names++}`, { max_bytes: 16, reserved_bytes: 8 })
    expect(['[1]', '[2]', '[3]'].map(journal.add)).toEqual([true, true, false])
    expect([journal.room(), ...['[4]', '[5]', '[6]'].map(journal.addReserved)]).toEqual([0, true, true, false])
    await removeFirst(journal, 3)
    expect([journal.room(), journal.add('[7]'), journal.add('[8]')]).toEqual([4, true, false])
    expect(await allLines(journal)).toEqual(['[5]', '[7]'])
  })

  it('keeps what was removed up to a size, for reading back, and deletes whole files before it', async () => {
    const journal = opened(`j${names++}`, { kept_bytes: 100 })
    await addAll(journal, linesOf(10, 60))
    expect(journal.bytes.start()).toBe(0)
    await removeFirst(journal, 40)
    expect(journal.bytes.start()).toBe(252)
    expect(journal.files()[0]).toBe('00000000000000000252.jsonl')
    let kept = ''
    for await (const bytes of journal.bytes.read({ start: 270, end: 297 })) kept += bytes.toString()
    expect(kept.trim().split('\n')).toEqual(linesOf(40, 43))
  })

  it('keeps nothing that has arrived when it may not', async () => {
    const name = `j${names++}`
    const journal = opened(name, { kept_bytes: 0 })
    await addAll(journal, linesOf(0, 12))
    await removeFirst(journal, 12)
    expect(journal.files()).toEqual([])
    await addAll(journal, ['[1]'])
    await journal.close()
    expect(await allLines(opened(name, { kept_bytes: 0 }))).toEqual(['[1]'])
  })

  it('is a second one while another process has the first, and is taken over after its end, the oldest first', async () => {
    const name = `j${names++}`
    const [one, two, three] = [opened(name), opened(name), opened(name)]
    await addAll(one, linesOf(0, 3))
    await addAll(three, linesOf(30, 40))
    await removeFirst(three, 4)
    await addAll(two, linesOf(20, 22))
    for (const journal of [one, two, three]) await journal.close()
    const next = opened(name)
    const younger = statSync(join(parent, `${name}-2`)).mtimeMs >= statSync(join(parent, `${name}-3`)).mtimeMs
    expect(next.folders).toHaveLength(3)
    const left = [linesOf(20, 22), linesOf(34, 40)]
    const found = await allLines(next)
    expect(found.slice(0, 3)).toEqual(linesOf(0, 3))
    expect(found.slice(3).toSorted()).toEqual(left.flat())
    expect([younger, next.size(), opened(name).size()]).toEqual([true, 11, 0])
    await removeFirst(next, 11)
    await next.close()
    expect(opened(`${name}`).size()).toBe(0)
  })

  it('goes on after files that another program has removed', async () => {
    const name = `j${names++}`
    const journal = opened(name)
    await addAll(journal, linesOf(0, 20))
    rmSync(join(parent, name, journal.files()[1] ?? ''))
    expect(await allLines(journal)).toEqual([...linesOf(0, 8), ...linesOf(15, 20)])
    await removeFirst(journal, 13)
    expect(await allLines(journal)).toEqual([])
    expect([journal.size(), journal.waiting()]).toEqual([0, 0])
  })

  it.each([
    ['no number', 'x', 0],
    ['empty', '', 0],
    ['beyond the end', '500', 0],
  ])('with a cursor that is %s loses no line', async (_what, cursor, removed) => {
    const name = `j${names++}`
    const first = opened(name)
    await addAll(first, linesOf(0, 10))
    await first.close()
    writeFileSync(join(parent, name, 'cursor'), cursor)
    const again = opened(name)
    await addAll(again, ['[1]'])
    expect(await allLines(again)).toEqual([...linesOf(removed, 10), '[1]'])
  })

  it('is in memory when its folder cannot be written, and says so once', async () => {
    const file = join(parent, 'a file')
    writeFileSync(file, '')
    const reports: string[] = []
    const journal = openJournal(file, 'queue', journalLimits, (line) => reports.push(line))
    await addAll(journal, linesOf(0, 3))
    await removeFirst(journal, 1)
    expect([await allLines(journal), journal.isDurable(), reports.length]).toEqual([linesOf(1, 3), false, 1])
    await journal.close()
  })

  it('accepts many lines in one write, and is durable after a flush', async () => {
    const name = `j${names++}`
    const journal = opened(name, { file_bytes: 1024, max_bytes: 10_000_000 })
    for (const line of linesOf(0, 5_000)) journal.add(line)
    await Promise.all([journal.flush(), journal.flush(), journal.flush()])
    kill(name)
    expect((await allLines(opened(name))).length).toBe(5_000)
  })
})
