// From the facts of a change to the content of its check run.

import type { CheckFacts } from '../facts.js'
import type { CheckAnnotation, Conclusion } from '../parts.js'
import { checkAnnotations } from './annotations.js'
import { detailsOf } from './details.js'
import { summaryOf } from './summary.js'
import { verdictOf } from './verdict.js'

export interface CheckContent {
  readonly conclusion: Conclusion
  readonly title: string
  readonly summary: string
  /** Undefined where the summary is all. */
  readonly text: string | undefined
  readonly annotations: readonly CheckAnnotation[]
}

/** The content of the check run, within the limits of GitHub. Names in it are inert. */
export function contentOf(facts: CheckFacts): CheckContent {
  const verdict = verdictOf(facts)
  return {
    conclusion: verdict.conclusion,
    title: verdict.title,
    summary: summaryOf(facts, verdict),
    text: detailsOf(facts, verdict),
    annotations: verdict.kind === 'unchanged' ? [] : checkAnnotations(facts),
  }
}
