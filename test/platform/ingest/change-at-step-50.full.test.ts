// Policies that change while a task is logged, at step 50 of 100: for every rule with a history.
import type { BatchAnswer, StepViolation } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SentPolicy } from '../../support/engine/changing-source.js'
import { givePolicies } from '../../support/http/own-policies.js'
import { changesAfter, type LongTask, longTasks } from '../../support/log/long-tasks.js'
import { expectEqualVerdicts } from '../../support/log/rejudge.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'
import { sharedPostgres } from '../../support/server/postgres.js'

const begin = Date.UTC(2026, 0, 5, 9)
const betweenMs = 7_000
/** Policies of each rule, so that the log of all of them stays small. */
const maxPolicies = 6

const postgres = await sharedPostgres()
/** A log does not have the project root that this rule compares with. */
const withoutRoot = 'path_within_root'
const tasks = longTasks().flatMap((task) =>
  task.rule === withoutRoot ? [] : [{ ...task, policies: task.policies.slice(-maxPolicies) }],
)
const half = (own: 0 | 1) => (task: LongTask) =>
  task.policies.filter((_, index) => Math.floor(index / 2) % 2 === own || index === 0)
const all = (task: LongTask) => task.policies
const none = () => []

/** The agents of each rule, with their policies before and after the change. */
const agents: Readonly<Record<string, readonly [(task: LongTask) => readonly SentPolicy[], typeof all]>> = {
  whole: [all, all],
  added: [none, all],
  removed: [all, none],
  odd: [half(1), half(1)],
  changed: [half(0), half(1)],
}

type Verdict = Omit<StepViolation, 'policy_id'>

describe('a task in the log', () => {
  const database_url = postgres?.freshDatabase() ?? null
  let platform: TestPlatform
  const ids = new Map<string, string>()
  const idOf = (agent: string, { rule }: LongTask) => ids.get(`${agent} ${rule}`) ?? ''

  const give = async (moment: 0 | 1, chosen: readonly string[]) => {
    const given = chosen.flatMap((agent) =>
      tasks.map((task) => [idOf(agent, task), agents[agent]?.[moment](task) ?? []] as const),
    )
    platform = await givePolicies(platform, new Map(given))
  }
  /** Logs a part of the task; returns the violations of each step, or the problem of a step that the schema rejects. */
  const log = async (agent: string, task: LongTask, from: number, to: number, task_id = `${agent} ${task.rule}`) => {
    const entries = task.steps.slice(from, to).map(({ step }, index) => ({
      ...step,
      task_id,
      agent_id: idOf(agent, task),
      step: from + index + 1,
      timestamp: new Date(begin + (from + index) * betweenMs).toISOString(),
    }))
    const last = { task_id, agent_id: idOf(agent, task), step: to + 1, step_type: 'task.end' }
    const end = { ...last, timestamp: new Date(begin + to * betweenMs).toISOString() }
    const body = { entries: to === task.steps.length ? [...entries, end] : entries }
    const answer = await platform.call<BatchAnswer>('POST', '/api/v1/logs/batch', { as: 'key', body })
    expect(answer.status).toBe(200)
    const found = answer.body.results.map((result) =>
      'entry' in result && result.entry !== undefined ? result.entry.violations.map(withoutId) : result.status,
    )
    // A reason after an end names the task.
    return JSON.parse(JSON.stringify(found).replaceAll(`task \`${task_id}\``, 'the task')) as typeof found
  }
  const later = new Map<string, readonly (readonly Verdict[] | number)[]>()

  beforeAll(async () => {
    platform = await startPlatform({ database_url })
    for (const agent of Object.keys(agents)) {
      for (const task of tasks) {
        const body = { agent_key: `${agent} ${task.rule}`, risk_classification: 'minimal', environment: 'test' }
        const answer = await platform.call<{ agent_id: string }>('POST', '/api/v1/agents', { as: 'key', body })
        expect(answer.status).toBe(201)
        ids.set(body.agent_key, answer.body.agent_id)
      }
    }
    await give(0, Object.keys(agents))
    for (const agent of Object.keys(agents)) for (const task of tasks) await log(agent, task, 0, changesAfter)
    await give(1, ['added', 'removed', 'changed'])
    for (const agent of Object.keys(agents))
      for (const task of tasks) later.set(idOf(agent, task), await log(agent, task, changesAfter, task.steps.length))
    for (const task of tasks)
      later.set(`late ${task.rule}`, await log('whole', task, changesAfter, task.steps.length, `late ${task.rule}`))
  })
  afterAll(() => discard(platform))

  const laterOf = (agent: string, task: LongTask) => later.get(idOf(agent, task))

  it.each(tasks)('has the verdicts of its whole history under $rule', (task) => {
    const whole = laterOf('whole', task)
    expect(whole?.flat().filter((verdict) => typeof verdict === 'object')).not.toEqual([])
    expect(whole).not.toEqual(later.get(`late ${task.rule}`))
    expect(laterOf('added', task)).toEqual(whole)
    expect(laterOf('changed', task)).toEqual(laterOf('odd', task))
    expect(
      laterOf('removed', task)
        ?.flat()
        .filter((verdict) => typeof verdict === 'object'),
    ).toEqual([])
  })

  it('is evaluated again from a bundle with the same verdicts', async () => {
    const { steps } = await expectEqualVerdicts(platform)
    expect(steps).toBeGreaterThan(tasks.length * 400)
  })
})

function withoutId({ policy_id: _, ...violation }: StepViolation): Verdict {
  return violation
}
