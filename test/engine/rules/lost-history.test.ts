// No rule starts from nothing: a policy that blocks reads a history that is not whole as one that may hold any step.
import { readFileSync } from 'node:fs'
import { compile, type PolicyInput, Task } from '@svc/engine'
import type { Step } from '@svc/schemas'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { policyDefaults } from '../../support/engine/policy.js'

interface Case {
  readonly name: string
  readonly policy: Partial<PolicyInput>
  readonly known: readonly Step[]
  readonly step: Step
  readonly outcome: string
  readonly code?: string
  readonly whole: string
}

const cases = parse(readFileSync('test/cases/lost-history.yaml', 'utf8')) as Case[]
const agent = { risk_classification: 'limited' }
const inputOf = (policy: Partial<PolicyInput>, id = 1) =>
  ({ ...policyDefaults, id, name: 'p', severity: 'critical', scope: 'step_execution', ...policy }) as PolicyInput

function decide({ policy, known, step }: Case, is_whole: boolean) {
  const set = compile([inputOf(policy)])
  expect(set.dropped).toEqual([])
  const task = new Task(set, !is_whole)
  for (const earlier of known) task.add(earlier, 0)
  return task.evaluate(step, agent, { occasion: 'step', now: 0 })
}

describe('on a history that is not whole', () => {
  it.each(cases)('$name', (one) => {
    const { outcome, violations } = decide(one, false)
    const { code, reason } = violations[0]?.violation_details ?? {}
    expect([outcome, code]).toEqual([one.outcome, one.code])
    if (code === 'HISTORY_LOST') expect(reason).toBe('the history of this task is not whole')
    expect(decide(one, true).outcome).toBe(one.whole)
  })

  it('a policy that reads the carried part only is evaluated as before', () => {
    const limit = (max_steps: number, step_type: string, id: number) =>
      inputOf({ rule_type: 'execution_max_steps', params: { step_type, max_steps } }, id)
    const before = compile([limit(5, 'step.exec', 1)])
    const after = compile([limit(5, 'step.exec', 1), limit(5, 'step.model', 2)])
    const task = Task.of(before, [{ step_type: 'step.exec' }])
    const outcomeOf = (step_type: Step['step_type']) => task.evaluate({ step_type }, agent).outcome
    task.carryTo(after, null)
    expect([outcomeOf('step.exec'), outcomeOf('step.model')]).toEqual(['allow', 'block'])
    expect(task.carries(before)).toBe(true)
    task.carryTo(before, null)
    expect(outcomeOf('step.exec')).toBe('allow')
  })
})
