// Tasks of a hundred steps, made from the rule cases: what the cases of a rule do, one after the other.
import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { compile, rules } from '@svc/engine'
import { readPolicy } from '@svc/engine/parts'
import { canonicalType, isBlocked, type JsonMap, type Step } from '@svc/schemas'
import { parse } from 'yaml'
import { type RuleCase, ruleCases } from '../engine/cases.js'
import { answerWith, type SentPolicy } from '../engine/changing-source.js'

export interface LongTask {
  readonly rule: string
  readonly policies: readonly SentPolicy[]
  readonly steps: readonly LongStep[]
}

export interface LongStep {
  readonly step: Step
  readonly context: JsonMap
}

/** The steps of a task, and the one before which its policies change. */
export const taskLength = 100
export const changesAfter = 50

/** A step that every task has once, before the change. */
const marker: Step = { step_type: 'task.idle', step_name: 'marker' }
const markerAt = 24

/**
 * One task for each rule of steps. Its policies are those with a history among: the rule with the parameters of all cases,
 * the same after the marker, each of them also inside `not`, and those of long-tasks.yaml.
 */
export function longTasks(): LongTask[] {
  const cases = ruleCases().filter(({ case: one }) => one.step !== null)
  const more = parse(readFileSync(new URL('../../cases/long-tasks.yaml', import.meta.url), 'utf8')) as More
  const names = [...new Set(cases.map(({ rule }) => rule))]
  return names.flatMap((rule) => {
    const own = cases.flatMap((each) => (each.rule === rule ? [each.case] : []))
    const policies = [...policiesOf(rule, own), ...(more[rule] ?? []).map((policy) => ({ rule_type: rule, ...policy }))]
    const kept = policies.filter(hasHistory)
    return kept.length === 0 ? [] : [{ rule, policies: kept, steps: stepsOf(own) }]
  })
}

type More = Readonly<Record<string, readonly (Omit<SentPolicy, 'rule_type'> & Partial<SentPolicy>)[]>>

function policiesOf(rule_type: string, cases: readonly RuleCase[]): SentPolicy[] {
  const distinct = new Map(cases.map(({ params, scope }) => [JSON.stringify([params, scope]), { params, scope }]))
  const takesTarget = Object.hasOwn(
    rules.find(({ name }) => name === rule_type)?.params.properties ?? {},
    'target_after',
  )
  return [...distinct.values()].flatMap(({ params, scope }): SentPolicy[] => {
    const after = { target_after: { step_names: ['marker'] }, ...params }
    const each = takesTarget && scope === 'step_execution' ? [params, after] : [params]
    return each.flatMap((own): SentPolicy[] => [
      { rule_type, params: own, scope },
      { rule_type: 'not', params: { condition: { rule_type, params: own } }, scope },
    ])
  })
}

function hasHistory(policy: SentPolicy): boolean {
  const { policies } = answerWith([{ manifest_id: 'm', sha: '1', policies: [policy] }])
  const set = compile(policies.map(readPolicy))
  if (set.dropped.length > 0) throw new Error(JSON.stringify(set.dropped))
  return set.trackers.length > 0
}

function stepsOf(cases: readonly RuleCase[]): LongStep[] {
  const steps = cases.flatMap(({ history, step, agent, context }) =>
    [...history, step].flatMap((one) => (isUsable(one) ? [longStep(one, { ...agent, ...context })] : [])),
  )
  const marked = steps.toSpliced(markerAt, 0, { step: marker, context: {} })
  return Array.from({ length: taskLength }, (_, index) => (marked[index] ?? steps[index % steps.length]) as LongStep)
}

/** A blocked step and a task.end would end the task; a request cannot hold what is not JSON. */
function isUsable(step: Step | null): step is Step {
  if (step === null || canonicalType(step.step_type) === 'task.end' || isBlocked(step)) return false
  return isDeepStrictEqual(step, JSON.parse(JSON.stringify(step)))
}

/** Without the numbers, the times and the ids of the case. */
function longStep(
  { step: _step, timestamp: _time, task_id: _task, agent_id: _agent, ...step }: Step,
  { task_id: _id, agent_id: _own, agent_allowed_tools: _tools, ...context }: JsonMap,
): LongStep {
  return { step, context }
}
