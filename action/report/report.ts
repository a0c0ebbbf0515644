// The result of a run, which annotations, summary, outputs and files show.
import { type Annotation, counted, type Finding, type Validation } from '@svc/engine/parts'
import type { Comparison } from '../change/compare.js'
import type { Impact } from '../change/impact.js'
import type { Inputs } from '../inputs.js'

export interface Totals {
  readonly errors: number
  readonly warnings: number
  readonly manifests: number
  readonly policies: number
  readonly tests_passed: number
  readonly tests_failed: number
  /** Null without a comparison. */
  readonly stricter: number | null
  readonly looser: number | null
  /** Neither is certain. */
  readonly changed: number | null
  readonly affected_agents: readonly string[]
  /** Agents of the inventory that are left without a policy. */
  readonly ungoverned_agents: readonly string[]
}

export interface Report {
  readonly validation: Validation
  /** Notes on work that could not be done, with the reasons. */
  readonly notes: readonly Annotation[]
  readonly comparison: Comparison | null
  readonly impact: Impact | null
  readonly totals: Totals
  readonly valid: boolean
  /** The step fails. */
  readonly failed: boolean
}

type Parts = Pick<Report, 'validation' | 'notes' | 'comparison' | 'impact'> & {
  /** The change has a base that could not be read. */
  readonly lacks_base: boolean
}

export function reportOf(
  { lacks_base, ...parts }: Parts,
  { strict, fail_on }: Pick<Inputs, 'strict' | 'fail_on'>,
): Report {
  const totals = totalsOf(parts)
  const valid = totals.errors === 0 && !(strict && totals.warnings > 0)
  const is_bad =
    !valid ||
    (fail_on === 'warning' && totals.warnings > 0) ||
    (fail_on === 'looser' && (lacks_base || takesAway(parts, totals)))
  return { ...parts, totals, valid, failed: fail_on !== 'never' && is_bad }
}

/** A manifest that is not compared could be looser. */
function takesAway({ comparison }: Pick<Parts, 'comparison'>, { looser, ungoverned_agents }: Totals): boolean {
  const hits = comparison?.report.manifests.flatMap(({ agents }) => agents.flatMap(({ policies }) => policies)) ?? []
  return (
    (looser ?? 0) > 0 ||
    ungoverned_agents.length > 0 ||
    (comparison?.left_out.length ?? 0) > 0 ||
    hits.some(({ change }) => change === 'looser' || change === 'removed')
  )
}

function totalsOf({
  validation: { manifests, findings },
  comparison,
}: Pick<Report, 'validation' | 'comparison'>): Totals {
  const count = (severity: Finding['severity']) => findings.filter((finding) => finding.severity === severity).length
  const tests = manifests.flatMap((manifest) => manifest.tests)
  const passed = tests.filter((test) => test.passed).length
  const counts = comparison?.report.counts
  return {
    errors: count('error'),
    warnings: count('warning'),
    manifests: manifests.length,
    policies: manifests.reduce((sum, { policies }) => sum + policies, 0),
    tests_passed: passed,
    tests_failed: tests.length - passed,
    stricter: counts === undefined ? null : counts.stricter + counts.added,
    looser: counts === undefined ? null : counts.looser + counts.removed,
    changed: counts === undefined ? null : counts.changed,
    affected_agents: comparison?.report.affected_agents ?? [],
    ungoverned_agents: comparison?.report.ungoverned_agents ?? [],
  }
}

/** The complete report as JSON; manifests without their content. */
export function reportJson({ validation, notes, comparison, impact, totals, valid, failed }: Report): string {
  const { findings, skipped } = validation
  const manifests = validation.manifests.map(({ value: _, ...manifest }) => manifest)
  const change = comparison && { base: comparison.base, left_out: comparison.left_out, ...comparison.report }
  const document = { valid, failed, totals, manifests, findings, skipped, notes, change, impact }
  return `${JSON.stringify(document, null, 2)}\n`
}

/** The result in one sentence. */
export function sentenceOf({ errors, warnings, manifests, policies, tests_passed, tests_failed }: Totals): string {
  const found = `${counted(errors, 'error')} and ${counted(warnings, 'warning')}`
  const checked = `${counted(manifests, 'manifest')} with ${counted(policies, 'valid policy', 'valid policies')}`
  const tests =
    tests_passed + tests_failed === 0 ? 'no test ran' : `tests: ${tests_passed} passed, ${tests_failed} failed`
  return `${found} in ${checked}; ${tests}`
}
