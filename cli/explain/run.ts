// `svc explain`: finds the step, evaluates it again on its history, and reports the result of each policy.
import type { Writable } from 'node:stream'
import { approvalsRequired, onAgent, parseManifest, Task } from '@svc/engine'
import { isMap, printable } from '@svc/proof'
import { readText } from '@svc/proof/verify'
import type { JsonMap, Manifest, Step } from '@svc/schemas'
import { InputError, UsageError } from '../errors.js'
import { readAgent } from '../manifests/replay/input.js'
import type { ExplainedStep } from './explained.js'
import { recordedEvaluation, recordedTask } from './recorded-task.js'
import { explanationText } from './text.js'

export interface ExplainOptions {
  readonly trace: string
  readonly step?: number
  readonly evaluation?: string
  readonly task?: string
  readonly agent?: string
  readonly json?: true
}

/** Returns the exit code. */
export async function runExplain(
  path: string | undefined,
  options: ExplainOptions,
  out: Writable,
  err: Writable,
): Promise<number> {
  try {
    const { manifest, invalid } =
      path === undefined ? { manifest: await bundledManifest(err), invalid: false } : readManifest(path, err)
    const recorded = await recordedStep(options)
    const explained = explainStep(manifest, recorded)
    out.write(
      options.json
        ? `${JSON.stringify(explained, null, 2)}\n`
        : explanationText(explained, recorded.past).map(printable).join('\n'),
    )
    return invalid ? 2 : 0
  } catch (error) {
    const { code, message } = error as { code?: string; message?: string }
    if (code === undefined) throw error
    err.write(`svc explain: ${printable(String(message))}\n`)
    return error instanceof UsageError ? 2 : 1
  }
}

/** A step, the steps before it in its task, and its agent. */
interface RecordedStep extends Pick<ExplainedStep, 'task_id' | 'step' | 'evaluation_id' | 'evaluated'> {
  readonly past: readonly Step[]
  readonly agent: JsonMap
}

async function recordedStep({ trace, task, step, evaluation, agent: file }: ExplainOptions): Promise<RecordedStep> {
  if (evaluation !== undefined) {
    const { steps: past, intended: evaluated, ...found } = await recordedEvaluation(trace, evaluation)
    return { ...found, past, evaluated, step: null, agent: file === undefined ? found.agent : readAgent(file) }
  }
  const { steps, ...found } = await recordedTask(trace, task)
  const index = steps.findIndex((one, position) => (one.step ?? position + 1) === step)
  const evaluated = steps[index]
  if (evaluated === undefined)
    throw new InputError(`task \`${found.task_id}\` has no step ${step}: it has ${steps.length}`)
  const agent = file === undefined ? agentOfTask(steps.slice(0, index + 1)) : readAgent(file)
  return { ...found, past: steps.slice(0, index), evaluated, step: step ?? null, evaluation_id: null, agent }
}

/** The policies of `svc serve --baseline`. */
async function bundledManifest(err: Writable): Promise<Manifest> {
  err.write('svc explain: no manifest given, the bundled baseline is used\n')
  return (await import('@svc/engine/baseline')).baselineManifest
}

/** The valid policies of the manifest; errors of the others are printed, and make the command fail: they may have blocked the step. */
function readManifest(path: string, err: Writable): { readonly manifest: Manifest; readonly invalid: boolean } {
  const { value, errors } = parseManifest(readText(path), path)
  for (const { file, line, column, message } of errors)
    err.write(`${printable(`${file}:${line}:${column}: ${message}`)}\n`)
  if (value === null) throw new InputError(`\`${path}\` cannot be used`)
  if (errors.length > 0 && value.policies.length === 0) throw new UsageError(`\`${path}\` has no valid policy`)
  if (errors.length > 0) err.write('svc explain: the explanation lacks the invalid parts of the manifest\n')
  return { manifest: value, invalid: errors.length > 0 }
}

/** The agent in `meta.agent` of the start of the task; `steps` end with the explained one. */
function agentOfTask(steps: readonly Step[]): JsonMap {
  const start = steps.find((step) => step.meta?.agent !== undefined)
  return isMap(start?.meta?.agent) ? start.meta.agent : {}
}

function explainStep(manifest: Manifest, { past, agent, evaluated, ...named }: RecordedStep): ExplainedStep {
  const { set, skipped } = onAgent(manifest, agent)
  const { approvals, ...explanation } = Task.of(set, past).explain(evaluated, agent)
  const approval_required = approvalsRequired(approvals, (gate) => ({ step: { task_id: named.task_id, ...gate } }))
  return { ...named, evaluated, skipped, ...explanation, ...(approvals.length > 0 && { approval_required }) }
}
