// The control matrix: obligations of frameworks, the evidence in the period, and what the log does not show. Evidence, no opinion.

import { counted } from '../content/figures.js'
import type { PolicyResult, ReportData } from '../content/report-data.js'
import type { ControlDefinition, Framework } from './definition.js'
import { euAiAct } from './eu-ai-act.js'
import { drafts, iso42001, soc2 } from './management.js'
import { owaspAgentic } from './owasp-agentic.js'
import { ownFramework } from './own.js'
import { record } from './shown.js'
import { policiesFor } from './tags.js'

export interface ControlRow {
  /** The title of the framework, such as `EU AI Act`. */
  readonly framework: string
  readonly control_id: string
  readonly title: string
  /** `not_covered`: svc has no evidence for it, whatever the period holds. */
  readonly status: 'evidence' | 'no_evidence' | 'not_covered'
  /** Sentences; names in them are cut but not escaped. */
  readonly evidence: readonly string[]
  /** The limits of the log: `problems` first, then what no period can show. */
  readonly gaps: readonly string[]
  /** Facts of this period that speak against the control, and missing evidence; part of `gaps`. */
  readonly problems: readonly string[]
  /**
   * The log holds evidence, at least one step that it applies to, and no problem; never an opinion on whether the control is met.
   * Every format states this and nothing else.
   */
  readonly is_satisfied: boolean
  /** The framework is a draft; no clause of it is mapped. */
  readonly draft: boolean
  /** The parts of the content that the evidence and the problems are taken from, such as `integrity` and `policies.rows.3`. */
  readonly sources: readonly string[]
}

/** Every framework with its controls, in the order of the matrix. */
export const frameworks: readonly Framework[] = [euAiAct, iso42001, soc2, owaspAgentic, ...drafts]

/** The frameworks of a report: every known one, then the controls of the organization itself if its policies name some. */
export function frameworksOf(data: ReportData): readonly Framework[] {
  const own = ownFramework(data.policies.rows, frameworks)
  return own === null ? frameworks : [...frameworks, own]
}

/** One row for each control, in the order of `frameworksOf`; the same for the same data. */
export function controlMatrix(data: ReportData): readonly ControlRow[] {
  return frameworksOf(data).flatMap((framework) => framework.controls.map((control) => rowOf(framework, control, data)))
}

function rowOf({ title: framework, draft }: Framework, control: ControlDefinition, data: ReportData): ControlRow {
  const { control_id, title, gaps, find } = control
  if (find === undefined)
    return {
      ...{ framework, control_id, title, status: 'not_covered', evidence: [], gaps, problems: [] },
      ...{ is_satisfied: false, draft, sources: [] },
    }
  const policies = policiesFor(control, data.policies.rows)
  const found = find(data, policies)
  const problems = [...new Set([...found.problems, ...missing(data, policies)])]
  const { more } = data.policies
  const unlisted = more > 0 ? [`${counted(more, 'policy', 'policies')} not listed in this report and not mapped.`] : []
  return {
    framework,
    control_id,
    title,
    status: found.evidence.length > 0 ? 'evidence' : 'no_evidence',
    evidence: [...new Set(found.evidence)],
    gaps: [...problems, ...gaps, ...unlisted],
    problems,
    is_satisfied: found.evidence.length > 0 && problems.length === 0,
    draft,
    sources: [...found.parts, ...policies.map((policy) => `policies.rows.${data.policies.rows.indexOf(policy)}`)],
  }
}

/** Missing evidence: the record is not whole, the control applies to no step, incidents are without an end, or violations waived. */
function missing(data: ReportData, policies: readonly PolicyResult[]): string[] {
  const { summary, integrity } = data
  const broken = integrity.verdict === 'whole' ? [] : record(data).problems
  if (policies.length === 0) {
    const number = summary.incidents_open
    return [
      ...broken,
      ...(summary.steps === 0 ? ['The period has no step.'] : []),
      ...(number === 0 ? [] : [`${counted(number, 'incident')} without an end at the cut-off.`]),
    ]
  }
  const applied = policies.reduce((sum, policy) => sum + policy.applied, 0)
  const open = policies.reduce((sum, policy) => sum + policy.open_incidents, 0)
  const waived = policies.reduce((sum, policy) => sum + policy.waived, 0)
  return [
    ...broken,
    ...(applied === 0 ? ['No policy for it applied to a step of the period.'] : []),
    ...(open === 0 ? [] : [`${counted(open, 'incident')} of its policies without an end at the cut-off.`]),
    ...(waived === 0 ? [] : [`${counted(waived, 'violation')} ${waived === 1 ? 'was' : 'were'} waived.`]),
  ]
}
