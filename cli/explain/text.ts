// An explanation as text for a person.
import { type ExplainedPolicy, othersIn } from '@svc/engine/parts'
import { type ApprovalRequired, canonicalType, type EvidenceStep, type Step } from '@svc/schemas'
import type { ExplainedStep } from './explained.js'

/**
 * Violations first, then missing approvals, the policies that passed with and without one, and those that are not applicable.
 * `past` are the steps before the explained one.
 */
export function explanationText(explained: ExplainedStep, past: readonly Step[]): string[] {
  const { step, evaluated, policies, skipped, outcome, risk_score, approval_required = [] } = explained
  const asking = new Set(approval_required.map(({ policy_id }) => policy_id))
  const violated = policies.filter(({ answer }) => answer === 'violated')
  const approved = policies.filter(({ answer }) => answer === 'approved')
  const passed = policies.filter(({ answer }) => answer === 'passed')
  const others = policies.filter(({ answer }) => answer === 'not_applicable')
  return [
    `${step === null ? `evaluation ${explained.evaluation_id}` : `step ${step}`} of task \`${explained.task_id}\`: ${stepInWords(evaluated)}`,
    `${outcome === 'ask' ? 'ask (a person decides)' : outcome}, risk score ${risk_score}: ${violated.length} of ${policies.length} policies violated`,
    ...violated.flatMap((policy) => ['', ...violation(policy, past, asking.has(policy.policy_id))]),
    ...approval_required.flatMap((approval) => ['', ...approvalLines(approval)]),
    ...(approved.length > 0 ? ['', 'approved'] : []),
    ...approved.map(approvedLine),
    ...(passed.length > 0 ? ['', 'passed'] : []),
    ...passed.map(line),
    ...(others.length > 0 ? ['', 'not applicable'] : []),
    ...others.map(line),
    ...(skipped.length > 0 ? ['', 'for a higher risk level than the agent’s'] : []),
    ...skipped.map((name) => `  ${name}`),
    '',
  ]
}

function violation(policy: ExplainedPolicy, past: readonly Step[], asks: boolean): string[] {
  const { severity, mode, waived, violation_details: details } = policy
  const blocks = severity === 'critical' && mode === 'enforce' && !waived
  const does = asks ? 'asks' : blocks ? 'blocks' : 'violated'
  const marks = [severity, ...(mode === 'observe' ? ['observed only'] : []), ...(waived ? ['waived'] : [])]
  const description = (policy.description ?? '').replace(/\s+/g, ' ').trim()
  // The heading names the explained step, which has no number in the evidence.
  const earlier = (details?.evidence ?? []).filter(({ step }) => step !== null)
  return [
    `${does}  ${policy.name}  (${marks.join(', ')}; ${policy.rule_type})`,
    ...(description === '' ? [] : [`  policy   ${description}`]),
    `  why      ${details?.reason} [${details?.code}]`,
    ...earlier.map((found) => `  because  ${evidenceInWords(found, past)}`),
    `  remedy   ${details?.remedy ?? 'none known'}`,
  ]
}

/** The action that the person approves, and the body for /record on a separate line, to be copied. */
function approvalLines({ binds, unbound, gate }: ApprovalRequired): string[] {
  const approved = binds === null ? 'this very step' : `${binds.map((path) => `\`${path}\``).join(', ')} of this step`
  const open = unbound.map((path) => `\`${path}\``).join(', ')
  return [
    `approval required: once a person has approved ${approved}, record this gate`,
    ...(open === '' ? [] : [`  not approved, and free to change: ${open}`]),
    `  ${JSON.stringify(gate)}`,
  ]
}

function approvedLine({ name, rule_type, approved_by_step: gate }: ExplainedPolicy): string {
  return `  ${name}  (by ${gate == null ? 'a gate' : `the gate at step ${gate}`}; ${rule_type})`
}

function line({ name, rule_type }: ExplainedPolicy): string {
  return `  ${name}  (${rule_type})`
}

function stepInWords({ step_type, verb, step_name }: Step): string {
  return [step_type, verb, step_name].filter((part) => part !== undefined).join(' ')
}

/** An earlier step, with the label of what it returned: an answer often follows from who wrote it. */
function evidenceInWords({ step, step_type, step_name }: EvidenceStep, past: readonly Step[]): string {
  const found = past.find((one, position) => (one.step ?? position + 1) === step)
  const label = found === undefined ? null : othersIn(found)
  const what = canonicalType(step_type) === 'step.self' ? 'memory that holds content of others' : 'content of others'
  return `step ${step}${step_name === null ? '' : ` ${step_name}`} (${step_type}${label === null ? '' : `; ${what}, ${label}`})`
}
