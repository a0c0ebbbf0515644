// The platform's node rules (seed §2, sequence rules), in the same registry.
import { canonicalType } from '../steps.js'
import { defineRule, evidenceOf, NOT_APPLICABLE, PASS } from './rule.js'

export const nodeRules = [
  defineRule<{ required_node_type: string }>({
    name: 'execution_contains_node_before_current',
    category: 'path',
    scopes: ['task_execution'],
    targets: false,
    params: {
      type: 'object',
      required: ['required_node_type'],
      additionalProperties: false,
      properties: { required_node_type: { type: 'string', minLength: 1, description: 'a step type or node type' } },
    },
    doc: 'Passes when the finished task holds such a node before its end.',
    example: { required_node_type: 'START_NODE' },
    compile: (params, environment) => {
      const type = canonicalType(params.required_node_type)
      const seen = environment.track<boolean>({
        key: `seen ${type}`,
        init: () => false,
        add: (state, recorded) => state || recorded.type === type,
      })
      return ({ step, history }) => {
        if (step === null) return NOT_APPLICABLE
        if (seen(history)) return PASS
        return {
          code: 'NODE_MISSING',
          message: `the task has no \`${params.required_node_type}\` before its end`,
          evidence: [evidenceOf(step)],
          remedy: `log a \`${params.required_node_type}\` in every task`,
        }
      }
    },
  }),
]
