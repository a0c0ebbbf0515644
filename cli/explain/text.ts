// An explanation as text for a person.
import type { ExplainedPolicy } from '@svc/engine'
import type { ApprovalRequired, EvidenceStep, Step } from '@svc/schemas'
import type { ExplainedStep } from './explained.js'

/** Violations first, then missing approvals, the policies that passed with and without one, and those that are not applicable. */
export function explanationText(explained: ExplainedStep): string[] {
  const { step, evaluated, policies, skipped, outcome, risk_score, approval_required = [] } = explained
  const asking = new Set(approval_required.map(({ policy_id }) => policy_id))
  const violated = policies.filter(({ answer }) => answer === 'violated')
  const approved = policies.filter(({ answer }) => answer === 'approved')
  const passed = policies.filter(({ answer }) => answer === 'passed')
  const others = policies.filter(({ answer }) => answer === 'not_applicable')
  return [
    `${step === null ? `evaluation ${explained.evaluation_id}` : `step ${step}`} of ${nameOf(explained)}: ${stepInWords(evaluated)}`,
    `${outcome}, risk score ${risk_score}: ${violated.length} of ${policies.length} policies violated`,
    ...violated.flatMap((policy) => ['', ...violation(policy, step, asking.has(policy.policy_id))]),
    ...(asking.size > 0 ? ['', 'approval required: a gate that is recorded once a person has approved'] : []),
    ...approval_required.map(gateLine),
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

/** The task, with the number of the run when its id was used again. */
export function nameOf({ task_id, run, runs }: Pick<ExplainedStep, 'task_id' | 'run' | 'runs'>): string {
  return `task \`${task_id}\`${runs === 1 ? '' : ` (run ${run} of ${runs})`}`
}

function violation(policy: ExplainedPolicy, number: number | null, asks: boolean): string[] {
  const { severity, mode, waived, violation_details: details } = policy
  const blocks = severity === 'critical' && mode === 'enforce' && !waived
  const does = asks ? 'asks' : blocks ? 'blocks' : 'violated'
  const marks = [severity, ...(mode === 'observe' ? ['observed only'] : []), ...(waived ? ['waived'] : [])]
  const evidence = (details?.evidence ?? []).map((found) => evidenceInWords(found, number))
  return [
    `${does}  ${policy.name}  (${marks.join(', ')}; ${policy.rule_type})`,
    `  why      ${details?.reason} [${details?.code}]`,
    ...(evidence.length > 0 ? [`  because  ${evidence.join(', ')}`] : []),
    `  remedy   ${details?.remedy ?? 'none known'}`,
  ]
}

/** The body for /record on a line of its own, to be copied. */
function gateLine({ gate }: ApprovalRequired): string {
  return `  ${JSON.stringify(gate)}`
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

function evidenceInWords({ step, step_type, step_name }: EvidenceStep, number: number | null): string {
  const which = step ?? number
  return `${which === null ? 'this' : `step ${which}`} ${step_type}${step_name === null ? '' : ` ${step_name}`}`
}
