// Compiles a rule's name and parameters to a check. Every error in them is found here, at load.

import { canonicalType, type JsonMap } from '@svc/schemas'
import { didYouMean } from '../check/nearest.js'
import { ParameterError } from '../check/parameter-error.js'
import { quote } from '../check/quote.js'
import { lazyCheck, type SchemaProblem } from '../check/schema-check.js'
import { compileTree, isCombinator, postOrder, sharedScopes } from './compound/compound.js'
import { assertDepth, depthWords } from './compound/depth.js'
import type { CompiledTree } from './compound/tree.js'
import { type Selector, type TargetFilter, targetKeys } from './form/params.js'
import {
  type Check,
  type CompileEnvironment,
  type LeafRule,
  NOT_APPLICABLE,
  type RuleContext,
  type Scope,
  type Tracker,
} from './form/rule.js'
import { writingVerbs } from './form/stricter.js'
import { trackFirstForbidden } from './history/track.js'
import { isLost, onWholeHistory, unknownHistory } from './history/whole-history.js'
import { leafRules, paramsSchema, rules } from './registry.js'
import { compileHead, headWords, type StepPattern, targetPattern, withTarget } from './selection/filter.js'
import { selectorPattern } from './selection/kind.js'

const byName = new Map(leafRules.map((rule) => [rule.name, { rule, check: lazyCheck(paramsSchema(rule), 'yaml') }]))

/** The scopes a rule can be used at; for a compound rule those that all its leaves share. Throws ParameterError. */
function scopesOf(rule_type: string, params: JsonMap): readonly Scope[] {
  const leaves = postOrder({ rule_type, params }).filter(({ node }) => !isCombinator(node.rule_type))
  return sharedScopes(leaves.map(({ node, path }) => leafNamed(node.rule_type, path).rule.scopes))
}

/** Compiles a rule with its parameters. Throws ParameterError whose path is relative to the policy's `params`. */
export function compileRule(rule_type: string, params: JsonMap, environment: CompileEnvironment): CompiledTree {
  assertDepth(rule_type, params)
  try {
    return compileShallow(rule_type, params, environment)
  } catch (error) {
    // Parameters within the limit still need some stack, and little of it may be left.
    throw error instanceof RangeError ? new ParameterError('', depthWords, { subject: '', fault: 'depth' }) : error
  }
}

function compileShallow(rule_type: string, params: JsonMap, environment: CompileEnvironment): CompiledTree {
  const scopes = scopesOf(rule_type, params)
  if (!scopes.includes(environment.scope)) {
    const usable = scopes.length === 0 ? 'its conditions share no scope' : `write ${scopes.map(quote).join(' or ')}`
    throw new ParameterError('scope', `${quote(rule_type)} cannot be used at ${quote(environment.scope)}: ${usable}`, {
      fault: 'scope',
    })
  }
  const negates = postOrder({ rule_type, params }).some(({ node }) => node.rule_type === 'not')
  const keeping = withoutEnds(environment)
  return compileTree({ rule_type, params }, ({ node, path, negated }) => {
    const own = node.params ?? {}
    const within = negated ? keeping : environment
    const { rule, pattern, after } = checkedLeaf(node.rule_type, own, path, within)
    const { slots, tracking } = notingSlots(within)
    const leaf = compileLeaf(rule, { filter: pattern.filter }, own, path, tracking)
    const is_closed = !environment.blocks || (rule.closedWithoutHistory === true && !negates)
    const check = is_closed ? leaf : onWholeHistory(leaf, slots, negates)
    return {
      head: compileHead(pattern),
      head_words: headWords(pattern),
      check: after === undefined ? check : afterStep(after as Selector, check, path, within),
      can_throw: rule.readsHistoryOnly !== true || pattern.filter !== undefined,
    }
  })
}

/** For a rule below a `not`, which forbids what the rule alone would allow: no end voids it. */
function withoutEnds(environment: CompileEnvironment): CompileEnvironment {
  const track: CompileEnvironment['track'] = (tracker) => {
    if (tracker.end === undefined) return environment.track(tracker)
    const { end: _, ...kept } = tracker
    return environment.track({ ...kept, key: `kept ${kept.key}` })
  }
  return { ...environment, track }
}

