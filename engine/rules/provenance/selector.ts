// A selector of steps whose received values a rule follows: the labels of its filter select parts of what a step received.
import type { JsonMap, Step } from '@svc/schemas'
import type { Selector } from '../form/params.js'
import { compilePattern } from '../selection/filter.js'
import { acceptor } from '../selection/filter-value.js'
import { selectorPattern } from '../selection/kind.js'
import { everyLabel, type Label, labelsOrPublic } from '../taint/labels.js'

/** The labels of the parts that are selected; null for a step of which no part is selected. */
export type SelectParts = (step: Step) => ((label: Label) => boolean) | null

const acceptsAll = () => true

/** `when_ambiguous` is the answer for a step whose other fields are ambiguous. Throws ParameterError for an invalid filter. */
export function compileParts(selector: Selector, when_ambiguous: boolean, parameter: string): SelectParts {
  const { 'content.trust': wanted, ...filter } = selector.property_filter ?? ({} as JsonMap)
  const name = `${parameter}.property_filter`
  const isSelected = compilePattern({ ...selectorPattern(selector), filter }, when_ambiguous, name)
  if (wanted === undefined) return (step) => (isSelected(step) ? acceptsAll : null)
  const accepts = acceptor('content.trust', wanted, name)
  return (step) => {
    if (!isSelected(step)) return null
    return everyLabel(labelsOrPublic(step)).some(accepts) ? accepts : null
  }
}
