// What waits to be sent: the queue on disk, and the sender that empties it in order.
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest'
import { type Delivery, startSender } from '../../engine/trace/sender.js'
import { openSpool, type Spool } from '../../engine/trace/spool.js'
import { soon } from '../support/soon.js'

const parent = mkdtempSync(join(tmpdir(), 'svc-spool-'))
afterAll(() => rmSync(parent, { recursive: true, force: true }))
const open: Spool[] = []
afterEach(() => {
  for (const spool of open.splice(0)) spool.close()
})
let names = 0
const opened = (name: string, limits?: { maxLines: number; maxChars: number }) => {
  const reports: string[] = []
  const spool = openSpool(parent, name, (line) => reports.push(line), limits)
  open.push(spool)
  return { spool, reports, queue: join(parent, name, 'queue.jsonl') }
}
const all = (spool: Spool) => [...spool.first(1_000_000, Number.POSITIVE_INFINITY)]
const linesOf = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => `{"n":${from + index}}`)

describe('the spool', () => {
  it('has the same lines after a crash, without what was removed and without a torn line', () => {
    const name = `s${names++}`
    const { spool, queue } = opened(name)
    for (const line of linesOf(0, 10)) spool.add(line)
    spool.remove(3)
    appendFileSync(queue, '+{"n":10')
    // A process that was killed: its lock names a process that has ended.
    writeFileSync(join(parent, name, 'lock'), '999999999 1')
    const again = opened(name)
    expect(all(again.spool)).toEqual(linesOf(3, 10))
    again.spool.remove(7)
    expect(readFileSync(queue, 'utf8')).toBe('')
  })

  it('is bounded in lines and characters', () => {
    const { spool } = opened(`s${names++}`, { maxLines: 3, maxChars: 20 })
    expect(['[1]', '[2]', '[3]', '[4]'].map(spool.add)).toEqual([true, true, true, false])
    spool.remove(2)
    expect([spool.add(`[${'1'.repeat(20)}]`), spool.add('[5]')]).toEqual([false, true])
    expect(all(spool)).toEqual(['[3]', '[5]'])
    expect([spool.first(2, 1), spool.first(1, 100)]).toEqual([['[3]'], ['[3]']])
  })

  it('is a second one while another process has the first, and is taken over after its end', () => {
    const name = `s${names++}`
    const one = opened(name)
    const two = opened(name)
    one.spool.add('[1]')
    two.spool.add('[2]')
    two.spool.close()
    one.spool.close()
    const next = opened(name)
    expect(all(next.spool)).toEqual(['[1]', '[2]'])
    expect(opened(name).spool.size()).toBe(0)
  })

  it('is in memory when its folder cannot be written, and says so once', () => {
    const file = join(parent, 'a file')
    writeFileSync(file, '')
    const reports: string[] = []
    const spool = openSpool(file, 'queue', (line) => reports.push(line))
    spool.add('[1]')
    expect([all(spool), reports.length]).toEqual([['[1]'], 1])
    spool.close()
  })
})

/** A receiver with a rule for what it answers; `got` holds what it took, in order. */
function senderTo(answer: (lines: readonly string[], call: number) => Delivery, name = `s${names++}`) {
  const got: string[] = []
  const calls: number[] = []
  const { spool, reports } = opened(name)
  const sender = startSender({
    spool,
    deliver: async (lines) => {
      calls.push(lines.length)
      const delivery = answer(lines, calls.length)
      if (delivery.kind === 'delivered') got.push(...lines)
      return delivery
    },
    noun: 'incidents',
    random: () => 0,
    report: (line) => reports.push(line),
  })
  return { sender, spool, reports, got, calls }
}
const delivered: Delivery = { kind: 'delivered', problems: [] }
const failed: Delivery = { kind: 'failed', problem: 'away', retry_after: null }

describe('the sender', () => {
  it('sends everything in order, in parts, after failures that it reports once', async () => {
    const { sender, reports, got, calls } = senderTo((_, call) => (call <= 2 ? failed : delivered))
    for (const line of linesOf(0, 250)) sender.send(line)
    await vi.waitFor(() => expect(got).toEqual(linesOf(0, 250)), soon)
    expect(Math.max(...calls)).toBe(100)
    expect(reports).toEqual(['away; incidents are kept and sent later'])
    await sender.close()
  })

  it('drops a line that is rejected, and no other', async () => {
    const isBad = (line: string) => line === '{"n":37}'
    const rejected: Delivery = { kind: 'rejected', problem: 'bad' }
    const { sender, reports, got } = senderTo((lines) => (lines.some(isBad) ? rejected : delivered))
    for (const line of linesOf(0, 60)) sender.send(line)
    await vi.waitFor(() => expect(got).toEqual(linesOf(0, 60).filter((line) => !isBad(line))), soon)
    expect(reports).toEqual(['bad'])
    await sender.close()
  })

  it('keeps for the next start what it could not send', async () => {
    const name = `s${names++}`
    const first = senderTo(() => failed, name)
    for (const line of linesOf(0, 5)) first.sender.send(line)
    await first.sender.close()
    expect(first.reports.at(-1)).toContain('5 incidents are not sent yet')
    const second = senderTo(() => delivered, name)
    await vi.waitFor(() => expect(second.got).toEqual(linesOf(0, 5)), soon)
    await second.sender.close()
  })

  it('reports that lines are dropped once, and how many when there is room again', async () => {
    let is_away = true
    const { sender, spool, reports, got } = senderTo(() => (is_away ? failed : delivered))
    for (const line of linesOf(0, 10_002)) sender.send(line)
    expect([spool.size(), reports.filter((line) => line.includes('dropped')).length]).toEqual([10_000, 1])
    is_away = false
    await vi.waitFor(() => expect(got.length).toBe(10_000), soon)
    sender.send('{"n":"after"}')
    expect(reports.at(-1)).toContain('2 incidents were dropped')
    await sender.close()
  })
})
