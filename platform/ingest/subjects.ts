// The subjects of a step's data, which its sender declares: `properties.data.subject_id`, nested or dotted.
import type { StepRequest } from './step-request.js'

/** The subjects that a step declares; most declare none. */
export function subjectsOf({ properties }: StepRequest): string[] {
  if (properties === undefined || properties === null) return []
  const { data } = properties
  const nested = typeof data === 'object' && data !== null ? (data as Readonly<Record<string, unknown>>) : {}
  const declared = [nested.subject_id, properties['data.subject_id']].filter(isName).map(String)
  return [...new Set(declared)]
}

function isName(value: unknown): value is string | number {
  return (typeof value === 'string' && value !== '') || typeof value === 'number'
}
