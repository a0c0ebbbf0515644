// Rules about who the agent is and what it may use (engine.md §3, 18–19).
import type { JsonMap } from '../steps.js'
import { compileField } from './lookup.js'
import { defineRule, evidenceOf, NOT_APPLICABLE, PASS, ParameterError, type Scope, type Situation } from './rule.js'

const scopes: readonly Scope[] = ['step_execution']

export const classificationRules = [
  defineRule<{ agent_field?: string; allowed?: readonly string[] }>({
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
          description: 'field of the agent that lists names; default declared_tools',
        },
        allowed: {
          type: 'array',
          items: { type: 'string' },
          description: 'the names themselves, instead of agent_field',
        },
      },
    },
    doc: 'Passes when step_name is in the list (of strings or of {name}). No list, or no name, violates.',
    example: { agent_field: 'declared_tools', target_step_types: ['step.resource'] },
    compile: (params) => {
      if (params.agent_field !== undefined && params.allowed !== undefined) {
        throw new ParameterError('allowed', 'give either `agent_field` or `allowed`, not both')
      }
      const listField = params.agent_field ?? 'declared_tools'
      const names = params.allowed === undefined ? agentList(listField) : fixedList(params.allowed)
      const remedy =
        params.allowed === undefined
          ? `list this tool in \`${listField}\` of the agent`
          : 'use a name that the policy allows'
      return (situation) => {
        const { step } = situation
        if (step === null) return NOT_APPLICABLE
        const known = names(situation)
        if (known !== null && step.step_name !== undefined && known.has(step.step_name)) return PASS
        const message =
          step.step_name === undefined
            ? 'the step has no name'
            : known === null
              ? `the agent has no list in \`${listField}\``
              : 'the name of the step is not in the list'
        return { code: 'NAME_NOT_ALLOWED', message, evidence: [evidenceOf(step)], remedy }
      }
    },
  }),
]

type Names = (situation: Situation) => ReadonlySet<string> | null

function fixedList(allowed: readonly string[]): Names {
  const names = new Set(allowed)
  return () => names
}

/** The list in the context when it has one, else the registered one; each list object is read once. */
function agentList(field: string): Names {
  const inContext = compileField(`context.${field}`, 'agent_field')
  const inAgent = compileField(`agent.${field}`, 'agent_field')
  const seen = new WeakMap<object, ReadonlySet<string>>()
  return (situation) => {
    const list = inContext(situation) ?? inAgent(situation)
    if (!Array.isArray(list)) return null
    const known = seen.get(list) ?? new Set(list.flatMap((item: unknown) => nameOf(item) ?? []))
    seen.set(list, known)
    return known
  }
}

/** Null for an item that names nothing, so that it does not allow a step whose name is empty. */
function nameOf(item: unknown): string | null {
  if (typeof item === 'string') return item
  const name = typeof item === 'object' && item !== null ? (item as JsonMap).name : null
  return typeof name === 'string' ? name : null
}
