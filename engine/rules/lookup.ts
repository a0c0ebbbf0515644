// Field lookup by path (docs/design/engine.md §1). All rules use it, so that two spellings of a path cannot hide a value.

import { canonicalType, hasWritePermission, type JsonMap, type Step } from '@svc/schemas'
import { ParameterError } from '../check/parameter-error.js'
import { quote } from '../check/quote.js'
import type { RuleContext } from './rule.js'

/** A path leads to two different values. Every policy that reads it is violated. */
export class AmbiguousField extends Error {
  readonly code = 'AMBIGUOUS_FIELD'
  readonly path: string

  constructor(path: string) {
    super(`\`${path}\` has two different values`)
    this.path = path
  }
}

export type Getter = (context: RuleContext) => unknown

const stepKeys = new Set([
  'agent_id',
  'task_id',
  'timestamp',
  'step',
  'step_type',
  'verb',
  'step_name',
  'input',
  'output',
  'properties',
  'meta',
  'is_external_call',
  'has_write_permission',
])

/** Names of JavaScript prototypes, which never resolve. */
export const prototypeKeys: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])

/**
 * Compiles a field path. The getter returns null for a missing value and throws AmbiguousField when a nested and a dotted
 * spelling of the path disagree. Throws ParameterError for an invalid path.
 */
export function compileField(path: string, parameter = 'field'): Getter {
  const segments = fieldSegments(path, parameter)
  if (segments === null) return () => null
  const [first = '', ...rest] = segments
  if (first === 'context') return (context) => nested(context.context, rest)
  const ofAgent = agentGetter(first === 'agent' && rest.length > 0 ? rest : segments)
  if (first === 'agent') return (context) => ofAgent(context.agent)
  const ofStep = stepGetter(segments)
  return (context) => (context.step === null ? ofAgent(context.agent) : ofStep(context.step))
}

/** A field of a step alone, for predicates over recorded steps, for which there is no context. */
export function compileStepField(path: string, parameter: string): (step: Step) => unknown {
  const segments = fieldSegments(path, parameter)
  if (segments === null) return () => null
  if (segments[0] === 'context' || segments[0] === 'agent') {
    throw new ParameterError(
      parameter,
      `${quote(path)} is not a field of a step: leave out fields that begin with \`context\` or \`agent\``,
    )
  }
  return stepGetter(segments)
}

/** The path's segments; null when one of them is a prototype key, which never resolves. */
function fieldSegments(path: string, parameter: string): string[] | null {
  const segments = path.split('.')
  if (segments.some((segment) => segment === '')) {
    throw new ParameterError(
      parameter,
      `${quote(path)} is not a field path: write names separated by single dots, such as \`target.host\``,
    )
  }
  return segments.some((segment) => prototypeKeys.has(segment)) ? null : segments
}

function stepGetter(segments: readonly string[]): (step: Step) => unknown {
  const [first = '', ...rest] = segments
  if (!stepKeys.has(first)) return propertyGetter(segments)
  if (rest.length === 0) {
    if (first === 'step_type') return (step) => canonicalType(step.step_type)
    if (first === 'is_external_call') return externalCall
    if (first === 'has_write_permission') return hasWritePermission
  }
  const key = first as keyof Step
  return (step) => nested(step[key], rest)
}

/** A field of the properties. `target.trust` and `is_external_call` have one meaning, so that either sets both. */
function propertyGetter(segments: readonly string[]): (step: Step) => unknown {
  const find = dotted(segments)
  if (segments.join('.') !== 'target.trust') return (step) => find(step.properties)
  return (step) => {
    const trusted = find(step.properties)
    if (step.is_external_call === undefined) return trusted
    const flagged = step.is_external_call ? 'external' : 'internal'
    if (trusted !== null && trusted !== flagged) throw new AmbiguousField('target.trust')
    return flagged
  }
}

const trust = dotted(['target', 'trust'])

/** Whether the step leaves the organization, where one answer must be stored: an ambiguous flag counts as true. */
export function isExternalCall(step: Step): boolean {
  try {
    return externalCall(step)
  } catch (error) {
    if (error instanceof AmbiguousField) return true
    throw error
  }
}

/** Whether the step leaves the organization; a flag that contradicts `target.trust` is ambiguous. */
function externalCall(step: Step): boolean {
  const trusted = trust(step.properties)
  if (step.is_external_call === undefined) return trusted === 'external'
  if (trusted !== null && (trusted === 'external') !== step.is_external_call)
    throw new AmbiguousField('is_external_call')
  return step.is_external_call
}

/** A field of the agent: its own fields first, then its other attributes. */
function agentGetter(segments: readonly string[]): (agent: JsonMap) => unknown {
  const [first = ''] = segments
  const ofAttributes = dotted(segments)
  return (agent) => (Object.hasOwn(agent, first) ? nested(agent, segments) : ofAttributes(agent.attributes))
}

function nested(root: unknown, segments: readonly string[]): unknown {
  let value = root
  for (const segment of segments) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, segment)) return null
    if (Array.isArray(value) && !/^(0|[1-9]\d*)$/.test(segment)) return null
    value = (value as JsonMap)[segment]
  }
  return value ?? null
}

/** Finds a path that is nested, one dotted key, or any mixture; two spellings must agree. */
function dotted(segments: readonly string[]): (root: unknown) => unknown {
  const ways = segments.map((_, index) => ({
    head: segments.slice(0, index + 1).join('.'),
    tail: index === segments.length - 1 ? null : dotted(segments.slice(index + 1)),
  }))
  return (root) => {
    if (typeof root !== 'object' || root === null) return null
    let found: unknown = null
    for (let index = 0; index < ways.length; index++) {
      const way = ways[index]
      if (way === undefined || !Object.hasOwn(root, way.head)) continue
      if (Array.isArray(root) && !/^(0|[1-9]\d*)$/.test(way.head)) continue
      const value = (root as JsonMap)[way.head]
      const here = way.tail === null ? (value ?? null) : way.tail(value)
      if (here === null) continue
      if (found !== null && !sameJson(found, here)) throw new AmbiguousField(segments.join('.'))
      found = here
    }
    return found
  }
}

/** Strict equality of two JSON values; the order of members does not count. */
export function sameJson(a: unknown, b: unknown): boolean {
  const pending: [unknown, unknown][] = [[a, b]]
  for (let pair = pending.pop(); pair !== undefined; pair = pending.pop()) {
    const [left, right] = pair
    if (left === right) continue
    if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false
    if (Array.isArray(left) !== Array.isArray(right)) return false
    const keys = Object.keys(left)
    if (keys.length !== Object.keys(right).length) return false
    for (const key of keys) {
      if (!Object.hasOwn(right, key)) return false
      pending.push([(left as JsonMap)[key], (right as JsonMap)[key]])
    }
  }
  return true
}
