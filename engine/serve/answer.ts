// An evaluation as JSON text. Passed results are the same in every answer, so they are serialised once and cut from one
// text: JSON.stringify of a hundred results costs more than their evaluation.
import type { Evaluation, PolicyResult } from '@svc/schemas'
import type { LocalEvaluation } from './decisions/local-evaluation.js'

/** The results that all decisions share, as the items of a JSON list, each with a comma before it. */
interface SharedText {
  readonly text: string
  /** The offset of each item, and the end of the last one. */
  readonly starts: readonly number[]
}

/** Both write the decision first; other members, such as `agent_id`, come before the policies. */
export interface EvaluationWriter {
  readonly whole: (evaluation: LocalEvaluation) => string
  /** Without the policies that passed (`Prefer: return=minimal`). */
  readonly minimal: (evaluation: LocalEvaluation) => string
}

/** The cached texts are released with the policies they belong to. */
export function evaluationWriter(): EvaluationWriter {
  const shared = new WeakMap<readonly PolicyResult[], SharedText>()
  const versions = new WeakMap<Evaluation['manifests'], string>()
  const violated = violationWriter()

  const sharedOf = (passed: readonly PolicyResult[]) => {
    const known = shared.get(passed)
    if (known !== undefined) return known
    const items = passed.map((result) => `,${JSON.stringify(result)}`)
    const starts = [0]
    for (const item of items) starts.push((starts.at(-1) ?? 0) + item.length)
    const made = { text: items.join(''), starts }
    shared.set(passed, made)
    return made
  }
  const manifestsOf = ({ manifests }: LocalEvaluation) => {
    const text = versions.get(manifests) ?? JSON.stringify(manifests)
    versions.set(manifests, text)
    return text
  }
  /** The results, each with a comma before it; the violated ones are also kept in `texts`. */
  const itemsOf = ({ policies, passed }: LocalEvaluation, texts: Map<PolicyResult, string>) => {
    const { text, starts } = sharedOf(passed)
    let items = ''
    let from = 0
    for (let index = 0; index < policies.length; index++) {
      const result = policies[index] as PolicyResult
      if (result === passed[index]) continue
      const own = violated(result, passed[index])
      texts.set(result, own)
      items += `${text.slice(starts[from], starts[index])},${own}`
      from = index + 1
    }
    return items + text.slice(starts[from])
  }
  return {
    whole: (evaluation) => {
      const texts = new Map<PolicyResult, string>()
      const items = itemsOf(evaluation, texts).slice(1)
      const violations = evaluation.violations.map((result) => texts.get(result))
      return `${headOf(evaluation, violations)},"manifests":${manifestsOf(evaluation)},"policies":[${items}]}`
    },
    minimal: (evaluation) => {
      const { policies, passed } = evaluation
      const violations = evaluation.violations.map((result) => violated(result, passed[policies.indexOf(result)]))
      return `${headOf(evaluation, violations)},"policies_evaluated":${policies.length}}`
    },
  }
}

/** The evaluation without its policies, its manifests and its closing brace. */
function headOf(evaluation: LocalEvaluation, violations: readonly (string | undefined)[]): string {
  const { action, blocked, outcome, reason, message, violations: _, ...rest } = evaluation
  const { policies: _policies, passed: _passed, manifests: _manifests, ...others } = rest
  const verdict = JSON.stringify({ action, blocked, outcome, reason, message }).slice(0, -1)
  return `${verdict},"violations":[${violations.join(',')}],${JSON.stringify(others).slice(1, -1)}`
}

/** The constant members of a violation, the larger part, are serialised once per policy; `passed` is its passed result. */
function violationWriter() {
  const known = new WeakMap<PolicyResult, Map<boolean, readonly [head: string, tail: string]>>()
  const partsOf = (passed: PolicyResult, { violation_details, message: _, ...result }: PolicyResult) => {
    const by_waived = known.get(passed) ?? new Map<boolean, readonly [string, string]>()
    known.set(passed, by_waived)
    const { rule_type, params } = violation_details ?? {}
    const tail = JSON.stringify({ rule_type, params }).slice(1)
    const made = [`${JSON.stringify(result).slice(0, -1)},"violation_details":`, `,${tail}`] as const
    by_waived.set(result.waived, made)
    return made
  }
  return (result: PolicyResult, passed: PolicyResult | undefined) => {
    const { violation_details, waived, message } = result
    if (passed === undefined || violation_details === null) return JSON.stringify(result)
    const [head, tail] = known.get(passed)?.get(waived) ?? partsOf(passed, result)
    const { code, reason, evidence, remedy, remedy_steps } = violation_details
    return `${head}${JSON.stringify({ code, reason, evidence, remedy, remedy_steps }).slice(0, -1)}${tail},"message":${JSON.stringify(message)}}`
  }
}
