// The runs of a file, and the facts about all of them that the first step needs.
import { readLines, readTranscript, type Transcript } from '@svc/engine'

export interface Survey {
  readonly runs: number
  readonly bad_lines: number
  /** Number of the last line, from 0. */
  readonly last_line: number
  /** Names of all called tools, sorted. */
  readonly tools: readonly string[]
}

/** The first pass: collects the tools and reports each bad line once. */
export async function surveyFile(path: string, report: (line: number, reason: string) => void): Promise<Survey> {
  const tools = new Set<string>()
  let runs = 0
  let bad_lines = 0
  let last_line = 0
  const reportBad = (line: number, reason: string) => {
    bad_lines++
    report(line, reason)
  }
  for await (const { line, transcript } of runsOf(path, reportBad)) {
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

/** The runs of a file in order. A second run with the same id would be the same task, so it is a bad line. */
export async function* runsOf(path: string, report: (line: number, reason: string) => void): AsyncGenerator<Run> {
  const lineOfRun = new Map<string, number>()
  for await (const read of readLines(path)) {
    const { line } = read
    if (read.problem === null && read.text.trim() === '') continue
    const reading = read.problem === null ? readTranscript(read.text) : read
    if (reading.problem !== null) {
      report(line, reading.problem)
      continue
    }
    const { transcript } = reading
    const earlier = lineOfRun.get(transcript.run_id)
    if (earlier === undefined) {
      lineOfRun.set(transcript.run_id, line)
      yield { line, transcript }
    } else report(line, `\`run_id\` is the same as on line ${earlier + 1}`)
  }
}
