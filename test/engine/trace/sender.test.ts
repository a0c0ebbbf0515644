// The sender that empties a journal in order, whatever the receiver answers.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest'
import { type Delivery, type Rejection, startSender } from '../../../engine/trace/delivery/sender.js'
import { orDropped } from '../../../engine/trace/delivery/spooled.js'
import { type Journal, openJournal } from '../../../engine/trace/journal/journal.js'
import { soon } from '../../support/server/soon.js'

const parent = mkdtempSync(join(tmpdir(), 'svc-sender-'))
afterAll(() => rmSync(parent, { recursive: true, force: true }))
const open: Journal[] = []
afterEach(async () => {
  for (const spool of open.splice(0)) await spool.close().catch(() => undefined)
})
let names = 0
const linesOf = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => `{"n":${from + index}}`)

/** A receiver with a rule for what it answers; `got` holds what it took, in order. */
function senderTo(
  answer: (lines: readonly string[], call: number) => Delivery,
  { name = `s${names++}`, max_bytes = 1_000_000, count = 100 } = {},
) {
  const got: string[] = []
  const calls: number[] = []
  const reports: string[] = []
  const rejections: [string, Rejection][] = []
  const report = (line: string) => void reports.push(line)
  const limits = { max_bytes, reserved_bytes: 0, kept_bytes: 0, file_bytes: 4096 }
  const spool = openJournal(parent, name, limits, report)
  open.push(spool)
  const sender = startSender({
    spool,
    deliver: async (bytes) => {
      const lines = bytes.map(String)
      calls.push(lines.length)
      const delivery = answer(lines, calls.length)
      if (delivery.kind === 'delivered') got.push(...lines.slice(0, delivery.taken))
      return delivery
    },
    reject: async (rejected) => {
      for (const { bytes, ...rejection } of rejected) rejections.push([bytes.toString(), rejection])
    },
    onRoom: () => undefined,
    noun: 'incidents',
    max_lines: count,
    max_bytes: 512 * 1024,
    clock: () => 5,
    random: () => 0,
    report,
  })
  return { sender, spool, reports, got, calls, rejections, send: orDropped(spool, sender, 'incidents', report).write }
}
const all = (lines: readonly string[]): Delivery => ({
  kind: 'delivered',
  taken: lines.length,
  rejected: [],
  later: null,
})
const failure = { problem: 'away', retry_after: null, is_away: true }
const failed: Delivery = { kind: 'failed', ...failure }

describe('the sender', () => {
  it('sends everything in order, in parts, after failures that it reports once', async () => {
    const { sender, reports, got, calls, send } = senderTo((lines, call) => (call <= 2 ? failed : all(lines)))
    for (const line of linesOf(0, 250)) send(line)
    expect(sender.status().unread_since).toBe(5)
    await vi.waitFor(() => expect(got).toEqual(linesOf(0, 250)), soon)
    expect(Math.max(...calls)).toBe(100)
    expect(reports).toEqual(['away; incidents are kept and sent later', 'incidents are being sent again'])
    expect(sender.status()).toMatchObject({
      sent: 250,
      rejected: 0,
      last_problem: null,
      last_sent_at: 5,
      unread_since: null,
    })
    await sender.close()
  })

  it('drops a line that makes its request invalid, and no other', async () => {
    const isBad = (line: string) => line === '{"n":37}'
    const rejected: Delivery = { kind: 'rejected', problem: 'bad', detail: 'why' }
    const { sender, rejections, got, send } = senderTo((lines) => (lines.some(isBad) ? rejected : all(lines)))
    for (const line of linesOf(0, 60)) send(line)
    await vi.waitFor(() => expect(got).toEqual(linesOf(0, 60).filter((line) => !isBad(line))), soon)
    expect(rejections).toMatchObject([['{"n":37}', { problem: 'bad', detail: 'why' }]])
    await sender.close()
  })

  it('keeps the lines from the first one on that is taken later, and counts those that are rejected alone', async () => {
    const { sender, rejections, got, calls, send } = senderTo((lines, call) =>
      call === 1
        ? { kind: 'delivered', taken: 4, rejected: [{ line: 2, problem: 'bad', detail: '' }], later: failure }
        : all(lines),
    )
    for (const line of linesOf(0, 10)) send(line)
    await vi.waitFor(() => expect(got).toEqual(linesOf(0, 10)), soon)
    expect(calls).toEqual([10, 6])
    expect(rejections.map(([line]) => line)).toEqual(['{"n":2}'])
    expect(sender.status()).toMatchObject({ sent: 9, rejected: 1 })
    await sender.close()
  })

  it('keeps for the next start what it could not send', async () => {
    const name = `s${names++}`
    const first = senderTo(() => failed, { name })
    for (const line of linesOf(0, 5)) first.send(line)
    await first.sender.close()
    expect(first.reports.at(-1)).toBe('5 incidents are not sent yet; the next start with the same location sends them')
    const second = senderTo(all, { name })
    await vi.waitFor(() => expect(second.got).toEqual(linesOf(0, 5)), soon)
    await second.sender.close()
  })

  it('reports that lines are dropped once, and how many when there is room again', async () => {
    let is_away = true
    const { sender, spool, reports, got, send } = senderTo((lines) => (is_away ? failed : all(lines)), {
      max_bytes: 100,
    })
    for (const line of linesOf(100, 112)) send(line)
    expect([spool.size(), reports.filter((line) => line.includes('dropped')).length]).toEqual([10, 1])
    is_away = false
    await vi.waitFor(() => expect(got.length).toBe(10), soon)
    send('{"n":0}')
    expect(reports.at(-1)).toContain('2 incidents were dropped')
    await sender.close()
  })
})
