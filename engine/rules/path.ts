// Rules about the kinds of steps in a task (docs/design/engine.md §3, 10–13).
import { canonicalType } from '@svc/schemas'
import { filterSchema, stepKind, type ValueOf, verbSchema } from './form/params.js'
import { defineStepRule, PASS, present, type Scope, type StepContext, stepViolation } from './form/rule.js'
import { firstOfItsKind, trackFirstForbidden, trackFirstRequired } from './history/track.js'
import { wantedSteps } from './history/wanted-step.js'
import { compileTarget, type StepPattern } from './selection/filter.js'
import { kindPattern, kindWords, patternWords, wantedWords } from './selection/kind.js'

const scopes: readonly Scope[] = ['step_execution']

const kindParams = {
  type: 'object',
  required: ['step_type'],
  additionalProperties: false,
  properties: {
    step_type: { ...stepKind, description: `the steps that match: ${stepKind.description}` },
    verb: verbSchema,
    property_filter: { ...filterSchema, description: `only steps with these fields: ${filterSchema.description}` },
  },
} as const

const kindDirections = {
  step_type: 'narrower',
  verb: { stricter: 'fewer', absent: 'all' },
  property_filter: { stricter: 'narrower', absent: 'all' },
} as const

export const pathRules = [
  defineStepRule({
    name: 'step_not_after',
    category: 'path',
    scopes,
    targets: true,
    readsHistoryOnly: true,
    params: {
      type: 'object',
      required: ['predecessor_step_type'],
      additionalProperties: false,
      properties: {
        predecessor_step_type: {
          ...stepKind,
          description: `the step that must not come before: ${stepKind.description}`,
        },
        predecessor_property_filter: {
          ...filterSchema,
          description: `only predecessors with these fields: ${filterSchema.description}`,
        },
      },
    },
    stricter: { predecessor_step_type: 'wider', predecessor_property_filter: { stricter: 'wider', absent: 'all' } },
    doc: 'Passes when no such step is in the history.',
    example: { predecessor_step_type: 'task.error' },
    compile: (params, environment) => {
      const { predecessor_step_type: kind, predecessor_property_filter: filter } = params
      const pattern = kindPattern(kind, { filter, named: { filter: 'predecessor_property_filter' } })
      const first = trackFirstForbidden(environment, pattern, 'predecessor_property_filter')
      const message = `a ${kindWords(kind, 'step')} came earlier in this task`
      return (context) => {
        const earlier = first(context.history)
        if (earlier === null) return PASS
        const ends = canonicalType(context.step.step_type) === 'task.end'
        const remedy = ends ? 'avoid such steps in later tasks' : 'do this in a new task'
        return stepViolation(context, 'FORBIDDEN_PREDECESSOR', message, remedy, earlier)
      }
    },
  }),
  defineStepRule({
    name: 'history_contains',
    category: 'path',
    scopes,
    targets: true,
    closedWithoutHistory: true,
    readsHistoryOnly: true,
    params: kindParams,
    stricter: kindDirections,
    doc: 'Passes when such a step is in the history; a gate counts only when it passed.',
    example: { step_type: 'step.message', verb: 'GET', property_filter: { 'counterpart.kind': 'user' } },
    compile: (params, environment) => {
      const pattern = patternIn(params)
      const first = trackFirstRequired(environment, pattern, 'property_filter')
      const isFirst = firstOfItsKind(pattern, 'property_filter')
      const wanted = wantedWords(pattern)
      const steps = wantedSteps(pattern)
      const check = (context: StepContext) => {
        if (first(context.history) !== null) return PASS
        const message = `${wanted} is missing earlier in this task`
        const violation = stepViolation(context, 'NOT_IN_HISTORY', message, `${wanted} before this step`)
        return { ...violation, ...steps, ...isFirst(context.step) }
      }
      const because = ({ history }: StepContext) => ({
        evidence: present(first(history)),
        fact: `${wanted} came earlier in this task`,
        undo: 'do this in a new task',
      })
      return Object.assign(check, { because })
    },
  }),
  defineStepRule({
    name: 'current_is',
    category: 'path',
    scopes,
    targets: true,
    params: kindParams,
    stricter: {
      step_type: { stricter: 'narrower', alone: true },
      verb: { stricter: 'fewer', absent: 'all', alone: true },
      property_filter: { stricter: 'narrower', absent: 'all', alone: true },
    },
    doc: 'Passes when this step matches; useful inside `all_of`, `any_of` and `not`.',
    example: { step_type: 'step.resource', verb: 'DELETE' },
    compile: (params) => {
      const pattern = patternIn(params)
      const isSuch = compileTarget(pattern, 'property_filter')
      const wanted = patternWords(pattern)
      const check = (context: StepContext) => {
        if (isSuch === null || isSuch(context, context.step)) return PASS
        return stepViolation(context, 'NOT_SUCH_STEP', `the step is not ${wanted}`, `make it ${wanted}`)
      }
      const undo = isUnknown(pattern)
        ? 'give the step the `step_type` of what it does'
        : `leave this ${wanted.slice(2)} out`
      return Object.assign(check, { because: () => ({ evidence: [], fact: `the step is ${wanted}`, undo }) })
    },
  }),
  defineStepRule({
    name: 'tainted_path_block',
    category: 'path',
    scopes,
    targets: true,
    readsHistoryOnly: true,
    params: {
      type: 'object',
      required: ['taint_step_type'],
      additionalProperties: false,
      properties: {
        taint_step_type: { ...stepKind, description: `the step that taints the task: ${stepKind.description}` },
        taint_verb: { ...verbSchema, description: 'only tainting steps with this verb; default every verb' },
        taint_property_filter: {
          ...filterSchema,
          description: `only tainting steps with these fields: ${filterSchema.description}`,
        },
      },
    },
    stricter: {
      taint_step_type: 'wider',
      taint_verb: { stricter: 'more', absent: 'all' },
      taint_property_filter: { stricter: 'wider', absent: 'all' },
    },
    doc: 'Passes when no tainting step is in the history; nothing clears a taint within a task.',
    example: {
      taint_step_type: 'step.resource',
      taint_verb: 'GET',
      taint_property_filter: { 'target.trust': 'external' },
      target_step_types: ['step.credential'],
    },
    compile: (params, environment) => {
      const { taint_step_type, taint_verb: verb, taint_property_filter: filter } = params
      const named = { verb: 'taint_verb', filter: 'taint_property_filter' }
      const pattern = kindPattern(taint_step_type, { verb, filter, named })
      const first = trackFirstForbidden(environment, pattern, 'taint_property_filter')
      const message = `this step must not come after ${patternWords(pattern)}`
      const remedy = 'do this in a new task without that content'
      return (context) => {
        const taint = first(context.history)
        return taint === null ? PASS : stepViolation(context, 'TAINTED', message, remedy, taint)
      }
    },
  }),
]

function patternIn({ step_type, verb, property_filter: filter }: ValueOf<typeof kindParams>): StepPattern {
  return kindPattern(step_type, { verb, filter, named: { verb: 'verb', filter: 'property_filter' } })
}

/** True if the pattern selects the steps whose meaning is not known, and only these. */
function isUnknown({ step_types, verbs, step_names, filter }: StepPattern): boolean {
  const types = step_types?.map(canonicalType)
  return (
    types?.length === 1 && types[0] === 'step.unknown' && verbs === undefined && step_names === undefined && !filter
  )
}
