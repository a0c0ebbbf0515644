// Erasures and prunes: those of the period, and whether they authorize everything that is missing.
import { type RemovalAuthorization, removalAuthorizationIn } from '@svc/proof'
import { maxErasures, maxPrunes } from '../content/bounds.js'
import type { Retention } from '../content/report-data.js'
import type { OpenedLeaf } from './leaves.js'
import { boundedList } from './listing.js'
import type { Problem } from './problems.js'

/** The erasures and prunes that the log declared in the period. `own_tasks`: the tasks whose erasures are shown; null for all. */
export function createRemovalLists(own_tasks: readonly string[] | null) {
  const shown = own_tasks === null ? null : new Set(own_tasks)
  const erasures = boundedList<Retention['erasures']['rows'][number]>(maxErasures)
  const prunes = boundedList<Retention['prunes']['rows'][number]>(maxPrunes)
  // One erasure has a leaf for each task, one after the other.
  let open: { id: string; at: string; by: string; entries: number; tasks: number; legal_basis: string } | null = null
  const close = () => {
    if (open !== null) erasures.add(open)
    open = null
  }
  return {
    add: (leaf: OpenedLeaf) => {
      const found = authorizationOf(leaf)
      if (found === null) return
      const { id, at, by, reason: legal_basis, spans, before } = found
      const entries = spans.reduce((sum, [first, last]) => sum + last - first + 1, 0)
      if (found.type === 'prune') prunes.add({ id, at, by, before: before ?? '', entries, legal_basis })
      else if (shown === null || shown.has(leaf.subject_id)) {
        if (open !== null && open.id !== id) close()
        open ??= { id, at, by, entries: 0, tasks: 0, legal_basis }
        open.entries += entries
        open.tasks += 1
      }
    },
    finish: () => {
      close()
      return { erasures: erasures.listing(), prunes: prunes.listing() }
    },
  }
}

interface Run {
  readonly first: number
  last: number
}

/** Records and payloads that are missing in the period. */
export function createMissing(cut_off: number, report: Problem) {
  const records: Run[] = []
  const payloads: Run[] = []
  const authorizations: RemovalAuthorization[] = []
  return {
    addRecord: (log_index: number) => extend(records, log_index),
    addPayload: (log_index: number) => extend(payloads, log_index),
    any: () => records.length + payloads.length > 0,
    authorize: (leaf: OpenedLeaf) => {
      const found = authorizationOf(leaf)
      if (found !== null) authorizations.push(found)
    },
    /** Counts what was removed before the cut-off, and reports what no authorization covers. */
    finish: () => ({
      pruned: count(records, 'prune', 'record_missing', 'the record'),
      erased: count(payloads, 'erasure', 'payload_missing', 'the payload'),
    }),
  }

  function count(runs: readonly Run[], type: RemovalAuthorization['type'], code: string, what: string): number {
    const own = authorizations.filter((one) => one.type === type)
    for (const { first, last } of parts(runs, spansOf(own)).outside) {
      const place = first === last ? `entry ${first}` : `entries ${first} to ${last}`
      report(code, first, `${what} of ${place} is missing, and no entry of the log authorizes it`)
    }
    return parts(runs, spansOf(own.filter(({ log_index }) => log_index < cut_off))).covered
  }
}

function extend(runs: Run[], log_index: number): void {
  const last = runs.at(-1)
  if (last?.last === log_index - 1) last.last = log_index
  else runs.push({ first: log_index, last: log_index })
}

function spansOf(authorizations: readonly RemovalAuthorization[]): Run[] {
  const joined: Run[] = []
  for (const [first, last] of authorizations.flatMap(({ spans }) => spans).sort(([a], [b]) => a - b)) {
    const before = joined.at(-1)
    if (before !== undefined && first <= before.last + 1) before.last = Math.max(before.last, last)
    else joined.push({ first, last })
  }
  return joined
}

/** The number of log indexes of the runs within the spans, and the others; both ascend. */
function parts(runs: readonly Run[], spans: readonly Run[]) {
  const outside: Run[] = []
  let covered = 0
  let at = 0
  for (const run of runs) {
    let from = run.first
    while (from <= run.last) {
      while (at < spans.length && (spans[at] as Run).last < from) at += 1
      const span = spans[at]
      if (span === undefined || span.first > run.last) {
        outside.push({ first: from, last: run.last })
        break
      }
      if (span.first > from) outside.push({ first: from, last: span.first - 1 })
      const last = Math.min(run.last, span.last)
      covered += last - Math.max(from, span.first) + 1
      from = last + 1
    }
  }
  return { covered, outside }
}

function authorizationOf({ type, received_at, values, log_index }: OpenedLeaf): RemovalAuthorization | null {
  return values === null ? null : removalAuthorizationIn({ type, received_at }, values, log_index)
}
