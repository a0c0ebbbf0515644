// Rules that count (docs/design/engine.md §3, 14–17). None of them is applicable to a step of another type.
import type { EvidenceStep, Step } from '@svc/schemas'
import { fieldPath, type StepKind, stepKind } from './form/params.js'
import { defineStepRule, NOT_APPLICABLE, PASS, type Recorded, type Scope, stepViolation } from './form/rule.js'
import { isEndType } from './history/track.js'
import { isOfKind, kindKey, kindTypes, kindWords, outsideKind } from './selection/kind.js'
import { compileField, compileStepField } from './selection/lookup.js'
import { AmbiguousField, notANumber } from './values/members.js'
import { isUnclearNumber, numberIn } from './values/spelled.js'

const scopes: readonly Scope[] = ['step_execution']
const step_type = { ...stepKind, description: 'the step type that is counted, or a selector of steps' } as const
const applicableTypes = (params: { readonly step_type: StepKind }) => kindTypes(params.step_type)

/** A step is counted and checked by one selection; another selection changes which steps the rule is applicable to. */
const countedSteps = { stricter: 'wider', alone: true } as const

export const countRules = [
  defineStepRule({
    name: 'execution_max_steps',
    category: 'count',
    scopes,
    targets: true,
    params: {
      type: 'object',
      required: ['step_type', 'max_steps'],
      additionalProperties: false,
      properties: {
        step_type,
        max_steps: {
          type: 'integer',
          minimum: 0,
          description: 'steps of the type in a task, inclusive; 0 allows none',
        },
      },
    },
    stricter: { step_type: countedSteps, max_steps: 'lower' },
    doc: 'Passes when the history holds fewer than `max_steps` of the type. A step of another type is not applicable.',
    example: { step_type: 'step.model', max_steps: 200 },
    applicableTypes,
    compile: (params, environment) => {
      const { step_type: kind } = params
      const counts = isOfKind(kind, true, 'step_type.property_filter')
      const isOutside = outsideKind(kind, 'step_type.property_filter')
      const count = environment.track<number>({
        key: `count ${kindKey(kind)}`,
        init: () => 0,
        add: (state, recorded) => (counts(recorded) ? state + 1 : state),
      })
      const steps = kindWords(kind, params.max_steps === 1 ? 'step' : 'steps')
      const message = `the task already has ${params.max_steps} ${steps}, which is the maximum`
      const remedy = params.max_steps > 0 ? 'end this task; a new one counts from zero' : 'leave this step out'
      return (context) => {
        if (isOutside(context)) return NOT_APPLICABLE
        if (count(context.history) < params.max_steps) return PASS
        return stepViolation(context, 'TOO_MANY_STEPS', message, remedy)
      }
    },
  }),
  defineStepRule({
    name: 'max_consecutive_same_type',
    category: 'count',
    scopes,
    targets: true,
    params: {
      type: 'object',
      required: ['step_type', 'max_consecutive'],
      additionalProperties: false,
      properties: {
        step_type,
        max_consecutive: { type: 'integer', minimum: 1, description: 'steps of the type in a row, inclusive' },
      },
    },
    stricter: { step_type: countedSteps, max_consecutive: 'lower' },
    doc: 'Passes when fewer than `max_consecutive` steps of the type end the history. Another type is not applicable.',
    example: { step_type: 'step.model', max_consecutive: 20 },
    applicableTypes,
    compile: (params, environment) => {
      const { step_type: kind } = params
      const counts = isOfKind(kind, true, 'step_type.property_filter')
      const isOutside = outsideKind(kind, 'step_type.property_filter')
      const run = environment.track<number>({
        key: `run ${kindKey(kind)}`,
        init: () => 0,
        // An end of the task does not interrupt the run: a limit is not reached anew after it.
        add: (state, recorded) => (counts(recorded) ? state + 1 : isEndType(recorded.type) ? state : 0),
      })
      const message = `${params.max_consecutive} ${kindWords(kind, 'steps')} in a row came directly before`
      const remedy = 'do a step of another type first'
      return (context) => {
        if (isOutside(context)) return NOT_APPLICABLE
        if (run(context.history) < params.max_consecutive) return PASS
        return stepViolation(context, 'TOO_MANY_IN_A_ROW', message, remedy)
      }
    },
  }),
  defineStepRule({
    name: 'usage_budget',
    category: 'count',
    scopes,
    targets: true,
    params: {
      type: 'object',
      required: ['step_type', 'property_path', 'budget'],
      additionalProperties: false,
      properties: {
        step_type,
        property_path: { ...fieldPath, description: 'field path of the amount, such as `usage.total_tokens`' },
        budget: {
          type: 'number',
          minimum: 0,
          description: 'sum of the amounts in a task, inclusive, in the unit of the field',
        },
      },
    },
    stricter: { step_type: countedSteps, property_path: 'none', budget: 'lower' },
    doc: 'Passes when the sum over the history and this step is within the budget. A number as text counts; `1,000`, a list or a map violates; any other value counts 0.',
    example: { step_type: 'step.model', property_path: 'usage.total_tokens', budget: 200_000 },
    applicableTypes,
    compile: (params, environment) => {
      const { property_path: path, budget } = params
      const { step_type: kind } = params
      const counts = isOfKind(kind, true, 'step_type.property_filter')
      const isOutside = outsideKind(kind, 'step_type.property_filter')
      const amountIn = compileStepField(path, 'property_path')
      const amountNow = compileField(path, 'property_path')
      const sum = environment.track<number | null>({
        key: `sum ${kindKey(kind)} ${path}`,
        init: () => 0,
        add: (state, recorded) =>
          state === null || !counts(recorded) ? state : added(state, path, amountIn, recorded.step),
      })
      // Doubles only approximate decimal fractions: ten times 0.1 must fit a budget of 1.
      const limit = budget * (1 + 1e-9)
      const message = `with this step \`${path}\` adds up to more than ${budget}`
      return (context) => {
        if (isOutside(context)) return NOT_APPLICABLE
        const before = sum(context.history)
        if (before === null)
          throw new AmbiguousField(
            path,
            'of an earlier step is not one number',
            'end this task; a new one counts from zero',
          )
        const now = amountOf(path, amountNow(context))
        if (before + now <= limit) return PASS
        const smaller = `keep \`${path}\` to at most ${budget}${before > 0 ? ', in a new task' : ''}`
        const remedy = now <= limit ? 'end this task; a new one counts from zero' : smaller
        return stepViolation(context, 'BUDGET_EXCEEDED', message, remedy)
      }
    },
  }),
  defineStepRule({
    name: 'step_rate_limit',
    category: 'count',
    scopes,
    targets: true,
    params: {
      type: 'object',
      required: ['step_type', 'max_steps', 'window_seconds'],
      additionalProperties: false,
      properties: {
        step_type,
        max_steps: {
          type: 'integer',
          minimum: 1,
          maximum: 100_000,
          description: 'steps of the type in the window, inclusive',
        },
        window_seconds: {
          type: 'number',
          exclusiveMinimum: 0,
          description: 'length of the window that ends now, in seconds; its start is exclusive',
        },
      },
    },
    stricter: { step_type: countedSteps, max_steps: 'lower', window_seconds: 'higher' },
    doc: 'Passes when fewer than `max_steps` steps of the type are in (now − window, now]. Another type is not applicable.',
    example: { step_type: 'step.resource', max_steps: 60, window_seconds: 60 },
    applicableTypes,
    compile: (params, environment) => {
      const { step_type: kind } = params
      const counts = isOfKind(kind, true, 'step_type.property_filter')
      const isOutside = outsideKind(kind, 'step_type.property_filter')
      const recent = environment.track<Ring>({
        key: `recent ${kindKey(kind)} ${params.max_steps}`,
        init: () => ({ at: [], number: [], type: [], name: [], next: 0 }),
        add: (state, recorded) => (counts(recorded) ? push(state, recorded, params.max_steps) : state),
        copy: ({ at, number, type, name, next }) => ({
          at: [...at],
          number: [...number],
          type: [...type],
          name: [...name],
          next,
        }),
      })
      const window = params.window_seconds * 1000
      const message = `${params.max_steps} ${kindWords(kind, 'steps')} within ${params.window_seconds} seconds`
      return (context) => {
        if (isOutside(context)) return NOT_APPLICABLE
        const ring = recent(context.history)
        if (ring.at.length < params.max_steps) return PASS
        // Times never decrease within a task, so the oldest of the last max_steps decides alone.
        const oldest = ring.at[ring.next] ?? 0
        if (oldest <= context.now - window) return PASS
        const seconds = Math.max(1, Math.ceil((oldest + window - context.now) / 1000))
        const remedy = `wait ${seconds} ${seconds === 1 ? 'second' : 'seconds'}`
        return stepViolation(context, 'TOO_FAST', message, remedy, evidenceAt(ring, ring.next))
      }
    },
  }),
]

