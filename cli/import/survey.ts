// The runs of a file, and what has to be known of all of them before the first is sent.
import { readLines, readTranscript, type Transcript } from '@svc/engine'

export interface Survey {
  readonly runs: number
  readonly bad_lines: number
  /** Number of the last line, from 0. */
  readonly last_line: number
  /** Every tool that is called, sorted. */
  readonly tools: readonly string[]
}

/** The first pass: which tools there are, and which lines cannot be used; each of those goes to `complain` once. */
export async function surveyFile(path: string, complain: (line: number, reason: string) => void): Promise<Survey> {
  const tools = new Set<string>()
  let runs = 0
  let bad_lines = 0
  let last_line = 0
  const note = (line: number, reason: string) => {
    bad_lines++
    complain(line, reason)
  }
  for await (const { line, transcript } of runsOf(path, note)) {
    runs++
    last_line = line
    for (const message of transcript.messages) for (const call of message.tool_calls) tools.add(call.name)
  }
  return { runs, bad_lines, last_line, tools: [...tools].sort() }
}

export interface Run {
  /** From 0. */
  readonly line: number
  readonly transcript: Transcript
}

/** The runs of a file in order. A run whose id was there before would be the same task again, and is a bad line. */
export async function* runsOf(path: string, complain: (line: number, reason: string) => void): AsyncGenerator<Run> {
  const lineOfRun = new Map<string, number>()
  for await (const read of readLines(path)) {
    const { line } = read
    if (read.problem === null && read.text.trim() === '') continue
    const reading = read.problem === null ? readTranscript(read.text) : read
    if (reading.problem !== null) {
      complain(line, reading.problem)
      continue
    }
    const { transcript } = reading
    const earlier = lineOfRun.get(transcript.run_id)
    if (earlier === undefined) {
      lineOfRun.set(transcript.run_id, line)
      yield { line, transcript }
    } else complain(line, `\`run_id\` is the one of line ${earlier + 1}`)
  }
}
