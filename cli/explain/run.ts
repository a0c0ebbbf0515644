// What `svc explain` does: finds the step, judges it again on its own past, and says what each policy answered.
import type { Writable } from 'node:stream'
import { explain, historyOf, occasionOf, onAgent, parseManifest, readYaml, timesOf } from '@svc/engine'
import { printable } from '@svc/proof'
import { readText } from '@svc/proof/verify'
import type { JsonMap, Manifest, Step } from '@svc/schemas'
import type { ExplainedStep } from './explained.js'
import type { ExplainOptions } from './options.js'
import { CannotUse, recordedEvaluation, recordedTask } from './recorded-task.js'
import { asText, nameOf } from './text.js'

/** Returns the exit code. */
export async function runExplain(
  path: string | undefined,
  options: ExplainOptions,
  out: Writable,
  err: Writable,
): Promise<number> {
  try {
    const manifest = path === undefined ? await bundled(err) : readManifest(path, err)
    const explained = explainMoment(manifest, await momentOf(options))
    out.write(options.json ? `${JSON.stringify(explained, null, 2)}\n` : asText(explained).map(printable).join('\n'))
    return 0
  } catch (error) {
    const { code, message } = error as { code?: string; message?: string }
    if (!(error instanceof CannotUse) && code === undefined) throw error
    err.write(`svc explain: ${printable(String(message))}\n`)
    return 1
  }
}

/** A step, what preceded it in its run, and whose it is. */
interface Moment extends Pick<ExplainedStep, 'task_id' | 'run' | 'runs' | 'step' | 'evaluation_id' | 'judged'> {
  readonly past: readonly Step[]
  readonly agent: JsonMap
}

async function momentOf({ trace, task, run, step, evaluation, agent: file }: ExplainOptions): Promise<Moment> {
  if (evaluation !== undefined) {
    const { steps: past, intended: judged, ...found } = await recordedEvaluation(trace, evaluation)
    return { ...found, past, judged, step: null, agent: file === undefined ? found.agent : agentAt(file) }
  }
  const { steps, ...found } = await recordedTask(trace, task, run)
  const index = steps.findIndex((one, position) => (one.step ?? position + 1) === step)
  const judged = steps[index]
  if (judged === undefined) throw new CannotUse(`${nameOf(found)} has no step ${step}: it has ${steps.length}`)
  const agent = file === undefined ? agentIn(steps) : agentAt(file)
  return { ...found, past: steps.slice(0, index), judged, step: step ?? null, evaluation_id: null, agent }
}

/** The policies that `svc serve --baseline` enforces. */
async function bundled(err: Writable): Promise<Manifest> {
  err.write('svc explain: no manifest is given: the bundled baseline is used\n')
  return (await import('@svc/engine/baseline')).baselineManifest
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

function explainMoment(manifest: Manifest, { past, agent, judged, ...named }: Moment): ExplainedStep {
  const { set, skipped } = onAgent(manifest, agent)
  const times = timesOf([...past, judged])
  const history = historyOf(set, past, times)
  const context = { step: judged, agent, context: agent, history, now: times.at(-1) ?? 0 }
  return { ...named, judged, skipped, ...explain(set, occasionOf(judged), context) }
}
