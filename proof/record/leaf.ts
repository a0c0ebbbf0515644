// Leaves of the log besides steps: incidents, events, erasures, prunes, keys and reports (docs/design/log.md §1).
import type { LeafRecord } from '@svc/schemas'
import { canonicalObject } from '../json/canonical-text.js'
import { firstUnopened, leafHash } from './record.js'

/** A leaf that is not a step, as stored. `salts` and `body` are null once erased. */
export interface StoredRecord {
  readonly log_index: number
  readonly hash: string
  readonly record: string
  readonly salts: string | null
  readonly body: string | null
}

/** The values of a leaf after all checks; null for an invalid or an erased one. */
export function openedLeaf({ record, hash, salts, body }: StoredRecord): Readonly<Record<string, unknown>> | null {
  if (salts === null || body === null || leafHash(record) !== hash) return null
  const [envelope, keys, values] = [record, salts, body].map(canonicalObject)
  if (!envelope || !keys || !values) return null
  const { data } = envelope as unknown as LeafRecord
  return firstUnopened(data, keys, values) === null ? values : null
}
