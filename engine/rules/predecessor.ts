// Rules about the order of steps (docs/design/engine.md §3, 4–7 and 9).
import type { EvidenceStep } from '@svc/schemas'
import { quote } from '../check/quote.js'
import { filterSchema, stepKind, stepKinds } from './form/params.js'
import {
  defineStepRule,
  evidenceOfRecorded,
  NOT_APPLICABLE,
  PASS,
  present,
  type Scope,
  type StepContext,
  stepViolation,
} from './form/rule.js'
import { trackCredit, trackIntervening } from './history/predecessor-state.js'
import { firstOfItsKind, isBoundGate, isEndType, satisfies, trackFirstRequired } from './history/track.js'
import { wantedSteps } from './history/wanted-step.js'
import { compilePattern, compileTarget } from './selection/filter.js'
import { isOfKind, kindKey, kindPattern, kindTypes, kindWords, outsideKind, wantedWords } from './selection/kind.js'

const scopes: readonly Scope[] = ['step_execution']
const required = 'required_step_type.property_filter'
const required_step_type = {
  ...stepKind,
  description: `the step that must come before: ${stepKind.description}`,
} as const

export const predecessorRules = [
  defineStepRule({
    name: 'step_directly_preceded_by',
    category: 'path',
    scopes,
    targets: true,
    readsHistoryOnly: true,
    params: {
      type: 'object',
      required: ['required_step_type'],
      additionalProperties: false,
      properties: { required_step_type },
    },
    stricter: { required_step_type: 'narrower' },
    doc: 'Passes when the last step of the history is of that type; a gate must have passed.',
    example: { required_step_type: 'step.gate', target_step_types: ['step.exec'] },
    compile: ({ required_step_type }, environment) => {
      const isRequired = isOfKind(required_step_type, false, required)
      const last = environment.track<Last | null>({
        key: `last satisfying ${kindKey(required_step_type)}`,
        init: () => null,
        add: (state, recorded) => {
          if (isBoundGate(recorded)) return state
          const satisfying = isRequired(recorded) && satisfies(recorded)
          // Of an end that is not required itself, only `end` tells: below a `not` it changes nothing.
          if (isEndType(recorded.type) && !satisfying) return state
          return { satisfying, is_end: isEndType(recorded.type), evidence: evidenceOfRecorded(recorded) }
        },
        end: (state) => state && { ...state, satisfying: state.satisfying && state.is_end },
      })
      const pattern = kindPattern(required_step_type)
      const wanted = wantedWords(pattern)
      const steps = wantedSteps(pattern)
      const check = (context: StepContext) => {
        const before = last(context.history)
        if (before?.satisfying === true) return PASS
        const message = `the step before this one is not ${wanted}`
        const remedy = `${wanted} right before this step`
        const violation = stepViolation(context, 'NOT_DIRECTLY_PRECEDED', message, remedy, before?.evidence ?? null)
        return { ...violation, ...steps }
      }
      const because = ({ history }: StepContext) => ({
        evidence: present(last(history)?.evidence ?? null),
        fact: `${wanted} came right before this step`,
        undo: `put another step between ${wanted} and this one`,
      })
      return Object.assign(check, { because })
    },
  }),
  defineStepRule({
    name: 'step_requires_predecessor',
    category: 'path',
    scopes,
    targets: true,
    closedWithoutHistory: true,
    readsHistoryOnly: true,
    params: {
      type: 'object',
      required: ['required_step_type'],
      additionalProperties: false,
      properties: { required_step_type },
    },
    stricter: { required_step_type: 'narrower' },
    doc: 'Passes when some step of the history is of that type; a gate must have passed.',
    example: { required_step_type: 'step.message', target_step_types: ['step.resource'] },
    compile: ({ required_step_type }, environment) => {
      const pattern = kindPattern(required_step_type)
      const first = trackFirstRequired(environment, pattern, required)
      const isFirst = firstOfItsKind(pattern, required)
      const wanted = wantedWords(pattern)
      const steps = wantedSteps(pattern)
      const check = (context: StepContext) => {
        if (first(context.history) !== null) return PASS
        const message = `${wanted} is missing earlier in this task`
        const violation = stepViolation(context, 'PREDECESSOR_MISSING', message, `${wanted} before this step`)
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
    name: 'step_preceded_by_without_intervening',
    category: 'path',
    scopes,
    targets: true,
    readsHistoryOnly: true,
    params: {
      type: 'object',
      required: ['required_step_type', 'forbidden_intervening'],
      additionalProperties: false,
      properties: {
        required_step_type,
        forbidden_intervening: {
          ...stepKinds,
          description: 'step types or selectors that must not come between that step and this one',
        },
      },
    },
    stricter: { required_step_type: 'narrower', forbidden_intervening: 'more' },
    doc: 'Passes when no forbidden type follows the last step of the required type. Without such a step it is violated.',
    example: {
      required_step_type: 'step.gate',
      forbidden_intervening: ['step.model'],
      target_step_types: ['step.credential'],
    },
    compile: ({ required_step_type, forbidden_intervening }, environment) => {
      const state = trackIntervening(environment, required_step_type, forbidden_intervening)
      const pattern = kindPattern(required_step_type)
      const wanted = wantedWords(pattern)
      const forbidden = forbidden_intervening.map((kind) => kindWords(kind, 'step')).join(' or ')
      const remedy = `${wanted} before this step, with no ${forbidden} after it`
      const steps = wantedSteps(pattern)
      return (context) => {
        const { found, intervening } = state(context.history)
        if (found && intervening === null) return PASS
        if (found) {
          const message = `a \`${intervening?.step_type}\` step came after the last ${kindWords(required_step_type, 'step')}`
          return { ...stepViolation(context, 'INTERVENED', message, remedy, intervening), ...steps }
        }
        const message = `${wanted} is missing earlier in this task`
        return { ...stepViolation(context, 'PREDECESSOR_MISSING', message, remedy), ...steps }
      }
    },
  }),
  defineStepRule({
    name: 'step_requires_dedicated_predecessor',
    category: 'path',
    scopes,
    targets: true,
    params: {
      type: 'object',
      required: ['required_step_type'],
      additionalProperties: false,
      properties: {
        required_step_type,
        property_filter: {
          ...filterSchema,
          description: `only predecessors with these fields: ${filterSchema.description}`,
        },
      },
    },
    stricter: { required_step_type: 'none', property_filter: 'none' },
    doc: 'Passes when an unused predecessor of that kind exists: each one allows one target step.',
    example: { required_step_type: 'step.gate', target_step_types: ['step.exec'] },
    compile: (params, environment) => {
      const { required_step_type, property_filter: filter } = params
      const pattern = kindPattern(required_step_type, { filter, named: { filter: 'property_filter' } })
      const isPredecessor = compilePattern(pattern, false, 'property_filter')
      const isOneNow = compileTarget(pattern, 'property_filter')
      const credit = trackCredit(environment, pattern, params, isPredecessor)
      const wanted = wantedWords(pattern)
      const steps = wantedSteps(pattern)
      return (context) => {
        if (isOneNow?.(context, context.step)) return NOT_APPLICABLE
        const { left, ever } = credit(context.history)
        if (left > 0) return PASS
        const message = ever
          ? `every ${wanted.slice(2)} belongs to an earlier step: each allows one`
          : `${wanted} is missing earlier in this task`
        const remedy = `${ever ? `another ${wanted.slice(2)}` : wanted} before this step`
        const violation = stepViolation(context, ever ? 'CREDIT_SPENT' : 'PREDECESSOR_MISSING', message, remedy)
        return { ...violation, ...steps }
      }
    },
  }),
  defineStepRule({
    name: 'sequence_forbidden',
    category: 'path',
    scopes,
    targets: true,
    params: {
      type: 'object',
      required: ['forbidden_sequence'],
      additionalProperties: false,
      properties: {
        forbidden_sequence: {
          ...stepKinds,
          minItems: 2,
          description: 'step types or selectors, in order; the last one is this step',
        },
      },
    },
    stricter: { forbidden_sequence: 'none' },
    doc: 'Passes unless this step completes the sequence; other steps may lie between. Another type is not applicable.',
    example: { forbidden_sequence: ['step.credential', 'step.message'] },
    applicableTypes: ({ forbidden_sequence }) => kindTypes(forbidden_sequence.at(-1) ?? ''),
    compile: ({ forbidden_sequence }, environment) => {
      const parameter = (index: number) => `forbidden_sequence.${index}.property_filter`
      const before = forbidden_sequence.slice(0, -1)
      const isNext = before.map((kind, index) => isOfKind(kind, true, parameter(index)))
      const isOutside = outsideKind(forbidden_sequence.at(-1) ?? '', parameter(before.length))
      const found = environment.track<readonly EvidenceStep[]>({
        key: `sequence ${JSON.stringify(before.map(kindKey))}`,
        init: () => [],
        // The earliest match of each member leaves the most room for the next: a greedy search finds a subsequence if one exists.
        add: (state, recorded) =>
          isNext[state.length]?.(recorded) === true ? [...state, evidenceOfRecorded(recorded)] : state,
      })
      const parts = forbidden_sequence.map((kind) => (typeof kind === 'string' ? quote(kind) : kindWords(kind, 'step')))
      const message = `this step would complete the sequence ${parts.join(', ')}`
      return (context) => {
        if (isOutside(context)) return NOT_APPLICABLE
        const earlier = found(context.history)
        if (earlier.length < before.length) return PASS
        return stepViolation(context, 'FORBIDDEN_SEQUENCE', message, 'do this in a new task', ...earlier)
      }
    },
  }),
]

interface Last {
  readonly satisfying: boolean
  readonly is_end: boolean
  readonly evidence: EvidenceStep
}
