// Long work in slices: other work of the event loop goes on between two of them.
import { describe, expect, it } from 'vitest'
import { createPace, inSlices, paced } from '../../../platform/ingest/pace.js'

/** Each look at the time takes 4 ms. */
const clock = () => {
  let now = 0
  return () => {
    now += 4
    return now
  }
}

describe('a pace', () => {
  it('lets other work of the event loop go on', async () => {
    const order: string[] = []
    const turn = () => {
      order.push('turn')
      if (order.filter((one) => one === 'turn').length < 5) setImmediate(turn)
    }
    setImmediate(turn)
    await paced(createPace(clock()), Array.from({ length: 12 }), () => order.push('work'))
    const between = order.slice(order.indexOf('work'), order.lastIndexOf('work'))
    expect(between.filter((one) => one === 'turn').length).toBeGreaterThan(2)
    expect(order.filter((one) => one === 'work')).toHaveLength(12)
  })

  it('gives each of those who share it a slice in turn', async () => {
    const pace = createPace(clock())
    const order: string[] = []
    const work = (name: string) => paced(pace, Array.from({ length: 20 }), () => order.push(name))
    await Promise.all([work('a'), work('b'), work('c')])
    expect(order).toHaveLength(60)
    // None of them ends before another one has begun.
    expect(Math.max(...['a', 'b', 'c'].map((name) => order.indexOf(name)))).toBeLessThan(
      Math.min(...['a', 'b', 'c'].map((name) => order.lastIndexOf(name))),
    )
  })

  it('returns what the work returns, and rejects with what it throws', async () => {
    function* work(fails: boolean) {
      yield
      if (fails) throw new Error('failed')
      return 3
    }
    expect(await inSlices(createPace(), work(false))).toBe(3)
    await expect(inSlices(createPace(), work(true))).rejects.toThrow('failed')
  })
})
