// The part of a task's history that another process has logged: a new data directory has no trace of the tasks that ran before it.
import { isMap, parseJson } from '@svc/proof'
import type { Behavior, LogEntry } from '@svc/schemas'
import { bytesOf, reasonOf } from '../../source/answer.js'
import { endpointOf } from '../../source/fetch.js'
import { payloadsMember, stepOfRecord } from '../../task/logged.js'
import type { PastSteps } from '../../task/past-steps.js'
import { problemIn } from '../delivery/post.js'
import type { TracePlatform } from '../delivery/post-traces.js'
import { areAll, type Recall } from './recall.js'

export interface PlatformRecallParts {
  readonly platform: TracePlatform
  /** The trace began with this process: a task that it does not have may be one that ran before. */
  readonly is_new: boolean
  /** ms on a clock that never jumps */
  readonly elapsed: () => number
  readonly report: (line: string) => void
}

/** The first step of a task waits for this answer. */
const askTimeoutMs = 2_000
/** After a failure the platform is not asked for this long, so that tasks do not wait for it one after the other. */
const pauseMs = 30_000

/**
 * The trace, and the log of the platform for tasks that the trace lacks or has in part. While the platform is away, such a task is as
 * the trace has it: an outage must not stop new tasks (docs/adr/0062-task-ids-used-again.md).
 */
export function withLogOfPlatform(trace: Recall, parts: PlatformRecallParts): Recall {
  const ask = createQuestions(parts)
  /** Answers that `steps` reads next. */
  const found = new Map<string, PastSteps>()

  const isLogged = async (task_id: string) => {
    if (await trace.holds(task_id)) return true
    const task = await ask(task_id)
    if (task !== null) found.set(task_id, task)
    return task !== null
  }
  return {
    ...trace,
    holds: (task_id) => {
      const held = trace.holds(task_id)
      return held === true || !parts.is_new ? held : isLogged(task_id)
    },
    steps: async (task_id) => {
      const traced = await trace.steps(task_id)
      if (traced.is_whole && areAll(traced.steps)) return traced
      const logged = found.get(task_id) ?? (await ask(task_id))
      found.delete(task_id)
      return logged === null ? traced : joined(logged, traced)
    },
  }
}

/** Each step once. A step that both have is as the trace has it. */
function joined(logged: PastSteps, traced: PastSteps): PastSteps {
  if (traced.steps.length === 0) return logged
  const numbers = new Set(traced.steps.map(({ step }) => step.step))
  const others = logged.steps.filter(({ step }) => !numbers.has(step.step))
  const steps = [...others, ...traced.steps].sort((a, b) => (a.step.step ?? 0) - (b.step.step ?? 0))
  return { steps, is_whole: logged.is_whole && areAll(steps) }
}

/** Asks for a task; null for one that the log does not have, and for each one while the platform does not answer. */
function createQuestions({ platform, elapsed, report }: PlatformRecallParts) {
  let asked_again_at = 0
  return async (task_id: string): Promise<PastSteps | null> => {
    if (elapsed() < asked_again_at) return null
    try {
      return await fetchTask(platform, task_id)
    } catch (error) {
      asked_again_at = elapsed() + pauseMs
      const { origin } = new URL(platform.url)
      const reason = reasonOf(error, askTimeoutMs)
      report(
        `the earlier steps of tasks cannot be read from ${origin}, and tasks count as new until they can: ${reason}`,
      )
      return null
    }
  }
}

/** Rejects when the platform does not answer, or not as a platform does. */
async function fetchTask({ url, api_key }: TracePlatform, task_id: string): Promise<PastSteps | null> {
  // A dot segment would be another path.
  if (/^\.{1,2}$/.test(task_id)) return null
  const { href } = endpointOf(url, `api/v1/tasks/${encodeURIComponent(task_id)}/chain`)
  const headers = { authorization: `Bearer ${api_key}` }
  // A redirect would send the key to another address.
  const response = await fetch(href, { headers, redirect: 'manual', signal: AbortSignal.timeout(askTimeoutMs) })
  const { status } = response
  const bytes = await bytesOf(response).catch(() => null)
  // The task is there, and is too long to be read back.
  if (status === 413 || (status === 200 && bytes === null)) return { steps: [], is_whole: false }
  if (bytes !== null && status === 200) return taskIn(parseJson(bytes.toString()))
  const is_unknown =
    bytes !== null && status === 404 && problemIn({ status, headers: response.headers, bytes }).code === 'NOT_FOUND'
  if (is_unknown) return null
  throw new Error('no answer', { cause: { message: `it answered ${status}` } })
}

/** Throws when the value is not a chain. */
function taskIn(chain: unknown): PastSteps {
  const { entries } = isMap(chain) ? chain : {}
  if (!Array.isArray(entries))
    throw new Error('no answer', { cause: { message: 'it does not answer as a platform does' } })
  const logged = entries as readonly LogEntry[]
  const steps = logged.map((entry) => ({ step: stepOf(entry), at: Date.parse(entry.received_at) }))
  return { steps, is_whole: logged.every(isKept) && areAll(steps) }
}

function stepOf({ verb, step_name, input, output, properties, meta, ...record }: LogEntry): Behavior {
  const payload = { verb, step_name, input, output, properties, meta }
  return stepOfRecord(
    record,
    Object.fromEntries(Object.entries(payload).filter(([, value]) => value !== null)),
  ) as Behavior
}

/** False also for a step that never had content: it looks like one whose content is erased. */
function isKept({ verb, step_name, input, output, properties, meta }: LogEntry): boolean {
  if (meta?.[payloadsMember] !== undefined) return false
  return [verb, step_name, input, output, properties, meta].some((value) => value !== null)
}
