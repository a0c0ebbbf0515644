// An error in the parameters of a rule.
import { bracketed, quotePath, tidy } from './quote.js'
import type { SchemaFault } from './schema-check.js'

/** The fault of a parameter; the last four are found when the rule is compiled. */
export type ParameterFault = SchemaFault | 'rule' | 'scope' | 'pattern' | 'depth'

interface Details {
  readonly fault?: ParameterFault
  /** The path of the value that the message is a predicate of; without it the message is a whole sentence. */
  readonly subject?: string
  readonly at_key?: boolean
  readonly others?: readonly ParameterError[]
}

/** Invalid parameters: the policy is rejected with this reason. */
export class ParameterError extends Error {
  readonly code = 'INVALID_PARAMETER'
  /** The path of the value, relative to the policy's `params`, dot-separated. */
  readonly path: string
  /** The predicate of a sentence whose subject is the value at `subject`; null where the message is a whole sentence. */
  readonly sentence: { readonly subject: string; readonly predicate: string } | null
  /** True when the name of the last member is wrong rather than its value. */
  readonly at_key: boolean
  readonly fault: ParameterFault
  /** The other problems of the same rule. */
  readonly others: readonly ParameterError[]

  constructor(path: string, message: string, { subject, at_key = false, fault = 'value', others = [] }: Details = {}) {
    super(
      subject === undefined
        ? tidy(message)
        : `${quotePath(bracketed(subject === '' ? 'params' : `params.${subject}`))} ${message}`,
    )
    this.path = path
    this.fault = fault
    this.others = others
    this.sentence = subject === undefined ? null : { subject, predicate: message }
    this.at_key = at_key
  }
}
