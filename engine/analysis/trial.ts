// Confirms with the engine that some policies can have some answers at once.
import { compile, type PolicySet } from '../policy/compile.js'
import { explain } from '../policy/explain.js'
import { newHistory, record } from '../policy/history.js'
import type { Occasion } from '../policy/plan.js'
import type { PolicyInput } from '../policy/policy-input.js'
import type { Scope } from '../rules/rule.js'
import type { Formula } from './formula.js'
import { type Scenario, scenarioOf } from './scenario.js'

export type Wanted = 'passed' | 'violated' | 'applied'

/** Lists of facts that are tried; more make a finding more probable, and the analysis slower. */
const maxTrials = 12

const occasionFor: Readonly<Record<Scope, Occasion>> = {
  agent_registration: 'registration',
  step_execution: 'step',
  task_execution: 'end',
}

/**
 * The evaluation in which each policy has the wanted answer, among those that the formula suggests; null when none was
 * found. All policies have one scope.
 */
export function trial(wanted: readonly (readonly [PolicyInput, Wanted])[], formula: Formula): Scenario | null {
  const scope = wanted[0]?.[0].scope ?? 'step_execution'
  const inputs = wanted.map(([input], index) => ({ ...input, id: index + 1 }))
  const set = compile(inputs)
  if (set.dropped.length > 0) return null
  for (const facts of formula.slice(0, maxTrials)) {
    const scenario = scenarioOf(facts, scope === 'agent_registration')
    if (scenario === null) continue
    const found = scenario.times.find((time) => answersAre(set, wanted, scenario, time, occasionFor[scope]))
    if (found !== undefined) return { ...scenario, times: [found] }
  }
  return null
}

function answersAre(
  set: PolicySet,
  wanted: readonly (readonly [PolicyInput, Wanted])[],
  { step, agent, past }: Scenario,
  time: number,
  occasion: Occasion,
): boolean {
  const history = newHistory(set)
  for (const [index, one] of past.entries()) record(set, history, one, time - (past.length - index) * 1000)
  const end = occasion === 'end' && step !== null ? { ...step, step_type: 'task.end' } : step
  const { policies } = explain(set, occasion, { step: end, agent, context: agent, history, now: time })
  return wanted.every(([, answer], index) => {
    const own = policies.find(({ policy_id }) => policy_id === index + 1)
    if (own?.violation_details?.code === 'AMBIGUOUS_FIELD') return false
    return answer === 'applied' ? own?.answer === 'passed' || own?.answer === 'violated' : own?.answer === answer
  })
}
