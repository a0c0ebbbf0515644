// An error in the parameters of a rule.
import { bracketed, quotePath, tidy } from './quote.js'

/** Invalid parameters: the policy is rejected with this reason. */
export class ParameterError extends Error {
  readonly code = 'INVALID_PARAMETER'
  /** The path of the value, relative to the policy's `params`, dot-separated. */
  readonly path: string
  /** The predicate of a sentence whose subject is the value at `subject`; null where the message is a whole sentence. */
  readonly sentence: { readonly subject: string; readonly predicate: string } | null
  /** True when the name of the last member is wrong rather than its value. */
  readonly at_key: boolean

  constructor(path: string, message: string, subject: string | null = null, at_key = false) {
    super(
      subject === null
        ? tidy(message)
        : `${quotePath(bracketed(subject === '' ? 'params' : `params.${subject}`))} ${message}`,
    )
    this.path = path
    this.sentence = subject === null ? null : { subject, predicate: message }
    this.at_key = at_key
  }
}