/** The rule and the steps it applies to. */
function checkedLeaf(rule_type: string, params: JsonMap, path: string, { scope, valid }: CompileEnvironment) {
  const { rule, check } = leafNamed(rule_type, path)
  const [problem, ...others] = valid ? [] : check(params)
  if (problem !== undefined)
    throw parameterError(
      path,
      problem,
      others.map((other) => parameterError(path, other)),
    )
  const filtered = targetKeys.find((key) => key in params)
  if (scope === 'agent_registration' && filtered !== undefined) {
    const message =
      'a target filter selects steps, and `agent_registration` has no step: remove it, or write `scope: step_execution`'
    throw new ParameterError(inParams(path, filtered), message)
  }
  return { rule, pattern: patternOf(rule, params), after: rule.targets === false ? undefined : params.target_after }
}

function parameterError(path: string, problem: SchemaProblem, others: readonly ParameterError[] = []): ParameterError {
  const { subject, predicate } = problem.sentence ?? { subject: problem.path, predicate: problem.message }
  const { fault = 'value', at_key } = problem
  const where = inParams(path, subject.join('.'))
  return new ParameterError(inParams(path, problem.path.join('.')), predicate, {
    fault,
    subject: where,
    at_key,
    others,
  })
}

/** The steps that the author targets, limited to those that the rule can be applicable to. */
export function patternOf(rule: LeafRule, params: JsonMap): StepPattern {
  const target: TargetFilter = Object.fromEntries(
    targetKeys.flatMap((key) => (key in params ? [[key, params[key]]] : [])),
  )
  const pattern = targetPattern(target)
  const applicable = rule.applicableTypes?.(params)?.map(canonicalType)
  const targeted = pattern.step_types?.map(canonicalType)
  const step_types =
    targeted && applicable ? targeted.filter((type) => applicable.includes(type)) : (applicable ?? targeted)
  if (rule.targets !== 'writes') return { ...pattern, step_types }
  return { ...pattern, step_types, verbs: pattern.verbs ?? writingVerbs, any_verb_for: 'step.exec' }
}

function compileLeaf(
  rule: LeafRule,
  pattern: StepPattern,
  params: JsonMap,
  path: string,
  environment: CompileEnvironment,
): Check {
  try {
    return withTarget(pattern, rule.compile(params, environment))
  } catch (error) {
    if (!(error instanceof ParameterError)) throw error
    const { fault, message } = error
    throw new ParameterError(inParams(path, error.path), message, { fault })
  }
}

/** The environment for one rule, and the slots of the trackers that the rule reads. */
function notingSlots(environment: CompileEnvironment) {
  const slots: number[] = []
  const track = <S>(tracker: Tracker<S>) => {
    const read = environment.track(tracker)
    slots.push(read.slot)
    return read
  }
  return { slots, tracking: { ...environment, track } }
}

/** Wraps a check so that it is applicable only after a step that the selector selects; that step is evidence too. */
function afterStep(selector: Selector, check: Check, path: string, environment: CompileEnvironment): Check {
  const parameter = inParams(path, 'target_after.property_filter')
  const first = trackFirstForbidden(environment, selectorPattern(selector), parameter)
  const later = (context: RuleContext) => {
    const earlier = first(context.history)
    if (earlier === null) {
      // Such a step may be one of those that are missing.
      const isOpen = !environment.blocks || !isLost(context.history, [first.slot])
      return isOpen || typeof check(context) !== 'object' ? NOT_APPLICABLE : unknownHistory(context)
    }
    const answer = check(context)
    if (typeof answer !== 'object' || answer.evidence.some(({ step }) => step === earlier.step)) return answer
    return { ...answer, evidence: [earlier, ...answer.evidence] }
  }
  return check.because === undefined ? later : Object.assign(later, { because: check.because })
}

function leafNamed(name: string, path: string) {
  const known = byName.get(name)
  if (known !== undefined) return known
  const hint = didYouMean(
    name,
    rules.map((rule) => rule.name),
  )
  throw new ParameterError(
    path === '' ? 'rule_type' : `${path}.rule_type`,
    `unknown rule ${quote(name)}${hint || '; see `svc rules`'}`,
    { fault: 'rule' },
  )
}

/** The path of a parameter of the node at `path`, relative to the policy's `params`. */
function inParams(path: string, parameter: string): string {
  return [...(path === '' ? [] : [path, 'params']), ...(parameter === '' ? [] : [parameter])].join('.')
}
