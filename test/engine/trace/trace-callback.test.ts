// The trace for a function: in order, one line after the other, and no line fails a step.
import { describe, expect, it } from 'vitest'
import { callbackSink } from '../../../engine/trace/sinks/callback.js'
import type { TraceLine } from '../../../engine/trace/sinks/sink.js'

const line = (task_id: string): TraceLine => ({ kind: 'end', recorded_at: '2026-01-05T09:00:00.000Z', task_id })
const names = Array.from({ length: 5 }, (_, index) => `t${index}`)

describe('the callback sink', () => {
  it('awaits each promise before the next line', async () => {
    const seen: string[] = []
    const waiting: (() => void)[] = []
    const sink = callbackSink(
      async (one) => {
        seen.push(`begin ${one.task_id}`)
        await new Promise<void>((resolve) => waiting.push(resolve))
        seen.push(`end ${one.task_id}`)
      },
      () => undefined,
    )
    for (const name of names) sink.write(line(name))
    await sink.settled()
    expect(seen).toEqual(['begin t0'])
    const flushed = sink.flush()
    for (const _ of names) {
      while (waiting.length === 0) await Promise.resolve()
      waiting.shift()?.()
    }
    await flushed
    expect(seen).toEqual(names.flatMap((name) => [`begin ${name}`, `end ${name}`]))
  })

  it('reports a function that fails once, and goes on', async () => {
    const [seen, reports]: string[][] = [[], []]
    const sink = callbackSink(
      (one) => {
        seen?.push(one.task_id ?? '')
        if (one.task_id !== 't4') throw new Error(`no ${one.task_id}`)
      },
      (text) => reports?.push(text),
    )
    for (const name of names) sink.write(line(name))
    await sink.close()
    expect([seen, reports]).toEqual([names, ['the trace callback failed: no t0']])
  })

  it('drops what does not fit, and says how much', async () => {
    const [seen, reports]: string[][] = [[], []]
    const sink = callbackSink(
      (one) => seen?.push(one.task_id ?? ''),
      (text) => reports?.push(text),
      2,
    )
    for (const name of names) sink.write(line(name))
    await sink.flush()
    sink.write(line('later'))
    await sink.close()
    expect(seen).toEqual(['t0', 't1', 'later'])
    expect(reports).toEqual([
      'lines of the trace are dropped: 2 wait for the callback, the maximum',
      '3 lines of the trace were dropped while the callback was busy',
    ])
  })
})
