// value_flow_forbidden (docs/design/engine.md §3): follows values from a source to a sink.
import type { EvidenceStep, Step } from '@svc/schemas'
import { compilePattern, compileTarget, type StepPattern } from './filter.js'
import { AmbiguousField, compileStepField } from './lookup.js'
import { filterSchema, names, stepTypes, type ValueOf } from './params.js'
import {
  CannotEvaluate,
  type CompileEnvironment,
  defineStepRule,
  evidenceOfRecorded,
  NOT_APPLICABLE,
  PASS,
  type Recorded,
  type Slot,
  stepViolation,
} from './rule.js'
import { someString } from './text.js'

const selector = {
  type: 'object',
  additionalProperties: false,
  properties: { step_types: stepTypes, verbs: names, step_names: names, property_filter: filterSchema },
} as const

type Selector = ValueOf<typeof selector>

/** Values kept for one task. A task with more cannot be followed, and its sinks violate (docs/design/engine.md §3). */
const maxValues = 50_000

export const valueFlowRules = [
  defineStepRule({
    name: 'value_flow_forbidden',
    category: 'flow',
    scopes: ['step_execution'],
    targets: true,
    params: {
      type: 'object',
      required: ['source', 'sink'],
      additionalProperties: false,
      properties: {
        source: { ...selector, description: 'steps whose output is followed' },
        sink: { ...selector, description: 'steps whose input it must not reach' },
        min_length: {
          type: 'integer',
          minimum: 1,
          maximum: 1000,
          description: 'shorter values are not followed; default 8',
        },
      },
    },
    doc: 'Passes when no value that first appeared in the output of a source step is in the input of this sink step.',
    example: {
      source: { step_types: ['step.credential'] },
      sink: { step_types: ['step.message'], verbs: ['POST'] },
    },
    compile: ({ source, sink, min_length = 8 }, environment) => {
      const values = trackValues(environment, source, min_length)
      const isSink = compileTarget(patternOf(sink), 'sink.property_filter')
      return (context) => {
        if (isSink !== null && !isSink(context, context.step)) return NOT_APPLICABLE
        const { origins, overflow } = values(context.history)
        if (overflow) throw new CannotEvaluate(stepViolation(context, 'FLOW_LIMIT', tooMany, 'do this in a new task'))
        const origin = firstKnown(context.step, min_length, origins)
        if (origin === null) return PASS
        return stepViolation(context, 'VALUE_FLOW', reached, 'leave the value out, or do this in a new task', origin)
      }
    },
  }),
]

const tooMany = `the task holds more than ${maxValues} values, too many to follow`
const reached = 'a value from the output of an earlier step is in the input of this one, where it must not go'

/** Every value so far, with the source step it first appeared in; null for a value from another step. */
interface Values {
  readonly origins: Map<string, EvidenceStep | null>
  overflow: boolean
}

function trackValues(environment: CompileEnvironment, source: Selector, min_length: number): Slot<Values> {
  const isSource = compilePattern(patternOf(source), true, 'source.property_filter')
  return environment.track<Values>({
    key: `values ${min_length} ${JSON.stringify(patternOf(source))}`,
    init: () => ({ origins: new Map(), overflow: false }),
    add: (state, recorded) => {
      if (!state.overflow) take(state, recorded, isSource(recorded.step), min_length)
      return state
    },
    copy: ({ origins, overflow }) => ({ origins: new Map(origins), overflow }),
  })
}

/** Takes the input of a step before its output: a value of the input did not originate in the step. */
function take(state: Values, recorded: Recorded, from_source: boolean, min_length: number): void {
  const { step } = recorded
  const origin = from_source ? evidenceOfRecorded(recorded) : null
  const keep = (source: EvidenceStep | null) => (value: string) => {
    if (state.origins.has(value)) return false
    if (state.origins.size >= maxValues) {
      state.overflow = true
      state.origins.clear()
      return true
    }
    state.origins.set(detached(value), source)
    return false
  }
  if (someValue(inputs(step), min_length, keep(null))) return
  someValue([step.output], min_length, keep(origin))
}

function firstKnown(step: Step, min_length: number, origins: Values['origins']): EvidenceStep | null {
  let found: EvidenceStep | null = null
  someValue([step.input, command(step)], min_length, (value) => {
    found = origins.get(value) ?? null
    return found !== null
  })
  return found
}

const command = compileStepField('exec.command', 'field')

/** The input of a recorded step and its command. An ambiguous command counts with both values. */
function inputs(step: Step): readonly unknown[] {
  try {
    return [step.input, command(step)]
  } catch (error) {
    if (error instanceof AmbiguousField) return [step.input, step.properties]
    throw error
  }
}

/** Visits the strings inside the values, and their words, until the visitor returns true. */
function someValue(values: readonly unknown[], min_length: number, visit: (value: string) => boolean): boolean {
  return values.some((value) =>
    someString(value, (text) => {
      // Composing makes some characters up to three times as long.
      if (text.length * 3 < min_length) return false
      const whole = composed(text)
      if (whole.length >= min_length && visit(whole)) return true
      const words = whole.split(/[\s"'<>(),;]+/)
      if (words.length === 1) return false
      return words.some((word) => word.length >= min_length && visit(word))
    }),
  )
}

/**
 * The composed form, in which equivalent texts are equal. Normalizing a long run of combining marks takes quadratic time,
 * so a text with a run longer than any script uses (UAX #15, stream-safe: 30) is not normalized.
 */
function composed(text: string): string {
  return /\p{M}{31}/u.test(text) ? text : text.normalize('NFC')
}

/** A copy that does not retain the text it was cut from. */
function detached(value: string): string {
  return Buffer.from(value, 'utf16le').toString('utf16le')
}

function patternOf({ step_types, verbs, step_names, property_filter }: Selector): StepPattern {
  return { step_types, verbs, step_names, filter: property_filter }
}
