// An evaluation as JSON text. Most of it is the same every time, so the results of policies that pass are serialised
// once: JSON.stringify of a hundred results costs more than judging them.
import type { PolicyResult } from '@svc/schemas'
import type { JudgedEvaluation } from './judge.js'

/** Writes evaluations; what it remembers goes away with the policies it belongs to. */
export function evaluationWriter(): (evaluation: JudgedEvaluation) => string {
  const results = new WeakMap<PolicyResult, string>()
  const lists = new WeakMap<readonly PolicyResult[], string>()
  const known_params = new WeakMap<object, string>()

  const textOf = (result: PolicyResult) => {
    if (result.violated) return violationText(result, known_params)
    const known = results.get(result)
    if (known !== undefined) return known
    const text = JSON.stringify(result)
    results.set(result, text)
    return text
  }
  const listOf = (policies: readonly PolicyResult[]) => {
    const known = lists.get(policies)
    if (known !== undefined) return known
    const text = `[${policies.map(textOf).join(',')}]`
    // The list of a decision that violates nothing is the plan's own and comes again.
    if (Object.isFrozen(policies)) lists.set(policies, text)
    return text
  }
  return ({ policies, ...others }) => `${JSON.stringify(others).slice(0, -1)},"policies":${listOf(policies)}}`
}

/** Parameters are the policy's and do not change; they are the larger part of what is said of a violation. */
function violationText({ violation_details, ...result }: PolicyResult, known: WeakMap<object, string>): string {
  const head = JSON.stringify(result).slice(0, -1)
  if (violation_details === null) return `${head},"violation_details":null}`
  const { params, ...details } = violation_details
  const said = known.get(params) ?? JSON.stringify(params)
  known.set(params, said)
  return `${head},"violation_details":${JSON.stringify(details).slice(0, -1)},"params":${said}}}`
}
