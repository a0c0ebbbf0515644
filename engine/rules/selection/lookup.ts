// Field lookup by path (docs/design/engine.md §1). All rules use it, so that two spellings of a path cannot hide a value.

import { canonicalType, hasWritePermission, type JsonMap, type Step } from '@svc/schemas'
import { ParameterError } from '../../check/parameter-error.js'
import { quote } from '../../check/quote.js'
import type { RuleContext } from '../form/rule.js'
import { contentTrust } from '../taint/labels.js'
import { externalCall, targetTrust } from '../taint/target-trust.js'
import { dotted, nested, prototypeKeys } from '../values/members.js'
import { toolsGetter } from './task-tools.js'

export type Getter = (context: RuleContext) => unknown

/** The first segments of fields that are resolved in the step itself. */
export const stepKeys: ReadonlySet<string> = new Set([
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

/**
 * Compiles a field path. The getter returns null for a missing value and throws AmbiguousField when a nested and a dotted
 * spelling of the path disagree. Throws ParameterError for an invalid path.
 */
export function compileField(path: string, parameter = 'field'): Getter {
  const segments = fieldSegments(path, parameter)
  if (segments === null) return () => null
  const [first = '', ...rest] = segments
  if (segments.length === 2 && rest[0] === 'declared_tools' && (first === 'context' || first === 'agent'))
    return toolsGetter(first)
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

/** True if a field of a step or of its context can have two values at once: a path into the properties or the attributes. */
export function canBeAmbiguous(path: string): boolean {
  const [first = '', ...rest] = path.split('.')
  if (first === 'context') return false
  if (first === 'agent') return rest.length > 1
  return stepKeys.has(first) ? first === 'is_external_call' : rest.length > 0
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

/** A field of the properties. `target.trust` and `content.trust` follow from other members as well. */
function propertyGetter(segments: readonly string[]): (step: Step) => unknown {
  const path = segments.join('.')
  if (path === 'target.trust') return targetTrust
  if (path === 'content.trust') return contentTrust
  const find = dotted(segments)
  return (step) => find(step.properties)
}

/** A field of the agent: its own fields first, then its other attributes. */
function agentGetter(segments: readonly string[]): (agent: JsonMap) => unknown {
  const [first = ''] = segments
  const ofAttributes = dotted(segments)
  return (agent) => (Object.hasOwn(agent, first) ? nested(agent, segments) : ofAttributes(agent.attributes))
}
