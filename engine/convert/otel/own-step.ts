// Spans that the local engine wrote of its steps (engine/trace/sinks/spans.ts): they have the step itself in `svc.step.…`.
import { isMap } from '@svc/proof'
import { type Behavior, canonicalType, isStepType, type JsonMap } from '@svc/schemas'
import { readable } from '../exact.js'
import type { Body } from '../step-body.js'
import { idsOf } from './evidence.js'
import type { Span } from './span.js'

/** True for a span that is a step of the local engine. */
export function isOwnStep({ attributes }: Pick<Span, 'attributes'>): boolean {
  const type = attributes.get('svc.step.type')
  return typeof type === 'string' && isStepType(canonicalType(type))
}

/** The step of a span for which `isOwnStep` is true. */
export function ownBody(span: Span): Body {
  const { attributes } = span
  const given = (...names: readonly string[]) => readable(names.map((name) => attributes.get(name)).find(isGiven))
  const payload = (value: unknown) => (value === undefined ? undefined : isMap(value) ? value : { text: value })
  const [name, verb] = [attributes.get('svc.step.name'), attributes.get('svc.step.verb')]
  const input = payload(given('svc.step.input', 'gen_ai.tool.call.arguments'))
  const output = payload(given('svc.step.output', 'gen_ai.tool.call.result'))
  const properties = given('svc.step.properties')
  const meta = given('svc.step.meta')
  return {
    step_type: canonicalType(String(attributes.get('svc.step.type'))),
    // Policies read the verb and the properties: a step with invalid ones is rejected where it is stored.
    ...(isGiven(verb) && {
      verb: (typeof verb === 'string' ? verb.trim().toUpperCase() : verb) as Behavior['verb'] & {},
    }),
    ...(typeof name === 'string' && { step_name: name }),
    ...(input !== undefined && { input }),
    ...(output !== undefined && { output }),
    ...(properties !== undefined && { properties: properties as JsonMap }),
    meta: { ...(isMap(meta) ? meta : {}), otel: idsOf(span) },
  }
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null
}
