// Reads the lines of a trace in constant memory.
import { readTraceLine, type TraceLineReading } from '../../convert/trace-line.js'
import { readBatches } from './read-lines.js'

export interface TraceReader {
  /** Receives each line that is not empty, by its number from 1. */
  readonly onLine: (reading: TraceLineReading, line: number) => void
  /** Receives the number of bytes read so far. */
  readonly onProgress?: (bytes: number) => void
}

/** Returns the number of steps. Rejects with the error of the stream; a line that cannot be read is a `problem`. */
export async function readTrace(bytes: AsyncIterable<Buffer>, { onLine, onProgress }: TraceReader): Promise<number> {
  let steps = 0
  for await (const { first, lines, end } of readBatches(bytes)) {
    for (let index = 0; index < lines.length; index++) {
      const line = lines[index] as (typeof lines)[number]
      if (typeof line === 'string' && line.trim() === '') continue
      const reading: TraceLineReading =
        typeof line === 'string' ? readTraceLine(line) : { kind: 'problem', problem: line.problem }
      if (reading.kind === 'step') steps += 1
      onLine(reading, first + index + 1)
    }
    onProgress?.(end)
  }
  return steps
}
