// The lines of a session in one order: those of its sub-agents, which may be in files of their own, by their times.
import { parseTimestamp } from '@svc/schemas'
import { linesOf } from './lines.js'
import type { Part } from './places.js'

export interface SessionValue {
  readonly value: Readonly<Record<string, unknown>>
  readonly text: string
}

interface Stream {
  readonly part: Part
  readonly values: AsyncGenerator<SessionValue>
  head: SessionValue | null
  /** Time of the head, never before that of an earlier line. */
  time: number
  is_open: boolean
}

/**
 * The parts in their order as one, and the parts of sub-agents among them by time. A file is opened when its first line is
 * next, so that few are open at once.
 */
export async function* mergedValues(main: readonly Part[], agents: readonly Part[]): AsyncGenerator<SessionValue> {
  const streams = [streamOf(main), ...agents.map((part) => streamOf([part]))].filter((stream) => stream !== null)
  while (streams.length > 0) {
    // The first of equal times: the main stream, then the order of the files.
    const next = streams.reduce((best, stream) => (stream.time < best.time ? stream : best))
    if (!next.is_open) {
      next.is_open = true
      await advance(next)
    } else if (next.head !== null) {
      yield next.head
      await advance(next)
    }
    if (next.head === null) streams.splice(streams.indexOf(next), 1)
  }
}

function streamOf(parts: readonly Part[]): Stream | null {
  const [part] = parts
  if (part === undefined) return null
  return { part, values: valuesIn(parts), head: null, time: part.begins ?? Number.NEGATIVE_INFINITY, is_open: false }
}

async function advance(stream: Stream): Promise<void> {
  const { value, done } = await stream.values.next()
  stream.head = done === true ? null : value
  const time = timeOf(stream.head)
  if (time !== null) stream.time = Math.max(stream.time, time)
}

function timeOf(head: SessionValue | null): number | null {
  const timestamp = head?.value.timestamp
  return typeof timestamp === 'string' ? parseTimestamp(timestamp) : null
}

async function* valuesIn(parts: readonly Part[]): AsyncGenerator<SessionValue> {
  for (const part of parts) {
    for await (const line of linesOf(part)) {
      if (line.kind !== 'value' || typeof line.value !== 'object' || line.value === null) continue
      yield { value: line.value as SessionValue['value'], text: line.text }
    }
  }
}
