// What `svc explain` does: finds the step, judges it again on its own past, and says what each policy answered.
import type { Writable } from 'node:stream'
import type { Manifest } from '@svc/schemas'
import { onAgent } from '../manifest/on-agent.js'
import { parseManifest } from '../manifest/parse.js'
import { historyOf, timesOf } from '../manifest/past.js'
import { readYaml } from '../manifest/read-yaml.js'
import { type Explanation, explain } from '../policy/explain.js'
import { occasionOf } from '../policy/plan.js'
import type { JsonMap, Step } from '../steps.js'
import type { ExplainOptions } from './explain.js'
import { asText, nameOf } from './explain-text.js'
import { printable } from './printable.js'
import { readText } from './read-text.js'
import { CannotUse, type RecordedTask, recordedTask } from './recorded-task.js'

/** What was found out about one step. */
export interface ExplainedStep extends Explanation {
  readonly task_id: string
  /** Which run of the task's id, from 1, and how many the trace holds. */
  readonly run: number
  readonly runs: number
  readonly step: number
  readonly judged: Step
  /** Names of policies of a level above the agent's. */
  readonly skipped: readonly string[]
}

/** Returns the exit code. */
export async function runExplain(path: string, options: ExplainOptions, out: Writable, err: Writable): Promise<number> {
  try {
    const manifest = readManifest(path, err)
    const task = await recordedTask(options.trace, options.task, options.run)
    const agent = options.agent === undefined ? agentIn(task.steps) : agentAt(options.agent)
    const explained = explainStep(manifest, agent, task, options.step)
    out.write(options.json ? `${JSON.stringify(explained, null, 2)}\n` : asText(explained).map(printable).join('\n'))
    return 0
  } catch (error) {
    const { code, message } = error as { code?: string; message?: string }
    if (!(error instanceof CannotUse) && code === undefined) throw error
    err.write(`svc explain: ${printable(String(message))}\n`)
    return 1
  }
}

/** The manifest's sound policies; what is wrong with the others is said. */
function readManifest(path: string, err: Writable): Manifest {
  const { value, errors } = parseManifest(readText(path), path)
  for (const { file, line, column, message } of errors)
    err.write(`${printable(`${file}:${line}:${column}: ${message}`)}\n`)
  if (value === null) throw new CannotUse(`\`${path}\` is not a manifest that can be used`)
  return value
}

/** The agent as the task's start tells it. */
function agentIn(steps: readonly Step[]): JsonMap {
  const start = steps.find((step) => step.meta?.agent !== undefined)
  return isMap(start?.meta?.agent) ? start.meta.agent : {}
}

function agentAt(path: string): JsonMap {
  const { value, problems } = readYaml(readText(path))
  const [problem] = problems
  if (problem !== undefined) throw new CannotUse(`${path}:${problem.line}:${problem.column}: ${problem.message}`)
  if (!isMap(value)) throw new CannotUse(`\`${path}\` does not hold the fields of an agent`)
  return value
}

function isMap(value: unknown): value is JsonMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function explainStep(
  manifest: Manifest,
  agent: JsonMap,
  { steps, ...task }: RecordedTask,
  number: number,
): ExplainedStep {
  const index = steps.findIndex((step, position) => (step.step ?? position + 1) === number)
  const judged = steps[index]
  if (judged === undefined) throw new CannotUse(`${nameOf(task)} has no step ${number}: it has ${steps.length}`)
  const { set, skipped } = onAgent(manifest, agent)
  const times = timesOf(steps.slice(0, index + 1))
  const history = historyOf(set, steps.slice(0, index), times)
  const situation = { step: judged, agent, context: agent, history, now: times[index] ?? 0 }
  return { ...task, step: number, judged, skipped, ...explain(set, occasionOf(judged), situation) }
}
