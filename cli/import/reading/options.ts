// The options of `svc import`, checked before anything is read or sent.
import { readFileSync, statSync } from 'node:fs'
import { relative, resolve, sep } from 'node:path'
import { type ToolMap, toolMapProblems } from '@svc/engine'
import { readYaml } from '@svc/engine/parts'
import { parseTimestamp } from '@svc/schemas'
import { UsageError } from '../../errors.js'
import { defaultStart } from './default-start.js'
import type { FormatName } from './formats.js'
import { baseName, isFileOfRuns } from './source.js'

export interface ImportOptions {
  readonly agentKey?: string
  readonly out?: string
  readonly to?: string
  readonly apiKey?: string
  readonly tools?: string
  readonly start: string
  readonly taskBy?: string
  readonly ended?: true
  readonly json?: true
}

export interface ImportPlan {
  /** The agent of runs that name none. */
  readonly agent_key: string
  /** The agent of all runs, whatever they name; null without `--agent-key`. */
  readonly given_key: string | null
  readonly task_by: 'trace' | 'conversation'
  /** Nothing is added to the sessions any more. */
  readonly is_over: boolean
  /** ms since 1970. */
  readonly start: number
  readonly tools: ToolMap
  readonly to: { readonly out: string } | { readonly url: string; readonly api_key: string }
}

/** Throws UsageError with the invalid option and its correction. */
export function planImport(format: FormatName, file: string, options: ImportOptions): ImportPlan {
  checkOptions(format, options)
  const start = parseTimestamp(options.start)
  if (start === null)
    throw new UsageError(`\`--start\` is \`${options.start}\`: write an RFC 3339 time, such as 2026-01-01T00:00:00Z`)
  const agent_key = agentKey(format, file, options)
  const to = destination(file, options)
  checkReadable(file)
  const tools = options.tools === undefined ? {} : readToolMap(options.tools)
  const task_by = options.taskBy === 'conversation' ? 'conversation' : 'trace'
  return { agent_key, given_key: options.agentKey ?? null, task_by, is_over: options.ended === true, start, tools, to }
}

/** Formats with times, tasks or steps of their own take no options for them. */
function checkOptions(format: FormatName, { start, tools, taskBy, ended }: ImportOptions): void {
  const has_times = format === 'otel' || format === 'trace' || isSessionFormat(format)
  if (has_times && start !== defaultStart)
    throw new UsageError(`\`--start\` does not apply to ${format}, which has times of its own: leave it out`)
  if (format === 'trace' && tools !== undefined)
    throw new UsageError('`--tools` does not apply to trace, whose steps are complete: leave it out')
  if (ended && !isSessionFormat(format))
    throw new UsageError('`--ended` applies to claude-code and codex only: leave it out')
  if (taskBy === undefined) return
  if (format !== 'otel') throw new UsageError('`--task-by` applies to otel only: leave it out')
  if (taskBy !== 'trace' && taskBy !== 'conversation')
    throw new UsageError(`\`--task-by\` is \`${taskBy}\`: write trace or conversation`)
}

function agentKey(format: FormatName, file: string, { agentKey: given }: ImportOptions): string {
  const names_agents = format === 'otel' || format === 'trace' || isSessionFormat(format)
  if (given === undefined && file === '-' && !names_agents)
    throw new UsageError('standard input has no name: give `--agent-key`')
  const agent_key = given ?? (isSessionFormat(format) ? format : file === '-' ? 'stdin' : baseName(resolve(file)))
  if (/^[ -~]{1,200}$/.test(agent_key)) return agent_key
  throw new UsageError(
    `the agent key is \`${agent_key}\`: give one of 1 to 200 printable ASCII characters with \`--agent-key\``,
  )
}

/** A format whose runs are sessions of one agent, which has the name of the format. */
export function isSessionFormat(format: FormatName): boolean {
  return format === 'claude-code' || format === 'codex'
}

function destination(file: string, { out, to, apiKey }: ImportOptions): ImportPlan['to'] {
  if (out !== undefined && to === undefined) {
    if (isSame(out, file)) throw new UsageError('`--out` is the imported file: write another file')
    if (isFileOfRuns(out) && isWithin(out, file))
      throw new UsageError('`--out` is in the imported folder, where the next import would read it: write it elsewhere')
    return { out }
  }
  if (to === undefined || out !== undefined) throw new UsageError('give one destination: `--out FILE` or `--to URL`')
  if (!isPlatformUrl(to))
    throw new UsageError(`\`--to\` is \`${to}\`: write an http or https URL without credentials, query and fragment`)
  const api_key = apiKey ?? ''
  if (api_key === '') throw new UsageError('`--to` requires an API key: give `--api-key` or set SVC_API_KEY')
  // Not quoted: a message may end up in a log.
  if (!/^[!-~]+$/.test(api_key))
    throw new UsageError('the API key has characters that are not allowed in a key: copy the whole key')
  return { url: to.replace(/\/+$/, ''), api_key }
}

function isSame(out: string, file: string): boolean {
  if (file === '-') return false
  const [one, other] = [out, file].map((path) => statSync(path, { throwIfNoEntry: false }))
  return one?.isFile() === true && one.ino === other?.ino && one.dev === other.dev
}

function isWithin(out: string, file: string): boolean {
  if (file === '-' || statSync(file, { throwIfNoEntry: false })?.isDirectory() !== true) return false
  const path = relative(resolve(file), resolve(out))
  return path !== '..' && !path.startsWith(`..${sep}`)
}

function isPlatformUrl(text: string): boolean {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return false
  const { username, password, search, hash } = new URL(text)
  return username === '' && password === '' && search === '' && hash === ''
}

function checkReadable(file: string): void {
  if (file === '-') return
  if (statSync(file, { throwIfNoEntry: false }) === undefined) throw new UsageError(`\`${file}\` does not exist`)
}

function readToolMap(path: string): ToolMap {
  const yaml = readYaml(textOf(path))
  const problems =
    yaml.problems.length > 0
      ? yaml.problems
      : toolMapProblems(yaml.value).map((problem) => ({
          message: `\`${problem.path.join('.') || 'the file'}\`: ${problem.message}`,
          ...yaml.positionOf(problem.path, problem.at_key),
        }))
  if (problems.length > 0)
    throw new UsageError(problems.map(({ message, line, column }) => `${path}:${line}:${column} ${message}`).join('\n'))
  return yaml.value as ToolMap
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new UsageError(`\`--tools\` is \`${path}\`, which cannot be read: ${(error as NodeJS.ErrnoException).code}`)
  }
}
