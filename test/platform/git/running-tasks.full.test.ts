// A manifest that changes by a push at step 50 of 100 of a running task, with and without `pin: task`: for every rule with a history.
import type { BatchAnswer, Evaluation, StepViolation } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { policyDefaults } from '../../support/engine/policy.js'
import { type ManifestsInGit, openManifestsInGit } from '../../support/git/manifests-in-git.js'
import { changesAfter, type LongTask, longTasks } from '../../support/log/long-tasks.js'
import { expectEqualVerdicts } from '../../support/log/rejudge.js'

const begin = Date.UTC(2026, 0, 5, 9)
const betweenMs = 7_000
const restartsAfter = 75
/** Policies of each rule, so that the log of all of them stays small. */
const maxPolicies = 6
/** A log does not have the project root that this rule compares with. */
const tasks = longTasks().flatMap((task) =>
  task.rule === 'path_within_root' ? [] : [{ ...task, policies: task.policies.slice(-maxPolicies) }],
)

/** Their policies read `target.trust`, which an entry of the log has from `is_external_call`, where a step names none. */
const withUnknownTrust = ['field_not_empty', 'field_in_list']

/** A manifest with the policies of one version, and the one that both have. */
function manifestOf({ rule, policies }: LongTask, version: 0 | 1): string {
  const written = policies.flatMap((policy, index) => {
    if (Math.floor(index / 2) % 2 !== version && index !== 0) return []
    const { rule_type, params, scope = policyDefaults.scope, severity = 'low', approval } = policy
    return [{ name: `policy ${index}`, rule_type, params, scope, severity, ...(approval != null && { approval }) }]
  })
  return JSON.stringify({ name: rule, version: String(version), policies: written })
}

/** The manifest of each agent, and the assignment's own members. */
const agents: Readonly<Record<string, readonly [file: 'old' | 'next' | 'changing', more?: object]>> = {
  old: ['old'],
  next: ['next'],
  changed: ['changing'],
  pinned: ['changing', { pin: 'task' }],
  removed: ['old', { pin: 'task' }],
}
const pathOf = (rule: string, file: string) => `${rule}/${file}.yaml`

type Verdict = Omit<StepViolation, 'policy_id' | 'manifest_id'>

let git: ManifestsInGit
const ids = new Map<string, { readonly agent_id: string; readonly assignment: number }>()
const logged = new Map<string, (readonly Verdict[] | number)[]>()
const hosted = new Map<string, readonly string[] | null>()
const idOf = (agent: string, rule: string) => ids.get(`${agent} ${rule}`) ?? { agent_id: '', assignment: 0 }

function entriesOf(agent: string, task: LongTask, task_id: string, from: number, to: number): object[] {
  const { agent_id } = idOf(agent, task.rule)
  const steps = [...task.steps.map(({ step }) => step), { step_type: 'task.end' }]
  return steps.slice(from, to).map((step, index) => {
    const timestamp = new Date(begin + (from + index) * betweenMs).toISOString()
    return { ...step, task_id, agent_id, step: from + index + 1, timestamp }
  })
}

/** Logs a part of the task, and remembers the violations of each step, or the status of one that the schema rejects. */
async function log(agent: string, task: LongTask, from: number, to: number, task_id = `${agent} ${task.rule}`) {
  const body = { entries: entriesOf(agent, task, task_id, from, to) }
  const answer = await git.platform.call<BatchAnswer>('POST', '/api/v1/logs/batch', { as: 'key', body })
  expect(answer.status).toBe(200)
  const found = answer.body.results.map((result) =>
    'entry' in result && result.entry !== undefined ? result.entry.violations.map(withoutIds) : result.status,
  )
  // A reason after an end names the task.
  const unnamed = JSON.parse(JSON.stringify(found).replaceAll(`task \`${task_id}\``, 'the task')) as typeof found
  logged.set(task_id, [...(logged.get(task_id) ?? []), ...unnamed])
}

/** What hosted evaluation reports about the step that follows; null for a type that only logs have. */
async function evaluate(agent: string, task: LongTask, at: number): Promise<readonly string[] | null> {
  const task_id = `${agent} ${task.rule}`
  const [intended] = entriesOf(agent, task, task_id, at, at + 1) as { step?: number; [name: string]: unknown }[]
  const {
    step: _step,
    agent_id,
    task_id: _task,
    is_external_call: _e,
    has_write_permission: _w,
    ...own
  } = intended ?? {}
  const body = { intended: own, context: { agent_id, task_id, environment: 'test' } }
  const answer = await git.platform.call<Evaluation>('POST', '/api/v1/engine/evaluate', { as: 'key', body })
  if (answer.status === 422) return null
  expect([answer.status, answer.body]).toEqual([200, answer.body])
  return answer.body.violations.map(({ name }) => name).sort()
}

