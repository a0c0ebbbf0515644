// Sends one step through one door, and reads which policies it violates there.
import { parseManifest, readTraceLine } from '@svc/engine'
import { createReplay, createStepCheck, policiesOfManifests } from '@svc/engine/parts'
import type { BatchAnswer, CopilotStep, Evaluation, JsonMap, LogDetail, TraceAnswer } from '@svc/schemas'
import { namesOf } from '../engine/replay.js'
import type { Serve } from '../engine/serve.js'
import type { Answer, TestPlatform } from '../server/platform.js'
import { otlpRequest, otlpSpan } from '../spans/otlp.js'
import { detailsOf } from '../spans/span-steps.js'

/** The names of the violated policies, or why the step was not accepted. */
export type DoorAnswer = { readonly violates: readonly string[] } | { readonly problem: string }

export type Door = (step: JsonMap, task_id: string) => Promise<DoorAnswer>

const timestamp = '2026-01-05T09:00:00Z'
const agent_key = 'desk'

/** The doors that need neither a server nor a database. */
export function fileDoors(manifest: string): Readonly<Record<string, Door>> {
  const { value, errors } = parseManifest(manifest, 'manifest.yaml')
  if (value === null) throw new Error(JSON.stringify(errors))
  const policies = policiesOfManifests([{ manifest: value, file: 'manifest.yaml', lines: [] }])
  const check = createStepCheck()
  const replayed: Door = async (step, task_id) => {
    const line = readTraceLine(JSON.stringify({ task_id, step: 1, timestamp, ...step }))
    if (line.kind !== 'step') return { problem: JSON.stringify(line) }
    const found: string[] = []
    const replay = createReplay({ policies, onStep: ({ after }) => found.push(...namesOf(after.policies)) })
    replay.add(line)
    return { violates: found }
  }
  return {
    trace: replayed,
    import: async (step, task_id) => {
      const line = readTraceLine(JSON.stringify({ task_id, step: 1, timestamp, ...step }))
      const problem = line.kind === 'step' ? check(line.step) : JSON.stringify(line)
      return problem === null ? replayed(step, task_id) : { problem }
    },
  }
}

/** The doors of `svc serve`. */
export function engineDoors(serve: Serve): Readonly<Record<string, Door>> {
  const context = { agent_id: agent_key, environment: 'test' }
  return {
    evaluate: async (step, task_id) => {
      const body = { intended: { ...step, task_id }, context: { ...context, task_id } }
      return answerIn(await serve.post<Evaluation>('/evaluate', body), (found) => namesOf(found.policies))
    },
    record: async (step, task_id) => {
      const answer = await serve.post<JsonMap>('/record', { step: { ...step, task_id } })
      return answerIn(answer, () => {
        const line = serve.trace().findLast((row) => row.kind === 'step' && row.task_id === task_id)
        const { policies = [] } = (line?.meta?.['svc.eval'] ?? {}) as { policies?: Parameters<typeof namesOf>[0] }
        return namesOf(policies)
      })
    },
  }
}

/** The doors of a platform whose only agent is `desk`. */
export function platformDoors(platform: TestPlatform, agent_id: string): Readonly<Record<string, Door>> {
  let spans = 0
  const post = <T>(path: string, what: Parameters<TestPlatform['call']>[2]) =>
    platform.call<T>('POST', path, { as: 'key', ...what })
  const entry = (step: JsonMap, task_id: string) => ({ agent_id, task_id, step: 1, timestamp, ...step })
  const firstOf = ({ results: [first] }: Pick<BatchAnswer, 'results'>): DoorAnswer =>
    first?.entry === undefined ? { problem: JSON.stringify(first) } : { violates: namesIn(first.entry.violations) }
  return {
    logs: async (step, task_id) =>
      answerIn(await post<LogDetail>('/api/v1/logs', { body: entry(step, task_id) }), ({ violations }) =>
        namesIn(violations),
      ),
    batch: async (step, task_id) => {
      const { body } = await post<BatchAnswer>('/api/v1/logs/batch', { body: { entries: [entry(step, task_id)] } })
      return firstOf(body)
    },
    lines: async (step, task_id) => {
      const headers = { 'content-type': 'application/x-ndjson' }
      const raw = `${JSON.stringify(entry(step, task_id))}\n`
      return firstOf((await post<BatchAnswer>('/api/v1/logs/batch', { raw, headers })).body)
    },
    hosted: async (step, task_id) => {
      const body = { intended: { ...step, task_id }, context: { agent_id, task_id } }
      return answerIn(await post<Evaluation>('/api/v1/engine/evaluate', { body }), (found) => namesOf(found.policies))
    },
    traces: async (step, task_id) => {
      const { body } = await post<TraceAnswer>('/api/v1/traces', {
        body: { agent_key, steps: { task_id, step: 1, timestamp, ...step } },
      })
      return firstOf(body as Pick<BatchAnswer, 'results'>)
    },
    copilot: async (step, task_id) => {
      const body = { agent_key, conversation_id: task_id, ...step }
      return answerIn(await post<CopilotStep>('/api/v1/copilot/log', { body }), ({ violations }) => namesIn(violations))
    },
    otlp: async ({ step_type, verb, step_name, input, output, properties }, task_id) => {
      const members = { type: step_type, verb, name: step_name, input, output, properties }
      const given = Object.entries(members).filter(([, value]) => value !== undefined && value !== null)
      const attributes = Object.fromEntries(
        given.map(([name, value]) => [`svc.step.${name}`, typeof value === 'object' ? JSON.stringify(value) : value]),
      )
      spans++
      const named = { ...attributes, 'gen_ai.conversation.id': task_id }
      const span = otlpSpan(['1', null, 'step', 1, 2, named], spans.toString(16))
      await post('/v1/traces', { body: otlpRequest([span], { 'service.name': agent_key }) })
      const step = (await detailsOf(platform, task_id)).at(-1)
      return step === undefined ? { problem: 'no step' } : { violates: namesIn(step.violations) }
    },
  }
}

function answerIn<T>({ status, body }: Pick<Answer<T>, 'status' | 'body'>, read: (body: T) => string[]): DoorAnswer {
  return status < 300 ? { violates: read(body) } : { problem: JSON.stringify(body) }
}

function namesIn(violations: readonly { readonly name: string }[]): string[] {
  return violations.map(({ name }) => name)
}
