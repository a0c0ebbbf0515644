// value_from (docs/design/engine.md §3): every value must be one that the task was given.
import type { EvidenceStep } from '@svc/schemas'
import { quote } from '../check/quote.js'
import { compileSearch, type Matcher } from '../pattern/pattern.js'
import { fieldPaths, type Selector, selector } from './form/params.js'
import {
  CannotEvaluate,
  type CompileEnvironment,
  defineStepRule,
  NOT_APPLICABLE,
  PASS,
  type Reading,
  type Slot,
  type StepContext,
  stepViolation,
} from './form/rule.js'
import { trackSeen } from './history/seen.js'
import {
  addToGiven,
  copyOfGiven,
  formsOf,
  type Given,
  isGiven,
  newGiven,
  type Value,
  wordsOfGiven,
} from './provenance/given.js'
import { compileParts } from './provenance/selector.js'
import { kindWords } from './selection/kind.js'
import { compileField, type Getter } from './selection/lookup.js'
import { type Leaf, someSentLeaf } from './taint/leaves.js'
import { partsOf } from './values/value-parts.js'
import { trimmed, wordsOf } from './values/words.js'

export const valueFromRules = [
  defineStepRule({
    name: 'value_from',
    category: 'flow',
    scopes: ['step_execution'],
    targets: true,
    params: {
      type: 'object',
      required: ['fields'],
      additionalProperties: false,
      properties: {
        fields: { ...fieldPaths, description: 'fields whose values are checked, such as `input.recipient`' },
        from: {
          ...selector,
          description: 'steps whose output gives values too; without it only the messages of the user do',
        },
        pattern: {
          type: 'string',
          minLength: 1,
          maxLength: 1000,
          description:
            'regular expression (RE2): check only the words that match, such as links; searched, not anchored',
        },
      },
    },
    // A named step must have one of the fields: another field can take its place, and no names ask for none.
    stricter: {
      fields: 'none',
      from: 'none',
      pattern: 'none',
      target_step_names: { stricter: 'more', absent: 'other', alone: true },
    },
    doc: 'Passes when every value of the fields occurs in a message of the user or in the output of a step of `from`. Values that the task wrote itself do not count, and spaces within account numbers do not matter. A field that is missing is not applicable; with `target_step_names`, at least one of the fields must be there.',
    example: {
      fields: ['input.recipient'],
      from: { step_names: ['search_contacts'] },
      target_step_names: ['send_money'],
    },
    compile: ({ fields, from, pattern, target_step_names }, environment) => {
      const given = trackGiven(environment, from)
      const seen = trackSeen(environment)
      const matches = pattern === undefined ? null : compileSearch(pattern, 'pattern').test
      const source = from === undefined ? null : kindWords(from, 'step')
      const remedy = `use a value that the user named in a message${source === null ? '' : `, or that a ${source} returned`}`
      const nowhere = `is in no message of the user${source === null ? '' : ` and in no output of a ${source}`}`
      const wanted = fields.map(quote).join(' or ')
      const absentFields = fields.length === 1 ? `${wanted} is` : `each of ${fields.map(quote).join(', ')} is`
      const paths = fields.map((path, index) => {
        const read = valuesIn(compileField(path, `fields.${index}`), matches)
        const values = environment.readings.once(`values ${JSON.stringify([path, pattern])}`, read)
        return { values, absent: `a value in \`${path}\` ${nowhere}` }
      })
      return (context) => {
        const known = given(context.history)
        let answer: typeof PASS | typeof NOT_APPLICABLE = NOT_APPLICABLE
        for (const { absent, values } of paths) {
          const found = values(context)
          if (found === null) continue
          answer = PASS
          const missing = found.find((one) => !isGiven(known, one))
          if (missing === undefined) continue
          if (known.overflow) throw new CannotEvaluate(limitReached(context))
          const origin = seen(context.history).stepOf(missing.words)
          const message = absent + cameFrom(origin)
          return stepViolation(context, 'VALUE_NOT_GIVEN', message, remedy, origin)
        }
        if (answer === NOT_APPLICABLE && target_step_names !== undefined)
          return stepViolation(context, 'VALUE_MISSING', `${absentFields} missing`, `give ${wanted}`)
        return answer
      }
    },
  }),
]

function trackGiven(environment: CompileEnvironment, from: Selector | undefined): Slot<Given> {
  const trusts = from === undefined ? () => null : compileParts(from, false, 'from')
  return environment.track<Given>({
    key: `given ${JSON.stringify(from ?? null)}`,
    costly: wordsOfGiven,
    init: newGiven,
    add: (given, recorded) => {
      if (!given.overflow) addToGiven(given, recorded, trusts(recorded.step))
      return given
    },
    copy: copyOfGiven,
  })
}

/** The words of each value of a field; null for a field that is missing. */
function valuesIn(get: Getter, matches: Matcher | null): Reading<readonly Value[] | null> {
  return (context) => {
    const value = get(context)
    if (value === null) return null
    const values: Value[] = []
    someSentLeaf(value, ({ text, is_number }: Leaf) => {
      for (const part of matches === null ? [text] : partsOf(text, matches)) {
        // The sign of a number is not punctuation.
        const words = is_number ? wordsOf(part) : trimmed(wordsOf(part))
        if (words.length > 0) values.push(formsOf(part, words))
      }
      return false
    })
    return values
  }
}

function cameFrom(origin: EvidenceStep | null): string {
  return origin === null ? '' : `; it first appeared in ${outputOf(origin)}`
}

/** The output of a recorded step in words. */
export function outputOf({ step, step_name }: EvidenceStep): string {
  return `the output of step ${step}${step_name === null ? '' : ` \`${step_name}\``}`
}

/** The violation for a task that holds more than can be followed. */
export function limitReached(context: StepContext) {
  const message = 'the task holds more text than can be followed'
  return stepViolation(context, 'FLOW_LIMIT', message, 'do this in a new task')
}
