// value_flow_forbidden (docs/design/engine.md §3): follows values from a source to a sink.
import type { EvidenceStep } from '@svc/schemas'
import { compileSearch, type Matcher } from '../pattern/pattern.js'
import { fieldPaths, type Selector, selector } from './form/params.js'
import {
  CannotEvaluate,
  type CompileEnvironment,
  defineStepRule,
  evidenceOfRecorded,
  NOT_APPLICABLE,
  PASS,
  type Reading,
  type Recorded,
  type Slot,
  stepViolation,
} from './form/rule.js'
import { byDefault } from './form/stricter.js'
import {
  addToGiven,
  copyOfGiven,
  formsOf,
  type Given,
  isGiven,
  isIn,
  newGiven,
  wordsOfGiven,
} from './provenance/given.js'
import { compileParts } from './provenance/selector.js'
import { compileTarget } from './selection/filter.js'
import { selectorPattern } from './selection/kind.js'
import { compileField, type Getter } from './selection/lookup.js'
import type { Label } from './taint/labels.js'
import { type Leaf, someSentLeaf } from './taint/leaves.js'
import { limitReached, outputOf } from './value-from.js'
import { bare, comparable, tokensOf } from './values/value-parts.js'
import { detached } from './values/words.js'

/** Values kept for one task. A task with more cannot be followed, and its sinks violate (docs/design/engine.md §3). */
const maxValues = 50_000

const sentFields = ['input', 'exec.command']
const defaultLength = 8

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
        fields: {
          ...fieldPaths,
          description: 'fields of the sink that are checked; default all of input, and exec.command',
        },
        pattern: {
          type: 'string',
          minLength: 1,
          maxLength: 1000,
          description: 'regular expression (RE2): follow only values that match, such as links; searched, not anchored',
        },
        min_length: {
          type: 'integer',
          minimum: 1,
          maximum: 1000,
          description: 'characters: shorter values are not followed; default 8; numbers from 4 digits are',
        },
      },
    },
    stricter: {
      source: 'none',
      sink: { stricter: 'wider', alone: true },
      fields: { stricter: 'more', absent: byDefault(sentFields), alone: true },
      pattern: 'none',
      min_length: { stricter: 'lower', absent: byDefault(defaultLength), alone: true },
    },
    doc: 'Passes when no value that a source step gave first is in this sink step. A value that the user named, or that another resource gave before, is allowed. Values that are split or encoded anew, and words as names of members, are not recognised: `value_from` does not allow these.',
    example: {
      source: { step_types: ['step.credential'] },
      sink: { step_types: ['step.message'], verbs: ['POST'] },
    },
    compile: ({ source, sink, fields = sentFields, pattern, min_length = defaultLength }, environment) => {
      const matches = pattern === undefined ? null : compileSearch(pattern, 'pattern').test
      const flow = trackFlow(environment, source, { min_length, pattern, matches })
      const isSink = compileTarget(selectorPattern(sink), 'sink.property_filter')
      const paths = fields.map((path, index) => {
        const read = followedIn(compileField(path, `fields.${index}`), { min_length, matches })
        const key = `followed ${JSON.stringify([path, min_length, pattern])}`
        return { path, values: environment.readings.once(key, read) }
      })
      return (context) => {
        if (isSink !== null && !isSink(context, context.step)) return NOT_APPLICABLE
        const { origins, given, overflow } = flow(context.history)
        if (overflow || given.overflow) throw new CannotEvaluate(limitReached(context))
        if (origins.size === 0) return PASS
        for (const { path, values } of paths) {
          const origin = firstReached(values(context), origins, given)
          if (origin === null) continue
          const message = `a value from ${outputOf(origin)} is in \`${path}\`, where it must not go`
          return stepViolation(context, 'VALUE_FLOW', message, 'leave the value out, or do this in a new task', origin)
        }
        return PASS
      }
    },
  }),
]

/** The values that are followed. */
interface Form {
  readonly min_length: number
  readonly matches: Matcher | null
}

/** The values that sources gave first, each with its step, and what endorses values. */
interface Flow {
  readonly origins: Map<string, EvidenceStep>
  readonly given: Given
  overflow: boolean
}

