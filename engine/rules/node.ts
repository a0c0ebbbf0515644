// The platform's node rules (docs/design/engine.md §3), in the same registry. At task_execution they check the whole finished task:
// each step with the steps before it, and the end itself.
import { canonicalType } from '@svc/schemas'
import { anotherLevel, levelOf, levels } from './classification.js'
import { filterSchema, stepType, stepTypes } from './form/params.js'
import { defineStepRule, PASS, type Scope, stepViolation } from './form/rule.js'
import { byDefault } from './form/stricter.js'
import { isEndType } from './history/track.js'
import { nodeCheck } from './node-check.js'
import { compilePattern, compileTarget } from './selection/filter.js'

const scopes: readonly Scope[] = ['step_execution', 'task_execution']
const atEnd: readonly Scope[] = ['task_execution']
const nodeType = { ...stepType, description: 'a step type, such as `LLM_CALL` or `step.model`' } as const
const target_node_types = { ...stepTypes, description: 'the types of the nodes that are checked' } as const
const required_predecessor_type = {
  ...nodeType,
  description: `the node that must come before: ${nodeType.description}`,
} as const

export const nodeRules = [
  defineStepRule({
    name: 'node_directly_preceded_by',
    category: 'path',
    scopes,
    targets: false,
    params: {
      type: 'object',
      required: ['required_predecessor_type'],
      additionalProperties: false,
      properties: { required_predecessor_type, target_node_types },
    },
    stricter: {
      required_predecessor_type: 'none',
      target_node_types: { stricter: 'more', absent: 'other', alone: true },
    },
    doc: 'Passes when the node directly before is of that type. Without `target_node_types` all but the first are checked.',
    example: { required_predecessor_type: 'step.gate', target_node_types: ['step.exec'] },
    compile: ({ required_predecessor_type, target_node_types }, environment) => {
      const required = canonicalType(required_predecessor_type)
      const targets = target_node_types && new Set(target_node_types.map(canonicalType))
      return nodeCheck<string | null>(environment, {
        key: `last node ${JSON.stringify([required, targets && [...targets]])}`,
        init: null,
        // An end is seen by `end` alone: below a `not` it changes nothing.
        next: (before, type) => (isEndType(type) && type !== required ? before : type),
        end: (before) => (before === required && isEndType(required) ? before : ''),
        fits: (type, before) => {
          const checked = targets === undefined ? before !== null : targets.has(type)
          return checked ? before === required : null
        },
        code: 'NOT_DIRECTLY_PRECEDED',
        message: `a node is not directly preceded by \`${required_predecessor_type}\``,
        remedy: `a \`${required_predecessor_type}\` right before it`,
      })
    },
  }),
  defineStepRule({
    name: 'node_requires_predecessor',
    category: 'path',
    scopes,
    targets: false,
    closedWithoutHistory: true,
    params: {
      type: 'object',
      required: ['required_predecessor_type', 'target_node_types'],
      additionalProperties: false,
      properties: { required_predecessor_type, target_node_types },
    },
    stricter: { required_predecessor_type: 'none', target_node_types: { stricter: 'more', alone: true } },
    doc: 'Passes when a node of that type came anywhere earlier.',
    example: { required_predecessor_type: 'step.message', target_node_types: ['step.resource'] },
    compile: ({ required_predecessor_type, target_node_types }, environment) => {
      const required = canonicalType(required_predecessor_type)
      const targets = new Set(target_node_types.map(canonicalType))
      return nodeCheck<boolean>(environment, {
        key: `node seen ${JSON.stringify([required, ...targets])}`,
        init: false,
        next: (seen, type) => seen || type === required,
        end: required === 'step.gate' ? () => false : undefined,
        fits: (type, seen) => (targets.has(type) ? seen : null),
        code: 'PREDECESSOR_MISSING',
        message: `a node has no \`${required_predecessor_type}\` before it`,
        remedy: `a \`${required_predecessor_type}\` before it`,
      })
    },
  }),
  defineStepRule({
    name: 'execution_contains_node_before_current',
    category: 'path',
    scopes: atEnd,
    targets: false,
    params: {
      type: 'object',
      required: ['required_node_type'],
      additionalProperties: false,
      properties: {
        required_node_type: { ...nodeType, description: `the node that must be in the task: ${nodeType.description}` },
      },
    },
    stricter: { required_node_type: 'none' },
    doc: 'Passes when the finished task holds such a node before its end.',
    example: { required_node_type: 'START_NODE' },
    compile: ({ required_node_type }, environment) => {
      const type = canonicalType(required_node_type)
      const seen = environment.track<boolean>({
        key: `seen ${type}`,
        init: () => false,
        add: (state, recorded) => state || recorded.type === type,
        ...(type === 'step.gate' && { end: () => false }),
      })
      const message = `the task has no \`${required_node_type}\` before its end`
      const remedy = `log a \`${required_node_type}\` in every task`
      return (context) => (seen(context.history) ? PASS : stepViolation(context, 'NODE_MISSING', message, remedy))
    },
  }),
  defineStepRule({
    name: 'node_forbidden_for_agent_classification',
    category: 'classification',
    scopes,
    targets: false,
    closedWithoutHistory: true,
    params: {
      type: 'object',
      required: ['forbidden_node_type', 'agent_risk_classifications'],
      additionalProperties: false,
      properties: {
        forbidden_node_type: { ...nodeType, description: `the node that they must not have: ${nodeType.description}` },
        agent_risk_classifications: levels,
        node_attribute_filter: {
          ...filterSchema,
          description: `only nodes with these fields: ${filterSchema.description}`,
        },
      },
    },
    stricter: {
      forbidden_node_type: 'none',
      agent_risk_classifications: 'more',
      node_attribute_filter: { stricter: 'wider', absent: 'all', alone: true },
    },
    doc: "Passes when the agent's risk level is not in the list. Without such a node it is not applicable.",
    example: {
      forbidden_node_type: 'step.resource',
      agent_risk_classifications: ['minimal'],
      node_attribute_filter: { is_external_call: true },
    },
    compile: ({ forbidden_node_type, agent_risk_classifications, node_attribute_filter }, environment) => {
      const pattern = { step_types: [forbidden_node_type], filter: node_attribute_filter }
      const isSuch = compilePattern(pattern, true, 'node_attribute_filter')
      const isSuchNow = compileTarget(pattern, 'node_attribute_filter')
      const check = nodeCheck<null>(environment, {
        key: `node kind ${JSON.stringify(pattern)}`,
        init: null,
        next: () => null,
        fits: (_type, _before, step) => (isSuch(step) ? false : null),
        fits_now: (context) => (isSuchNow?.(context, context.step) === false ? null : false),
        code: 'FORBIDDEN_FOR_CLASSIFICATION',
        message: `agents of this risk level must not have such \`${forbidden_node_type}\` nodes`,
        remedy: anotherLevel,
      })
      const listed = new Set<string>(agent_risk_classifications)
      return (context) => {
        const answer = check(context)
        return typeof answer === 'object' && !listed.has(levelOf(context)) ? PASS : answer
      }
    },
  }),
  defineStepRule({
    name: 'execution_max_tool_calls',
    category: 'count',
    scopes: atEnd,
    targets: false,
    params: {
      type: 'object',
      required: ['max_calls', 'node_type'],
      additionalProperties: false,
      properties: {
        max_calls: { type: 'integer', minimum: 0, description: 'nodes of the type in a task, inclusive' },
        node_type: { ...nodeType, description: `the nodes that are counted: ${nodeType.description}` },
      },
    },
    stricter: { max_calls: 'lower', node_type: 'none' },
    doc: 'Passes when the finished task holds at most `max_calls` nodes of the type.',
    example: { max_calls: 50, node_type: 'step.resource' },
    compile: ({ max_calls, node_type }, environment) => {
      const type = canonicalType(node_type)
      const count = environment.track<number>({
        key: `count ${type}`,
        init: () => 0,
        add: (state, recorded) => (recorded.type === type ? state + 1 : state),
      })
      const remedy = max_calls > 0 ? 'spread the work over several tasks' : `leave \`${node_type}\` nodes out`
      const message = `the task has more than ${max_calls} \`${node_type}\` nodes`
      return (context) => {
        const own = canonicalType(context.step.step_type) === type ? 1 : 0
        if (count(context.history) + own <= max_calls) return PASS
        return stepViolation(context, 'TOO_MANY_CALLS', message, remedy)
      }
    },
  }),
  defineStepRule({
    name: 'execution_requires_node_sequence',
    category: 'path',
    scopes: atEnd,
    targets: false,
    params: {
      type: 'object',
      required: ['required_sequence'],
      additionalProperties: false,
      properties: {
        required_sequence: { ...stepTypes, description: 'node types in order' },
        strict_order: {
          type: 'boolean',
          description: 'default false: other nodes may lie between; true: nothing lies between',
        },
      },
    },
    stricter: { required_sequence: 'none', strict_order: { stricter: 'true', absent: byDefault(false) } },
    doc: 'Passes when the finished task holds the nodes in this order.',
    example: { required_sequence: ['task.start', 'step.gate', 'task.end'] },
    compile: ({ required_sequence, strict_order = false }, environment) => {
      const wanted = required_sequence.map(canonicalType)
      const advance = strict_order ? contiguous(wanted) : scattered(wanted)
      const gate = wanted.indexOf('step.gate')
      const progress = environment.track<number>({
        key: `node sequence ${strict_order} ${JSON.stringify(wanted)}`,
        init: () => 0,
        add: (state, recorded) => advance(state, recorded.type),
        ...(gate >= 0 && { end: (state: number) => (strict_order ? 0 : Math.min(state, gate)) }),
      })
      const listed = required_sequence.map((type) => `\`${type}\``).join(', ')
      const message = `the task does not hold ${listed} in this order${strict_order ? ', one right after the other' : ''}`
      const remedy = `log ${listed} in this order in every task`
      return (context) => {
        const reached = advance(progress(context.history), canonicalType(context.step.step_type))
        return reached === wanted.length ? PASS : stepViolation(context, 'SEQUENCE_MISSING', message, remedy)
      }
    },
  }),
]

type Advance = (matched: number, type: string) => number

/** The number of members of the sequence that have occurred in order; it stays once all have. */
function scattered(wanted: readonly string[]): Advance {
  return (matched, type) => (wanted[matched] === type ? matched + 1 : matched)
}

/** The same with nothing between them: a mismatch continues with the longest border (Knuth, Morris and Pratt 1977). */
function contiguous(wanted: readonly string[]): Advance {
  const border = [0]
  for (let index = 1; index < wanted.length; index++) {
    let length = border[index - 1] ?? 0
    while (length > 0 && wanted[length] !== wanted[index]) length = border[length - 1] ?? 0
    border.push(wanted[length] === wanted[index] ? length + 1 : 0)
  }
  return (matched, type) => {
    if (matched === wanted.length) return matched
    let length = matched
    while (length > 0 && wanted[length] !== type) length = border[length - 1] ?? 0
    return wanted[length] === type ? length + 1 : 0
  }
}
