// A step that happened is recorded whatever its tool returned: an output that is not an object is kept inside one.
import { isMap } from '@svc/proof'

export interface KeptOutput {
  readonly step: unknown
  /** For the answer; empty for a step that is as it was sent. */
  readonly warnings: readonly string[]
}

/** The step of a body with an object as its output. Anything that is not a step stays as it is, for the schema to reject. */
export function withOutputObject(step: unknown): KeptOutput {
  if (!isMap(step)) return { step, warnings: [] }
  const { output } = step
  if (output === undefined || output === null || isMap(output)) return { step, warnings: [] }
  const kind = Array.isArray(output) ? 'a list' : typeof output === 'string' ? 'text' : `a ${typeof output}`
  return {
    step: { ...step, output: { value: output } },
    warnings: [`\`output\` is ${kind}, not an object: it is kept as \`{"value": …}\``],
  }
}