const everyTask = async (chosen: readonly string[], work: (agent: string, task: LongTask) => Promise<unknown>) => {
  for (const agent of chosen) for (const task of tasks) await work(agent, task)
}
const all = Object.keys(agents)

beforeAll(async () => {
  git = await openManifestsInGit()
  const files = (changing: 0 | 1) =>
    Object.fromEntries(
      tasks.flatMap((task) => [
        [pathOf(task.rule, 'old'), manifestOf(task, 0)],
        [pathOf(task.rule, 'next'), manifestOf(task, 1)],
        [pathOf(task.rule, 'changing'), manifestOf(task, changing)],
      ]),
    )
  const { id, repository } = await git.connect(files(0))
  await everyTask(all, async (agent, { rule }) => {
    const { agent_id } = await git.register({ risk_classification: 'minimal', environment: 'test' })
    const { assignments } = (
      await git.platform.call<{ assignments: { id: number }[] }>('GET', `/api/v1/assignments?agent_id=${agent_id}`)
    ).body
    for (const one of assignments) await git.platform.call('DELETE', `/api/v1/assignments/${one.id}`)
    const [file, more] = agents[agent] ?? ['old']
    const made = await git.assign(agent_id, id, { manifest_path: pathOf(rule, file), ...more })
    expect([made.status, made.body]).toEqual([201, made.body])
    ids.set(`${agent} ${rule}`, { agent_id, assignment: made.body.id })
  })
  await everyTask(all, (agent, task) => log(agent, task, 0, changesAfter))
  repository.commit(files(1))
  await everyTask(['changed', 'pinned'], async (agent, { rule }) => {
    const { body } = await git.change(idOf(agent, rule).assignment, 'resync')
    expect(body.status).toBe('synced')
  })
  await everyTask(['removed'], (agent, { rule }) =>
    git.platform.call('DELETE', `/api/v1/assignments/${idOf(agent, rule).assignment}`),
  )
  await everyTask(['changed', 'pinned'], async (agent, task) =>
    hosted.set(`${agent} ${task.rule}`, await evaluate(agent, task, changesAfter)),
  )
  await everyTask(all, (agent, task) => log(agent, task, changesAfter, restartsAfter))
  await git.restart()
  await everyTask(all, (agent, task) => log(agent, task, restartsAfter, task.steps.length + 1))
  await everyTask(['next', 'pinned'], (agent, task) =>
    log(agent, task, 0, task.steps.length + 1, `new ${agent} ${task.rule}`),
  )
}, 600_000)
afterAll(() => git.close())

const later = (agent: string, rule: string) => logged.get(`${agent} ${rule}`)?.slice(changesAfter)
const isVerdict = (one: Verdict | number): one is Verdict => typeof one === 'object'

describe('hosted evaluation', () => {
  it('takes a step of most tasks', () => {
    expect([...hosted.values()].filter((one) => one !== null).length).toBeGreaterThan(tasks.length)
  })
})

describe.each(tasks)('a running task under $rule', ({ rule }) => {
  it('has the verdicts of the new version over its whole history', () => {
    expect(later('changed', rule)).toEqual(later('next', rule))
    expect(later('next', rule)).toHaveLength(51)
  })

  it('has those of the version that it began with under `pin: task`, also after a restart', () => {
    expect(later('pinned', rule)).toEqual(later('old', rule))
  })

  it('loses the policies of a removed assignment, pinned or not', () => {
    expect(later('removed', rule)?.flat().filter(isVerdict)).toEqual([])
  })

  it('leaves a later task to the new version', () => {
    expect(logged.get(`new pinned ${rule}`)).toEqual(logged.get(`new next ${rule}`))
  })

  it.skipIf(withUnknownTrust.includes(rule))('is evaluated by the hosted engine as its steps are logged', () => {
    for (const agent of ['changed', 'pinned']) {
      const [next] = later(agent, rule) ?? []
      const names = typeof next === 'object' ? next.map(({ name }) => name).sort() : []
      const evaluated = hosted.get(`${agent} ${rule}`)
      expect([agent, evaluated]).toEqual([agent, evaluated === null ? null : names])
    }
  })
})

describe('the log of these tasks', () => {
  it('is evaluated again from a bundle with the same verdicts', async () => {
    const { steps } = await expectEqualVerdicts(git.platform)
    expect(steps).toBeGreaterThan(tasks.length * 400)
  })
})

function withoutIds({ policy_id: _policy, manifest_id: _manifest, ...violation }: StepViolation): Verdict {
  return violation
}
