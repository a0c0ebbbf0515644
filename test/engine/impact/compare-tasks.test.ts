// A comparison of recorded tasks finds what a replay of the same steps finds, for random policies, tasks and agents.
import { createReplay, samePolicies } from '@svc/engine/parts'
import type { JsonMap, Step } from '@svc/schemas'
import { describe, expect, it } from 'vitest'
import { compareTasks } from '../../../engine/impact/replay/compare-tasks.js'
import { policyDefaults } from '../../support/engine/policy.js'
import { numbers, pick, type Random, randomGiven, randomPair } from '../../support/engine/policy-pairs.js'

type Policies = Parameters<typeof samePolicies>[0]

const severities = ['low', 'high', 'critical', 'critical', 'critical']

/** Policies before and after a change: most are equal, one or two differ in a parameter, and some are added or removed. */
function randomChange(random: Random) {
  const before: object[] = []
  const after: object[] = []
  const rules: string[] = []
  const count = 2 + Math.floor(random() * 4)
  for (let index = 0; index < count; index += 1) {
    const { old, next, scope } = randomPair(random)
    const approval = random() < 0.3 && scope === 'step_execution' ? { approval: { check_type: 'human_approval' } } : {}
    const base = { ...policyDefaults, scope, severity: pick(random, severities), name: `policy ${index}`, ...approval }
    rules.push(old.rule_type)
    const draw = random()
    if (draw < 0.85) before.push({ ...base, ...old, id: index + 1, manifest_sha: 'old' })
    if (draw < 0.5) after.push({ ...base, ...old, id: 90 - index, manifest_sha: 'new', description: 'again' })
    else if (draw < 0.75 || draw >= 0.85) after.push({ ...base, ...next, id: 90 - index, manifest_sha: 'new' })
  }
  return { before: before as unknown as Policies, after: after as unknown as Policies, rules }
}

function randomTask(random: Random, rules: readonly string[], task_id: string) {
  const { agent, history, step, now } = randomGiven(random, rules, pick(random, ['step_execution', 'task_execution']))
  const steps = [...history, { ...step, timestamp: now }].map((one) => ({ ...one, task_id }) as Step)
  // A task id can be used again after its end.
  const again = random() < 0.2 ? steps.slice(0, 2).map((one) => ({ ...one, timestamp: now })) : []
  return { task_id, agent: agent as JsonMap, steps: [...steps, ...again] }
}

describe('a comparison of tasks', () => {
  it('agrees with a replay of all steps', () => {
    const found = { newly_blocked: 0, newly_asked: 0, no_longer_blocked: 0, none: 0, flips: 0 }
    for (let seed = 1; seed <= 400; seed += 1) {
      const random = numbers(seed * 7919)
      const { before, after, rules } = randomChange(random)
      const tasks = Array.from({ length: 5 }, (_, index) => randomTask(random, rules, `task-${index}`))
      const [old, now] = [samePolicies(before), samePolicies(after)]
      const compare = compareTasks(old.policies, now.policies)
      for (const { task_id, agent, steps } of tasks) {
        const answer = compare(steps, agent)
        expect({ seed, task_id, ...answer }).toEqual({ seed, task_id, ...replayed(old, now, agent, steps) })
        found[answer.change ?? 'none'] += 1
        if (answer.first_flip !== null) found.flips += 1
      }
    }
    expect(Math.min(...Object.values(found))).toBeGreaterThan(15)
  })

  it('needs no step for policies that mean the same', () => {
    const policy = { ...policyDefaults, id: 1, name: 'P', rule_type: 'not', params: {}, severity: 'critical' }
    const of = (more: object) => samePolicies([{ ...policy, ...more }] as never).policies
    const compare = compareTasks(of({ manifest_sha: 'a', description: 'x' }), of({ id: 7, manifest_sha: 'b' }))
    expect(compare(null as never, {})).toEqual({ change: null, first_flip: null, blocked_step: null })
  })
})

function replayed(
  old: ReturnType<typeof samePolicies>,
  now: ReturnType<typeof samePolicies>,
  agent: JsonMap,
  steps: readonly Step[],
) {
  const outcomes = { old: new Set<string>(), now: new Set<string>() }
  const replay = createReplay({
    policies: now,
    against: old,
    agent,
    onStep: ({ before, after }) => {
      outcomes.now.add(after.outcome)
      outcomes.old.add(before?.outcome ?? '')
    },
  })
  for (const step of steps) replay.add({ kind: 'step', step })
  const { tasks, newly_blocked_tasks, newly_asked_tasks, no_longer_blocked_tasks } = replay.finish()
  const blocks = (side: 'old' | 'now') => outcomes[side].has('block')
  const change =
    blocks('now') && !blocks('old')
      ? 'newly_blocked'
      : blocks('old') && !blocks('now')
        ? 'no_longer_blocked'
        : outcomes.now.has('ask') && !outcomes.old.has('ask') && !blocks('old')
          ? 'newly_asked'
          : null
  expect([tasks, newly_blocked_tasks, newly_asked_tasks, no_longer_blocked_tasks]).toEqual([
    1,
    Number(change === 'newly_blocked'),
    Number(change === 'newly_asked'),
    Number(change === 'no_longer_blocked'),
  ])
  return { ...replay.comparisonOf(steps[0]?.task_id ?? ''), change }
}
