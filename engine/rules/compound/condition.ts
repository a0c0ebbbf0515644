// The tree of a compound rule, as an author writes it.
import type { JsonMap } from '@svc/schemas'

export type Combinator = 'all_of' | 'any_of' | 'not'

/** One node of a condition tree as an author wrote it. */
export interface Condition {
  readonly rule_type: string
  readonly params?: JsonMap
}