function trackFlow(
  environment: CompileEnvironment,
  source: Selector,
  { pattern, ...form }: Form & { readonly pattern: string | undefined },
): Slot<Flow> {
  const selected = compileParts(source, true, 'source')
  return environment.track<Flow>({
    key: `flow ${JSON.stringify([form.min_length, pattern, source])}`,
    costly: ({ origins, given }) => origins.size + wordsOfGiven(given),
    init: () => ({ origins: new Map(), given: newGiven(), overflow: false }),
    add: (flow, recorded) => {
      if (!flow.overflow && !flow.given.overflow) follow(flow, recorded, selected(recorded.step), form)
      return flow
    },
    copy: ({ origins, given, overflow }) => ({ origins: new Map(origins), given: copyOfGiven(given), overflow }),
  })
}

/** The parts of a resource that are not a source endorse; the others are followed, unless the step sent the value itself. */
function follow(flow: Flow, recorded: Recorded, isSource: ((label: Label) => boolean) | null, form: Form): void {
  const { step, type } = recorded
  const endorses = isSource === null ? () => true : (label: Label) => !isSource(label)
  addToGiven(flow.given, recorded, type === 'step.resource' ? endorses : null)
  if (isSource === null) return
  const sent = new Set<string>()
  someSentLeaf(step.input, (leaf) => someValue(leaf, form, (value) => !sent.add(value)))
  const origin = evidenceOfRecorded(recorded)
  const addNew = (value: string) => {
    if (sent.has(value) || flow.origins.has(value) || isGiven(flow.given, formsOf(value))) return false
    flow.overflow = flow.origins.size >= maxValues
    if (!flow.overflow) flow.origins.set(detached(value), origin)
    return flow.overflow
  }
  recorded.texts.received.some((leaf) => isSource(leaf.label) && someValue(leaf, form, addNew))
}

/** True for the name of a member as tools name their parameters: a word of the source can be the same by chance. */
function isOfTool({ text, is_key }: Leaf): boolean {
  return is_key === true && /^[A-Za-z_]+$/.test(text)
}

/** The values of a field that could be followed ones. */
function followedIn(get: Getter, form: Form): Reading<readonly string[]> {
  return (context) => {
    const values: string[] = []
    const add = (value: string) => values.push(value) === 0
    someSentLeaf(get(context), (leaf) => !isOfTool(leaf) && (someValue(leaf, form, add) || somePiece(leaf, form, add)))
    return values
  }
}

/** The origin of the first value that must not be here; null without one. */
function firstReached(values: readonly string[], origins: Flow['origins'], given: Given): EvidenceStep | null {
  for (const value of values) {
    const origin = origins.get(value)
    // The user may name a value after a source gave it.
    if (origin !== undefined && !isIn(given.user, formsOf(value))) return origin
  }
  return null
}

/** True when `visit` returns true for a value of the leaf: the whole, its words, and the parts of a word such as `to=mia`. */
function someValue({ text, is_number }: Leaf, form: Form, visit: (value: string) => boolean): boolean {
  const check = (value: string) => isFollowed(value, form, is_number) && visit(value)
  const whole = comparable(text)
  if (check(whole)) return true
  return tokensOf(whole).some((one) => {
    const word = bare(one)
    if (word !== whole && check(word)) return true
    // Most words are one piece, which is found faster than it is split.
    return between.test(word) && word.split(between).some((piece) => check(bare(piece)))
  })
}

/** The parts between the signs of a link, an assignment or an address: a sink may hide a whole value in one. */
function somePiece({ text }: Leaf, form: Form, visit: (value: string) => boolean): boolean {
  if (!/[=/?&:~@+\u2026]/.test(text)) return false
  const check = (value: string) => isFollowed(value, form, false) && visit(value)
  const words = comparable(text).split(signs)
  return words.some((word) => check(bare(word)) || word.split(/[@+]+/).some((piece) => check(bare(piece))))
}

const signs = /[\s"'<>(),;|`=/?&:~\u2026]+/u

const between = /[^\p{L}\p{N}\p{M}@._+-]+/u

function isFollowed(value: string, { min_length, matches }: Form, is_number: boolean): boolean {
  return isLongEnough(value, min_length, is_number) && (matches?.(value) ?? true)
}

/** A number has at least 4 digits. A year in a text is not followed. */
function isLongEnough(value: string, min_length: number, is_number: boolean): boolean {
  if (value.length >= min_length) return true
  if (is_number) return value.replaceAll(/\D/g, '').length >= 4
  return /^\d{4,}$/.test(value) && !/^(19|20)\d\d$/.test(value)
}
