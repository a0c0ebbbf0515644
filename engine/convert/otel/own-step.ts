// Spans that the local engine wrote of its steps (engine/trace/spans.ts): they have the step itself in `svc.step.…`.
import { type Behavior, type JsonMap, verbs, verbsOf } from '@svc/schemas'
import { readable } from '../exact.js'
import { isMap } from '../is-map.js'
import type { Body } from '../step-body.js'
import { idsOf } from './evidence.js'
import type { Span } from './span.js'

/** True for a span that is a step of the local engine. */
export function isOwnStep({ attributes }: Pick<Span, 'attributes'>): boolean {
  const type = attributes.get('svc.step.type')
  return typeof type === 'string' && Object.hasOwn(verbsOf, type)
}

/** The step of a span for which `isOwnStep` is true. */
export function ownBody(span: Span): Body {
  const { attributes } = span
  const map = (...names: readonly string[]): JsonMap | undefined => {
    const name = names.find((each) => attributes.has(each))
    const value = name === undefined ? undefined : readable(attributes.get(name))
    return isMap(value) ? value : undefined
  }
  const [name, verb] = [attributes.get('svc.step.name'), attributes.get('svc.step.verb')]
  const input = map('svc.step.input', 'gen_ai.tool.call.arguments')
  const output = map('svc.step.output', 'gen_ai.tool.call.result')
  const properties = map('svc.step.properties')
  return {
    step_type: attributes.get('svc.step.type') as Behavior['step_type'],
    ...(isVerb(verb) && { verb }),
    ...(typeof name === 'string' && { step_name: name }),
    ...(input !== undefined && { input }),
    ...(output !== undefined && { output }),
    ...(properties !== undefined && { properties }),
    meta: { ...map('svc.step.meta'), otel: idsOf(span) },
  }
}

function isVerb(verb: unknown): verb is NonNullable<Behavior['verb']> {
  return verbs.some((known) => known === verb)
}
