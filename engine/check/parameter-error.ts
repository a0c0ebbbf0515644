// What is wrong with the parameters of a rule.
import { bracketed, quotePath, tidy } from './quote.js'

/** Parameters that do not fit the rule: the policy is dropped with this reason. */
export class ParameterError extends Error {
  /** Where the value is, seen from the policy's `params`, dot-separated. */
  readonly path: string
  /** The rest of a sentence whose subject is the value at `subject`; null where the message is whole as it is. */
  readonly sentence: { readonly subject: string; readonly says: string } | null
  /** Whether the name of the last member is wrong rather than its value. */
  readonly at_key: boolean

  constructor(path: string, message: string, subject: string | null = null, at_key = false) {
    super(
      subject === null
        ? tidy(message)
        : `${quotePath(bracketed(subject === '' ? 'params' : `params.${subject}`))} ${message}`,
    )
    this.path = path
    this.sentence = subject === null ? null : { subject, says: message }
    this.at_key = at_key
  }
}
