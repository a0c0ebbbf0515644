// Tasks whose id continues after an end (test/cases/ended-tasks.yaml): the last step violates the same policies at every door.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onAgent, parseManifest, readTraceLine, runTests, Task } from '@svc/engine'
import { createReplay, policiesOfManifests } from '@svc/engine/parts'
import { fieldsDigest } from '@svc/proof'
import type { BatchAnswer, Evaluation, JsonMap, Step } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { namesOf } from '../../support/engine/replay.js'
import { runSvc, type Serve, startServe } from '../../support/engine/serve.js'
import { assign } from '../../support/http/assign.js'
import { engineDoors, platformDoors } from '../../support/http/doors.js'
import { fast } from '../../support/log/log.js'
import { expectEqualVerdicts } from '../../support/log/rejudge.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'

interface EndedTasks {
  readonly policies: readonly JsonMap[]
  readonly steps: Readonly<Record<string, JsonMap>>
  readonly cases: readonly { readonly task: string; readonly violates: readonly string[] }[]
}

const text = readFileSync(new URL('../../cases/ended-tasks.yaml', import.meta.url), 'utf8')
const { policies, steps: words, cases } = parse(text) as EndedTasks
const scoped = policies.map((policy) => ({ scope: 'step_execution', severity: 'low', ...policy }))
const manifest = JSON.stringify({ name: 'Ended tasks', version: '1', policies: scoped })
const timestamp = '2026-01-05T09:00:00Z'

/** The steps of a task without ids and numbers. */
function stepsOf(task: string): JsonMap[] {
  return task.split(' ').map((word) => {
    const step = words[word] ?? { step_type: 'step.resource', verb: 'POST', step_name: word }
    if (word !== 'approval') return step
    return { ...step, input: { action_digest: fieldsDigest('step.resource', { step_name: 'wire' }) } }
  })
}

/** The same as they are logged. */
function logged(task: string, task_id: string): (JsonMap & Step)[] {
  return stepsOf(task).map(
    (step, index) => ({ task_id, step: index + 1, timestamp, ...step }) as unknown as JsonMap & Step,
  )
}

/** What each case violates by its task. */
const expected = Object.fromEntries(cases.map(({ task, violates }) => [task, violates.toSorted()]))

/** What the last steps violate at a door. */
async function answers(door: (task: string, task_id: string) => Promise<readonly string[]> | readonly string[]) {
  const found: Record<string, readonly string[]> = {}
  for (const [index, { task }] of cases.entries()) found[task] = [...(await door(task, `task ${index}`))].sort()
  return found
}

const { value } = parseManifest(manifest, 'manifest.yaml')
if (value === null) throw new Error('the manifest is invalid')
const own = value

describe('a task whose id continues after an end, without a server', () => {
  it.each([false, true])('is replayed as one task (one by one: %s)', async (one_by_one) => {
    const replayed = await answers((task, task_id) => {
      let last: readonly string[] = []
      const replay = createReplay({
        policies: policiesOfManifests([{ manifest: own, file: 'manifest.yaml', lines: [] }]),
        onStep: ({ after }) => {
          last = namesOf(after.policies)
        },
        one_by_one,
      })
      for (const step of logged(task, task_id)) replay.add(readTraceLine(JSON.stringify(step)))
      return last
    })
    expect(replayed).toEqual(expected)
  })

  it('is explained, and is a test of a manifest', async () => {
    const explained = await answers((task, task_id) => {
      const steps = logged(task, task_id)
      const [step, past] = [steps.at(-1) as Step, steps.slice(0, -1)]
      return namesOf(Task.of(onAgent(own, {}).set, past).explain(step, {}).policies)
    })
    expect(explained).toEqual(expected)
    const tested = await answers((task) => {
      const steps = stepsOf(task) as unknown as Step[]
      const test = { name: task, history: steps.slice(0, -1), step: steps.at(-1), expect: {} }
      return runTests(own, [test as never]).flatMap(({ violated }) => violated)
    })
    expect(tested).toEqual(expected)
  })
})

