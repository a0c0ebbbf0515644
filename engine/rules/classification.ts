// Rules about the agent's risk level and its tools (docs/design/engine.md §3, 18–19).

import { hasWritePermission, type Step } from '@svc/schemas'
import { ParameterError } from '../check/parameter-error.js'
import { stepType } from './form/params.js'
import {
  type CheckOf,
  defineStepRule,
  NOT_APPLICABLE,
  PASS,
  type RuleContext,
  type Scope,
  type StepContext,
  stepViolation,
} from './form/rule.js'
import { byDefault } from './form/stricter.js'
import { declaredTools, type KnownTools, knownTools, type Names, namesOfAgent, notListed } from './listed-names.js'
import { compileField } from './selection/lookup.js'
import { externalCall } from './taint/target-trust.js'
import { callsTool } from './tool-call.js'
import { listed, literal } from './values/shown.js'

const scopes: readonly Scope[] = ['step_execution']

export const levels = {
  type: 'array',
  items: { type: 'string', enum: ['minimal', 'limited', 'high', 'unacceptable', 'unclassified'] },
  minItems: 1,
  description: 'agents of these risk levels must not do it',
} as const

/** The remedy for a step that the agent's risk level forbids. */
export const anotherLevel = 'leave this to an agent of a risk level that may do it'

const levelInContext = compileField('context.risk_classification')
const levelOfAgent = compileField('agent.risk_classification')

/** The agent's risk level: the one in the context, else the registered one. */
export function levelOf(context: RuleContext): string {
  return String(levelInContext(context) ?? levelOfAgent(context))
}

export const classificationRules = [
  defineStepRule({
    name: 'step_forbidden_for_classification',
    category: 'classification',
    scopes,
    targets: true,
    params: {
      type: 'object',
      required: ['forbidden_step_type', 'agent_risk_classifications'],
      additionalProperties: false,
      properties: {
        forbidden_step_type: { ...stepType, description: 'the step type that they must not do, such as `step.exec`' },
        agent_risk_classifications: levels,
      },
    },
    stricter: { forbidden_step_type: 'none', agent_risk_classifications: 'more' },
    doc: "Passes when the agent's risk level is not in the list. A step of another type is not applicable.",
    example: { forbidden_step_type: 'step.credential', agent_risk_classifications: ['minimal', 'limited'] },
    applicableTypes: ({ forbidden_step_type }) => [forbidden_step_type],
    compile: (params) => {
      const forbidden = new Set<string>(params.agent_risk_classifications)
      const message = `agents of this risk level must not do \`${params.forbidden_step_type}\` steps`
      return (context) => {
        if (!forbidden.has(levelOf(context))) return PASS
        return stepViolation(context, 'FORBIDDEN_FOR_CLASSIFICATION', message, anotherLevel)
      }
    },
  }),
  defineStepRule({
    name: 'step_name_in_allowlist',
    category: 'classification',
    scopes,
    targets: true,
    params: {
      type: 'object',
      additionalProperties: false,
      properties: {
        agent_field: {
          type: 'string',
          minLength: 1,
          description: 'field of the agent with the names; default `declared_tools`',
        },
        allowed: {
          type: 'array',
          items: { type: 'string' },
          description: 'the allowed names, instead of `agent_field`',
        },
        tool_calls: {
          type: 'boolean',
          description:
            'true: check calls of tools only, where tools are declared: not the names of models and checks, not messages without a name, not tools of the registration that only read',
        },
      },
    },
    stricter: {
      agent_field: 'none',
      allowed: { stricter: 'fewer', absent: 'other' },
      tool_calls: { stricter: 'none', absent: byDefault(false) },
    },
    doc: 'Passes when step_name is in the list (of strings or of {name}). A missing list or name violates. With `tool_calls: true` only calls of tools are checked, whatever type the step has.',
    example: { tool_calls: true },
    compile: ({ tool_calls = false, ...params }) => {
      if (params.agent_field !== undefined && params.allowed !== undefined) {
        throw new ParameterError('allowed', 'give either `agent_field` or `allowed`, not both')
      }
      const field = params.agent_field ?? declaredTools
      const names = namesOfAgent(field)
      const tools = knownTools()
      const isChecked = tool_calls ? checkedCalls(tools, params.allowed === undefined ? names : null) : () => true
      if (params.allowed !== undefined) return allowedNames(params.allowed, isChecked)
      return (context) => {
        const { step_name } = context.step
        const known = names.in(context)
        if (!isChecked(context)) return NOT_APPLICABLE
        if (known !== null && step_name !== undefined && known.has(step_name)) return PASS
        if (tool_calls && isReading(context.step) && tools.isRegistered(context, step_name ?? '')) return PASS
        const { message, remedy } = notListed(context, field, names)
        return { ...stepViolation(context, 'NAME_NOT_ALLOWED', message, remedy), about: `agent.${field}` }
      }
    },
  }),
]

/** The steps that `tool_calls` checks: calls of tools, with `names` where a list is declared. */
function checkedCalls(tools: KnownTools, names: Names | null): (context: StepContext) => boolean {
  return (context) =>
    (names === null || names.areDeclared(context)) && callsTool(context.step, (name) => tools.isKnown(context, name))
}

/** An external target is told what it is asked. Throws AmbiguousField. */
function isReading(step: Step): boolean {
  return step.verb === 'GET' && !hasWritePermission(step) && !externalCall(step)
}

function allowedNames(allowed: readonly string[], isChecked: (context: StepContext) => boolean): CheckOf<StepContext> {
  const names = new Set(allowed)
  const which = allowed.length === 0 ? '; the policy allows none' : `; allowed: ${listed(allowed)}`
  const remedy =
    allowed.length === 0 ? 'change the policy: it allows no name' : `use one of the names ${listed(allowed)}`
  return (context) => {
    const { step_name } = context.step
    if (!isChecked(context)) return NOT_APPLICABLE
    if (step_name !== undefined && names.has(step_name)) return PASS
    const problem =
      step_name === undefined ? 'the step has no `step_name`' : `${literal(step_name)} is not an allowed name`
    return stepViolation(context, 'NAME_NOT_ALLOWED', `${problem}${which}`, remedy)
  }
}
