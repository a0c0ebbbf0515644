// Leaves that are not steps, with their content opened: nothing that does not open its commitments enters a report.
import { isMap, openedLeaf, parseJson } from '@svc/proof'
import type { LeafRecord } from '@svc/schemas'
import type { LeafRow } from '../content/messages.js'

export interface OpenedLeaf {
  readonly log_index: number
  readonly type: LeafRecord['type']
  readonly subject_id: string
  readonly received_at: string
  /** Null when the content was erased. */
  readonly values: Readonly<Record<string, unknown>> | null
}

/** `altered`: the leaf does not match its hash or its commitments. */
export function readLeaf([log_index, hash, record, salts, body]: LeafRow): OpenedLeaf | 'altered' {
  const isErased = salts === null && body === null
  const values = isErased ? null : openedLeaf({ log_index, hash, record, salts, body })
  if (!isErased && values === null) return 'altered'
  const { type, subject_id, received_at } = parseJson(record) as LeafRecord
  return { log_index, type, subject_id, received_at, values }
}

/** An event as its leaf holds it. */
export interface EventLeaf {
  readonly log_index: number
  readonly at: string
  readonly id: string
  readonly kind: string
  /** `kind:id` */
  readonly actor: string
  readonly actor_kind: string
  readonly actor_id: string
  readonly subject_kind: string
  readonly subject_id: string
  readonly data: Readonly<Record<string, unknown>>
}

/** The event of a leaf; null for another leaf. */
export function eventOf({ log_index, values }: OpenedLeaf): EventLeaf | null {
  const event = values?.event
  if (!isMap(event) || !isMap(event.actor) || !isMap(event.data)) return null
  const { at, id, kind, subject_kind, subject_id, data } = event
  const { kind: actor_kind, id: actor_id } = event.actor
  const texts = { at, id, kind, subject_kind, subject_id, actor_kind, actor_id }
  if (!Object.values(texts).every((text) => typeof text === 'string')) return null
  return { log_index, ...(texts as Record<keyof typeof texts, string>), actor: `${actor_kind}:${actor_id}`, data }
}

/** The text of a member; null for another value. */
export function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

/** The rows of a text with one JSON value a line. */
export function rowsOf<Row>(lines: string | null): Row[] {
  return lines === null ? [] : lines.split('\n').map((line) => parseJson(line) as Row)
}