describe('a task whose id continues after an end, at a local engine', () => {
  let serve: Serve
  beforeAll(async () => {
    serve = await startServe(['--policy-file', 'p.yaml'], { 'p.yaml': manifest })
  })
  afterAll(() => serve.discard())
  const record = async (step: JsonMap, task_id: string) =>
    expect((await serve.post('/record', { step: { ...step, task_id } })).status).toBe(200)
  const evaluate = async (step: JsonMap | undefined, task_id: string) => {
    const context = { agent_id: 'desk', environment: 'test', task_id }
    const { body } = await serve.post<Evaluation>('/evaluate', { intended: { ...step, task_id }, context })
    return namesOf(body.policies)
  }

  it('is evaluated with one history, also through /end_task, after a restart and by svc explain', async () => {
    const evaluated = await answers(async (task, task_id) => {
      const steps = stepsOf(task)
      for (const step of steps.slice(0, -1)) await record(step, task_id)
      return evaluate(steps.at(-1), task_id)
    })
    expect(evaluated).toEqual(expected)
    const ended = await answers(async (task, task_id) => {
      const steps = stepsOf(task)
      for (const step of steps.slice(0, -1))
        if (step.step_type === 'task.end') await serve.post('/end_task', { task_id: `${task_id} e` })
        else await record(step, `${task_id} e`)
      return evaluate(steps.at(-1), `${task_id} e`)
    })
    expect(ended).toEqual(expected)
    serve = await serve.restart()
    const restarted = (suffix: string) =>
      answers((task, task_id) => evaluate(stepsOf(task).at(-1), `${task_id}${suffix}`))
    expect(await restarted('')).toEqual(expected)
    expect(await restarted(' e')).toEqual(expected)

    const { record: recorded = record } = engineDoors(serve)
    const atRecord = await answers(async (task, task_id) => {
      const answer = (await recorded(stepsOf(task).at(-1) ?? {}, task_id)) as { violates?: readonly string[] }
      return answer.violates ?? []
    })
    expect(atRecord).toEqual(expected)
    const trace = join(serve.folder, 'data', 'traces.jsonl')
    const path = join(serve.folder, 'p.yaml')
    writeFileSync(path, manifest)
    const [task_id, step] = ['task 1', '4']
    const { out } = await runSvc(['explain', path, '--trace', trace, '--task', task_id, '--step', step, '--json'])
    expect(namesOf((JSON.parse(out) as Evaluation).policies)).toEqual(['gated'])
  })
})

describe('a task whose id continues after an end, at a platform', () => {
  let platform: TestPlatform
  let agent_id: string
  beforeAll(async () => {
    const started = await startPlatform({ env: fast })
    const { body } = await started.call('POST', '/api/v1/agents', { as: 'key', body: { agent_key: 'desk' } })
    agent_id = String(body.agent_id)
    platform = await assign(started, agent_id, manifest)
  })
  afterAll(() => discard(platform))

  it.each(['logs', 'traces', 'otlp', 'copilot', 'hosted'])('is evaluated with one history by %s', async (name) => {
    const doors = platformDoors(platform, agent_id)
    const last = doors[name]
    const first = name === 'hosted' ? doors.logs : last
    const found = await answers(async (task, task_id) => {
      const steps = stepsOf(task).map((step, index) =>
        name === 'hosted' ? { timestamp, ...step } : { step: index + 1, ...step },
      )
      for (const [index, step] of steps.slice(0, -1).entries())
        expect(await first?.({ step: index + 1, ...step }, `${name} ${task_id}`)).toHaveProperty('violates')
      const answer = await last?.(steps.at(-1) ?? {}, `${name} ${task_id}`)
      return answer !== undefined && 'violates' in answer ? answer.violates : [JSON.stringify(answer)]
    })
    expect(found).toEqual(expected)
  })

  it('is evaluated with one history in a batch, and equal when an auditor evaluates the log again', async () => {
    const found = await answers(async (task, task_id) => {
      const entries = logged(task, `batch ${task_id}`).map((step) => ({ ...step, agent_id }))
      const { body } = await platform.call<BatchAnswer>('POST', '/api/v1/logs/batch', { as: 'key', body: { entries } })
      return (body.results.at(-1)?.entry?.violations ?? []).map(({ name }) => name)
    })
    expect(found).toEqual(expected)
    await expectEqualVerdicts(platform)
  })
})
