// What a policy does, in sentences for people.
import type { Policy, Rule } from '@svc/schemas'
import { counted } from '../../views/html.js'

type Acting = Pick<Policy, 'severity' | 'scope' | 'mode' | 'approval' | 'enabled'>

/** What follows from a violation. An engine blocks only where a step can still be stopped. */
export function effectSentence({ severity, scope, mode, approval, enabled }: Acting): string {
  if (!enabled) return 'Disabled: nothing is evaluated.'
  if (mode === 'observe') return 'Observed only: a violation is reported as an incident, and nothing is blocked.'
  if (scope === 'task_execution')
    return 'A violation is reported as an incident. The task has ended by then, so nothing is blocked.'
  if (severity !== 'critical')
    return `A violation is reported as an incident. Only critical policies block; this one is ${severity}.`
  if (approval != null) return 'An engine holds a step that violates the policy until a person approves it.'
  return scope === 'agent_registration'
    ? 'A registration that violates the policy is reported as an incident.'
    : 'An engine blocks a step that violates the policy before it happens. Steps that were recorded without an engine are only reported.'
}

/** How a person may approve a step that the policy would block. */
export function approvalText({ check_type, binds, max_age_seconds, uses }: NonNullable<Policy['approval']>): string {
  const by = check_type === undefined ? 'a person may approve' : `a gate ${check_type} may approve`
  const bound = binds === undefined ? 'binds the whole step' : `binds ${andList(binds)}`
  const age = max_age_seconds === undefined ? [] : [`valid for ${max_age_seconds} s`]
  const steps = uses ?? (binds === undefined ? 1 : null)
  return [by, bound, ...age, steps === null ? 'for any number of steps' : `for ${counted(steps, 'step')}`].join('; ')
}

function andList(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}

export const scopeLabels: Readonly<Record<Policy['scope'], string>> = {
  agent_registration: 'the registration of an agent',
  step_execution: 'each step',
  task_execution: 'the finished task',
}

export const categories: readonly (readonly [Rule['category'], string])[] = [
  ['field', 'Values of fields'],
  ['path', 'Order of steps'],
  ['content', 'Content'],
  ['count', 'Counts and budgets'],
  ['classification', 'Risk levels and allowed names'],
  ['flow', 'Flow of data, time, and combinations of rules'],
]

/** True for the policies of stops: only their stop changes them. */
export function isOfStop({
  rule_type,
  params,
  manifest_id,
}: Pick<Policy, 'rule_type' | 'params' | 'manifest_id'>): boolean {
  return (
    rule_type === 'stopped' && manifest_id === null && (params.stop_id !== undefined || params.deactivated === true)
  )
}
