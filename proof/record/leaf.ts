// What is in the log besides steps, as whoever has its values can check it (docs/design/log.md §1).
import type { LeafRecord } from '@svc/schemas'
import { canonicalObject } from '../json/canonical-text.js'
import { firstUnopened, leafHash } from './record.js'

/** A leaf that is no step, as stored. `salts` and `body` are null once erased. */
export interface StoredRecord {
  readonly log_index: number
  readonly hash: string
  readonly record: string
  readonly salts: string | null
  readonly body: string | null
}

/** What the leaf says, once everything of it has been checked; null for one that is not sound, or whose values are gone. */
export function openedLeaf({ record, hash, salts, body }: StoredRecord): Readonly<Record<string, unknown>> | null {
  if (salts === null || body === null || leafHash(record) !== hash) return null
  const [envelope, keys, values] = [record, salts, body].map(canonicalObject)
  if (!envelope || !keys || !values) return null
  const { data } = envelope as unknown as LeafRecord
  return firstUnopened(data, keys, values) === null ? values : null
}
