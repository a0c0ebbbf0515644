// The fields of a policy beside the parameters of its rule, and the body of the API that a form means.
import type { Agent, JsonMap, Policy, Rule } from '@svc/schemas'
import { invalid } from '../../../errors.js'
import { type Agents, nameOf } from '../../agents.js'
import type { FormField } from '../../views/fields.js'
import { type Fields, field } from '../../visit.js'
import { jsonIn, type Parameter, paramsIn, textsOf } from './parameters.js'
import { scopeLabels } from './words.js'

const severities = [
  ['critical', 'critical: engines block the step'],
  ['high', 'high'],
  ['medium', 'medium'],
  ['low', 'low'],
] as const
const modes = [
  ['enforce', 'enforce'],
  ['observe', 'observe only: nothing is blocked'],
] as const
const levels = ['minimal', 'limited', 'high', 'unacceptable', 'unclassified'].map((level) => [level, level] as const)

/** The fields above the parameters, and those that few policies need. */
export function ownFields({ scopes }: Rule, agents: Agents) {
  const main: FormField[] = [
    {
      name: 'name',
      label: 'Name',
      kind: 'line',
      hint: 'Shown with each incident. A new policy without one is named after its rule.',
    },
    { name: 'description', label: 'Description', kind: 'text', hint: 'The reason for the policy, and its limits.' },
    { name: 'severity', label: 'Severity', kind: 'choice', values: severities, required: true },
    { name: 'mode', label: 'Mode', kind: 'choice', values: modes, required: true },
    {
      name: 'scope',
      label: 'Evaluates',
      kind: 'choice',
      values: scopes.map((scope) => [scope, scopeLabels[scope]] as const),
      required: true,
    },
  ]
  const target: FormField[] = [
    agentField(agents),
    {
      name: 'risk_classification',
      label: 'Risk level',
      kind: 'choice',
      values: [['', 'every level'], ...levels],
      hint: 'Only agents of exactly this level.',
    },
  ]
  const more: FormField[] = [
    {
      name: 'controls',
      label: 'Controls',
      kind: 'lines',
      hint: 'The controls that the policy implements, such as `ASI01`. One per line.',
    },
    {
      name: 'approval',
      label: 'Approval',
      kind: 'json',
      hint: 'Only for a critical policy: a person is asked, and an approval lets the step pass. Write JSON, such as `{"check_type": "human_approval"}`; `{}` takes each kind.',
    },
  ]
  return { main, target, more }
}

function agentField({ listed, complete }: Agents): FormField {
  const named = (agent: Agent) => [agent.agent_id, nameOf(agent)] as const
  return complete
    ? { name: 'agent_id', label: 'Agent', kind: 'choice', values: [['', 'all agents'], ...listed.map(named)] }
    : { name: 'agent_id', label: 'Agent', kind: 'line', hint: 'The id of an agent; empty for all agents.' }
}

/** The texts of the fields before the person types: those of the policy, or of a new one. */
export function initialTexts(
  policy: Policy | null,
  { scopes }: Rule,
  parameters: readonly Parameter[],
  query: Readonly<Record<string, string>>,
): Fields {
  const scope = scopes.includes('step_execution') ? 'step_execution' : (scopes[0] ?? 'step_execution')
  if (policy === null)
    return {
      severity: ['high'],
      mode: ['enforce'],
      scope: [scope],
      agent_id: [query.agent_id ?? ''],
      risk_classification: [query.risk_classification ?? ''],
    }
  const { name, description, severity, mode, agent_id, risk_classification, controls, approval = null } = policy
  const params = parameters.map((one) => [one.field.name, textsOf(one, policy.params[one.name])])
  return {
    ...Object.fromEntries(params),
    name: [name],
    description: [description ?? ''],
    severity: [severity],
    mode: [mode],
    scope: [policy.scope],
    agent_id: [agent_id ?? ''],
    risk_classification: [risk_classification ?? ''],
    controls: [controls.join('\n')],
    approval: [approval === null ? '' : JSON.stringify(approval, null, 2)],
  }
}

/** The body for the API. Empty fields are null, which removes them from a policy. Throws INVALID for texts that are not JSON. */
export function bodyOf(rule_type: string, parameters: readonly Parameter[], form: Fields): JsonMap {
  const { params, errors } = paramsIn(parameters, form)
  const given = (name: string) => field(form, name).replaceAll('\r\n', '\n')
  const approval = given('approval').trim() === '' ? null : jsonIn('approval', given('approval'))
  const wrong = [...errors, ...(approval?.error == null ? [] : [approval.error])]
  if (wrong.length > 0) throw invalid(wrong)
  const orNull = (name: string) => (given(name).trim() === '' ? null : given(name))
  return {
    name: orNull('name'),
    rule_type,
    params,
    severity: given('severity'),
    mode: given('mode'),
    scope: given('scope'),
    description: orNull('description'),
    agent_id: orNull('agent_id'),
    risk_classification: orNull('risk_classification'),
    controls: given('controls')
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== ''),
    approval: approval?.value ?? null,
  }
}