/** A missing or negative amount, and a word such as `unknown`, count 0. Throws AmbiguousField for a value that hides a number. */
function amountOf(path: string, value: unknown): number {
  if (isUnclearNumber(value) || (typeof value === 'object' && value !== null)) throw notANumber(path)
  const amount = numberIn(value) ?? 0
  return Number.isFinite(amount) && amount > 0 ? amount : 0
}

/** The sum with one more step; null from then on once a step has two amounts, or one that is not a number. */
function added(sum: number, path: string, amountIn: (step: Step) => unknown, step: Step): number | null {
  try {
    return sum + amountOf(path, amountIn(step))
  } catch (error) {
    if (error instanceof AmbiguousField) return null
    throw error
  }
}

/**
 * The last steps of a type, in parallel lists because each of 10,000 tasks may have a ring; `next` is the index of the
 * oldest once the ring is full.
 */
interface Ring {
  readonly at: number[]
  readonly number: number[]
  readonly type: string[]
  readonly name: (string | null)[]
  next: number
}

function push(ring: Ring, { step, at, position }: Recorded, size: number): Ring {
  const { next } = ring
  const before = ring.name[(next + size - 1) % size]
  ring.at[next] = at
  ring.number[next] = step.step ?? position
  ring.type[next] = step.step_type
  // Equal names share one string: most tasks have few names.
  ring.name[next] = before !== undefined && before === step.step_name ? before : (step.step_name ?? null)
  ring.next = (next + 1) % size
  return ring
}

function evidenceAt({ number, type, name }: Ring, index: number): EvidenceStep {
  return { step: number[index] ?? null, step_type: type[index] ?? '', step_name: name[index] ?? null }
}
