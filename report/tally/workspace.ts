// The workspace as of the cut-off: its name, its retention period, its holds.
import { minRetentionDays } from '@svc/proof'
import { maxHolds } from '../content/bounds.js'
import type { TableFacts } from '../content/messages.js'
import type { Retention } from '../content/report-data.js'
import { type EventLeaf, textOf } from './leaves.js'
import { firstOf } from './listing.js'

/** The name by the latest event that holds one. */
export function organizationAt(cut_off: number, events: readonly EventLeaf[], table: TableFacts): string {
  const named = before(events, cut_off).filter(
    ({ kind, data }) => kind.startsWith('workspace.') && textOf(data.name) !== null,
  )
  return textOf(named.at(-1)?.data.name) ?? table.organization
}

/** The period of retention: the latest change before the cut-off, else what the first one after it replaced, else the table's. */
export function retentionDaysAt(cut_off: number, events: readonly EventLeaf[], table: TableFacts): number {
  const changes = ordered(events).filter(({ kind }) => kind === 'retention.changed')
  const last = changes.findLast(({ log_index }) => log_index < cut_off)
  const next = changes.find(({ log_index }) => log_index >= cut_off)
  const days = Number(last?.data.to ?? next?.data.from ?? table.retention_days)
  return Math.max(minRetentionDays, Number.isSafeInteger(days) ? days : minRetentionDays)
}

/** The holds that were active at some time of the period, oldest first; of the chosen agents and of the whole log. */
export function holdsAt(
  cut_off: number,
  { from, to }: { readonly from: string; readonly to: string },
  events: readonly EventLeaf[],
  isShown: (task_id: string | null) => boolean,
): Retention['holds'] {
  const released = new Map<string, string>()
  const known = before(events, cut_off)
  for (const { kind, subject_id, at } of known) if (kind === 'hold.released') released.set(subject_id, at)
  const holds = known
    .filter(({ kind, at }) => kind === 'hold.placed' && at < to)
    .map(({ subject_id: id, actor, at, data }) => ({
      id,
      task_id: textOf(data.task_id),
      reason: textOf(data.reason) ?? '',
      placed_by: actor,
      placed_at: at,
      released_at: released.get(id) ?? null,
    }))
    .filter(({ task_id, released_at }) => (released_at === null || released_at >= from) && isShown(task_id))
  return firstOf(holds, maxHolds)
}

function ordered(events: readonly EventLeaf[]): EventLeaf[] {
  return events.toSorted((a, b) => a.log_index - b.log_index)
}

function before(events: readonly EventLeaf[], cut_off: number): EventLeaf[] {
  return ordered(events).filter(({ log_index }) => log_index < cut_off)
}
