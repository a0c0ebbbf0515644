// Rules about the agent's risk level and its tools (docs/design/engine.md §3, 18–19).

import { ParameterError } from '../check/parameter-error.js'
import { quote } from '../check/quote.js'
import { compileField } from './lookup.js'
import { stepType } from './params.js'
import { defineStepRule, PASS, type RuleContext, type Scope, stepViolation } from './rule.js'
import { toolName } from './task-tools.js'

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
      const listed = new Set<string>(params.agent_risk_classifications)
      const message = `agents of this risk level must not do \`${params.forbidden_step_type}\` steps`
      return (context) => {
        if (!listed.has(levelOf(context))) return PASS
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
      },
    },
    stricter: { agent_field: 'none', allowed: { stricter: 'fewer', absent: 'other' } },
    doc: 'Passes when step_name is in the list (of strings or of {name}). A missing list or name violates.',
    example: { agent_field: 'declared_tools', target_step_types: ['step.resource'] },
    compile: (params) => {
      if (params.agent_field !== undefined && params.allowed !== undefined) {
        throw new ParameterError('allowed', 'give either `agent_field` or `allowed`, not both')
      }
      const listField = params.agent_field ?? 'declared_tools'
      const names = params.allowed === undefined ? agentList(listField) : fixedList(params.allowed)
      const listed =
        params.allowed === undefined
          ? `list this tool in \`${listField}\` of the agent`
          : `use one of the names ${shownNames(params.allowed)}`
      const remedy = params.allowed?.length === 0 ? 'change the policy: it allows no name' : listed
      return (context) => {
        const { step } = context
        const known = names(context)
        if (known !== null && step.step_name !== undefined && known.has(step.step_name)) return PASS
        const message =
          step.step_name === undefined
            ? 'the step has no name'
            : known === null
              ? `the agent has no list in \`${listField}\``
              : 'the name of the step is not in the list'
        const unnamed = step.step_name === undefined && params.allowed === undefined
        return stepViolation(context, 'NAME_NOT_ALLOWED', message, unnamed ? nameIt : remedy)
      }
    },
  }),
]

const nameIt = 'give the step the name of a tool that the agent lists'

type Names = (context: RuleContext) => ReadonlySet<string> | null

function fixedList(allowed: readonly string[]): Names {
  const names = new Set(allowed)
  return () => names
}

/** The list in the context, else the registered one. Each list object is read once. */
function agentList(field: string): Names {
  const inContext = compileField(`context.${field}`, 'agent_field')
  const inAgent = compileField(`agent.${field}`, 'agent_field')
  const seen = new WeakMap<object, ReadonlySet<string>>()
  return (context) => {
    const list = inContext(context) ?? inAgent(context)
    if (!Array.isArray(list)) return null
    const known = seen.get(list) ?? new Set(list.flatMap((item: unknown) => toolName(item) ?? []))
    seen.set(list, known)
    return known
  }
}

/** The first few names of a list. */
function shownNames(names: readonly string[]): string {
  return `${names.slice(0, 8).map(quote).join(', ')}${names.length > 8 ? ', …' : ''}`
}
