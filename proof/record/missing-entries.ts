// The log indexes whose record or payload is missing, and the authorizations that cover them.
import type { BundleVerdict } from '@svc/schemas'
import type { IndexSpan, RemovalAuthorization } from './removal-authorization.js'

interface Run {
  readonly first: number
  last: number
  /** The time when the last record before the run was received; '' where the bundle holds no such record. */
  readonly after: string
}

/** Missing entries, added in ascending order. */
export class MissingEntries {
  readonly #runs: Run[] = []
  count = 0

  /** `after`: when the last record before it was received. */
  add(log_index: number, after: string): void {
    const run = this.#runs.at(-1)
    if (run?.last === log_index - 1) run.last = log_index
    else this.#runs.push({ first: log_index, last: log_index, after })
    this.count += 1
  }

  /**
   * The first log index that no authorization covers; null when all are covered. A prune covers nothing when one of its
   * entries was received at its `before` or later.
   */
  firstUncovered(authorizations: readonly RemovalAuthorization[]): number | null {
    const valid = authorizations.filter((authorization) => !this.#contradicts(authorization))
    const given = merged(valid.flatMap(({ spans }) => spans))
    let at = 0
    for (const { first, last } of this.#runs) {
      while (at < given.length && (given[at] as IndexSpan)[1] < first) at += 1
      const [from, to] = given[at] ?? [Number.POSITIVE_INFINITY, 0]
      if (from > first) return first
      if (to < last) return to + 1
    }
    return null
  }

  /** The number of them that an authorization covers. */
  coveredBy({ spans }: RemovalAuthorization): number {
    let count = 0
    for (const [from, to] of merged(spans)) {
      for (let at = this.#firstRun((run) => run.last >= from); ; at += 1) {
        const run = this.#runs[at]
        if (run === undefined || run.first > to) break
        count += Math.min(to, run.last) - Math.max(from, run.first) + 1
      }
    }
    return count
  }

  /** INVARIANT (received_at never decreases): an entry after one that was received at `before` or later is not older. */
  #contradicts({ before, spans }: RemovalAuthorization): boolean {
    if (before === null) return false
    const late = this.#firstRun(({ after }) => after >= before)
    return merged(spans).some(([from, to]) => {
      const touched = this.#firstRun(({ last }) => last >= from)
      const run = this.#runs[Math.max(late, touched)]
      return run !== undefined && run.first <= to
    })
  }

  /** Index of the first run that satisfies a condition, which all later runs must satisfy too. */
  #firstRun(holds: (run: Run) => boolean): number {
    let [low, high] = [0, this.#runs.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (holds(this.#runs[middle] as Run)) high = middle
      else low = middle + 1
    }
    return low
  }
}

/** The same log indexes as ascending spans, adjacent and overlapping ones joined. */
function merged(spans: readonly IndexSpan[]): IndexSpan[] {
  const joined: [number, number][] = []
  for (const [first, last] of [...spans].sort(([a], [b]) => a - b)) {
    const before = joined.at(-1)
    if (before !== undefined && first <= before[1] + 1) before[1] = Math.max(before[1], last)
    else joined.push([first, last])
  }
  return joined
}

export type AuthorizationView = BundleVerdict['removal_authorizations'][number]

/** The authorizations that cover missing entries of the period, as a verdict lists them. */
export function authorizationViews(
  authorizations: readonly RemovalAuthorization[],
  erased: MissingEntries,
  pruned: MissingEntries,
): AuthorizationView[] {
  return authorizations
    .map((authorization) => {
      const { spans: _spans, before: _before, ...view } = authorization
      const missing = authorization.type === 'erasure' ? erased : pruned
      return { ...view, entries: missing.coveredBy(authorization) }
    })
    .filter(({ entries }) => entries > 0)
    .sort((a, b) => a.log_index - b.log_index)
}
