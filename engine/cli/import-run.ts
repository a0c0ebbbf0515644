// Carrying out `svc import`: two passes over the file, so that it never has to be in memory.
import { readFileSync } from 'node:fs'
import { stepsOf } from '../import/chat-completions.js'
import { type GuessedMeaning, meaningOf, type ToolMap, toolMapProblems } from '../import/tools.js'
import { readTranscript, type Transcript } from '../import/transcript.js'
import { parseStrictJson } from '../log/strict-json.js'
import { readYaml } from '../manifest/read-yaml.js'
import { parseTimestamp } from '../steps.js'
import { createFileTarget } from './import-file.js'
import { createPlatformTarget } from './import-platform.js'
import type { ImportCounts, ImportOptions } from './import-target.js'
import { progressBar } from './progress.js'
import { readLines } from './read-lines.js'

class UsageError extends Error {}

/** Runs the import and reports on it; returns the exit code. */
export async function runImport(
  format: string,
  file: string,
  agent_key: string,
  options: ImportOptions,
): Promise<number> {
  try {
    const { tools, start, target } = prepare(format, file, agent_key, options)
    const survey = await surveyFile(file)
    const settings = { agent_key, start, tools, declared_tools: survey.tools }
    await target.begin(settings)
    const bar = progressBar(survey.runs, 'runs')
    for await (const { line, transcript } of transcripts(file, () => undefined)) {
      if (!target.has(line)) await target.put(line, stepsOf(transcript, line, settings))
      bar.tick()
    }
    const counts = await target.finish()
    bar.stop()
    report(options, survey, counts, guessed(survey.tools, tools))
    return survey.bad_lines > 0 || counts.failures.length > 0 ? 1 : 0
  } catch (error) {
    process.stderr.write(`svc import: ${error instanceof Error ? error.message : String(error)}\n`)
    return error instanceof UsageError ? 2 : 1
  }
}

function prepare(format: string, file: string, agent_key: string, options: ImportOptions) {
  if (format !== 'chat-completions') throw new UsageError(`unknown format \`${format}\`; there is: chat-completions`)
  if ((options.out === undefined) === (options.to === undefined)) {
    throw new UsageError('say where the steps go: either --out FILE or --to URL')
  }
  if (file === '-') throw new UsageError('the file is read twice, so it cannot come from a pipe: save it first')
  const start = parseTimestamp(options.start)
  if (start === null)
    throw new UsageError(`--start \`${options.start}\` is not an RFC 3339 time, such as 2026-01-01T00:00:00Z`)
  const tools = options.tools === undefined ? {} : readToolMap(options.tools)
  if (options.out !== undefined) return { start, tools, target: createFileTarget(options.out) }
  const api_key = options.apiKey ?? process.env.SVC_API_KEY
  if (api_key === undefined) throw new UsageError('--to needs an API key: give --api-key or set SVC_API_KEY')
  const url = options.to ?? ''
  if (!/^https?:\/\//.test(url)) throw new UsageError(`--to \`${url}\` is not an http or https URL`)
  const resume = options.resume === true
  return {
    start,
    tools,
    target: createPlatformTarget({ url: url.replace(/\/+$/, ''), api_key, file, agent_key, start, resume }),
  }
}

function readToolMap(path: string): ToolMap {
  const yaml = readYaml(readFileSync(path, 'utf8'))
  const found = yaml.problems.map(({ message, line, column }) => ({ message, line, column }))
  const problems =
    yaml.value === null
      ? found
      : toolMapProblems(yaml.value).map(({ path: where, message }) => ({
          message: `\`${where.join('.')}\` ${message}`,
          ...yaml.positionOf(where, false),
        }))
  if (problems.length > 0) {
    throw new UsageError(problems.map(({ message, line, column }) => `${path}:${line}:${column} ${message}`).join('\n'))
  }
  return yaml.value as ToolMap
}

interface Survey {
  readonly runs: number
  readonly bad_lines: number
  readonly tools: readonly string[]
}

/** The first pass: which tools there are, and which lines cannot be used; those are reported here, once. */
async function surveyFile(file: string): Promise<Survey> {
  const tools = new Set<string>()
  let runs = 0
  let bad_lines = 0
  const complain = (line: number, reason: string) => {
    bad_lines++
    process.stderr.write(`${file}:${line + 1} ${reason}\n`)
  }
  for await (const { transcript } of transcripts(file, complain)) {
    runs++
    for (const message of transcript.messages) for (const call of message.tool_calls) tools.add(call.name)
  }
  return { runs, bad_lines, tools: [...tools].sort() }
}

async function* transcripts(
  file: string,
  complain: (line: number, reason: string) => void,
): AsyncGenerator<{ line: number; transcript: Transcript }> {
  for await (const { line, text } of readLines(file)) {
    if (text.trim() === '') continue
    const reading = parseStrictJson(text)
    if (reading.problem !== null) {
      complain(line, reading.problem.message)
      continue
    }
    const transcript = readTranscript(reading.value)
    if ('problems' in transcript)
      complain(
        line,
        transcript.problems.map((problem) => `\`${problem.path.join('.')}\` ${problem.message}`).join('; '),
      )
    else yield { line, transcript }
  }
}

function guessed(names: readonly string[], tools: ToolMap): string[] {
  return names.filter((name) => !isCertain(meaningOf(name, tools)))
}

function isCertain({ certain }: GuessedMeaning): boolean {
  return certain
}

function report(options: ImportOptions, survey: Survey, counts: ImportCounts, guesses: readonly string[]): void {
  const { runs, bad_lines } = survey
  if (options.json) {
    process.stdout.write(`${JSON.stringify({ runs, bad_lines, ...counts, guessed_tools: guesses })}\n`)
    return
  }
  const lines = [
    `${runs} runs, ${counts.steps} steps: ${counts.created} new, ${counts.replayed} already there, ${counts.failures.length} failed`,
  ]
  if (bad_lines > 0) lines.push(`${bad_lines} lines could not be read (named above)`)
  for (const failure of counts.failures.slice(0, 10)) lines.push(`  ${failure}`)
  const policies = Object.entries(counts.violations).sort(([, a], [, b]) => b - a)
  if (policies.length > 0) lines.push('violations by policy:')
  for (const [name, count] of policies) lines.push(`  ${String(count).padStart(6)}  ${name}${blocks(counts, name)}`)
  if (guesses.length > 0) {
    lines.push(
      `taken for writes because their names say nothing: ${guesses.join(', ')}`,
      '  say what they are in a file for --tools',
    )
  }
  process.stdout.write(`${lines.join('\n')}\n`)
}

function blocks({ would_block }: ImportCounts, name: string): string {
  const count = would_block[name] ?? 0
  return count === 0 ? '' : ` (${count} would have been blocked)`
}
