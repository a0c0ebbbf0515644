// Restarts of a log after a restore: what the log declares about the previous epoch, compared with the signed checkpoints.
import type { BundleVerdict } from '@svc/schemas'
import { isCount, isHash, isMap } from '../json/checks.js'
import { hexOf } from '../json/hex.js'
import { Frontier, type Hash } from '../tree/merkle.js'

export interface Restart {
  /** Log index of the leaf that declares it. */
  readonly log_index: number
  readonly origin: string
  readonly old_origin: string
  /** The last signed checkpoint of the old epoch; the root is null without one. */
  readonly old_size: number
  readonly old_root: string | null
  /** Entries that the restart found unchanged; null from a release that did not compare them. */
  readonly kept_size: number | null
  readonly is_accepted: boolean
  readonly by: string
  readonly at: string
  readonly reason: string
}

/** The restart that an opened leaf declares; null for any other leaf. */
export function restartIn(
  { type }: { readonly type: string },
  values: Readonly<Record<string, unknown>>,
  log_index: number,
): Restart | null {
  const event = type === 'event' ? values.event : null
  if (!isMap(event) || event.kind !== 'log.restarted' || !isMap(event.data) || !isMap(event.actor)) return null
  const { origin, old_origin, old_size, old_root, kept_size = null, reason, accepted_changed_entries } = event.data
  const { kind, id } = event.actor
  const isValid =
    [origin, old_origin, reason, event.at, kind, id].every((text) => typeof text === 'string') &&
    isCount(old_size) &&
    (old_root === null ? old_size === 0 : isHash(old_root)) &&
    (kept_size === null || isCount(kept_size))
  if (!isValid) return null
  const declared = { origin, old_origin, old_size, old_root, kept_size, reason, at: event.at }
  return {
    log_index,
    ...(declared as Omit<Restart, 'log_index' | 'is_accepted' | 'by'>),
    is_accepted: accepted_changed_entries === true,
    by: `${kind}:${id}`,
  }
}

/** True if the name is that of the log itself or of one of its earlier epochs. */
export function isPastOf(origin: string, name: string): boolean {
  const [own, other] = [epochIn(origin), epochIn(name)]
  return own !== null && other !== null && other.log === own.log && other.number <= own.number
}

function epochIn(origin: string): { readonly log: string; readonly number: number } | null {
  const [, log, number] = /^(.+)\/([1-9]\d{0,14})$/.exec(origin) ?? []
  return log === undefined ? null : { log, number: Number(number) }
}

/** Roots of a tree by size, hex: of those sizes that lie between `first` and the last leaf. */
export function rootsAt(
  first: number,
  left: readonly Hash[],
  leaves: readonly Hash[],
  sizes: readonly number[],
): Map<number, string> {
  const wanted = new Set(sizes)
  const roots = new Map<number, string>()
  if (wanted.size === 0) return roots
  const tree = new Frontier(first, left)
  const take = () => {
    if (wanted.has(tree.size)) roots.set(tree.size, hexOf(tree.root()))
  }
  take()
  for (const leaf of leaves) {
    tree.add(leaf)
    take()
  }
  return roots
}

/** A checkpoint that a trusted key of the log in `origin` has signed. */
export interface SignedRoot {
  readonly origin: string
  readonly size: number
  readonly root: string
}

export interface RestartEvidence {
  /** Name of the log of the bundle. */
  readonly origin: string
  /** Checkpoints of the bundle and the kept one. */
  readonly signed: readonly SignedRoot[]
  /** The root of the log at a size; null where the bundle does not show it. */
  readonly rootAt: (size: number) => string | null
  readonly report: (code: string, where: string | null, message: string) => void
}

export type RestartView = BundleVerdict['restarts'][number]

/** Compares the declarations of restarts with the signed checkpoints and with the entries of the bundle. */
export function verifyRestarts(restarts: readonly Restart[], evidence: RestartEvidence): RestartView[] {
  return [...restarts].sort((a, b) => a.log_index - b.log_index).map((restart) => verifyRestart(restart, evidence))
}

function verifyRestart(restart: Restart, { origin, signed, rootAt, report }: RestartEvidence): RestartView {
  const { log_index, old_size, old_root, old_origin, kept_size, is_accepted, by, at, reason } = restart
  const where = `entry ${log_index}`
  if (!isPastOf(origin, restart.origin) || restart.origin === old_origin || !isPastOf(restart.origin, old_origin))
    report(
      'restart_mismatch',
      where,
      `the restart names \`${restart.origin}\`, which is not the next epoch of this log`,
    )
  const contradiction = signed.find(
    (one) =>
      one.origin === old_origin &&
      (one.size > old_size || (one.size === old_size && one.size > 0 && one.root !== old_root)),
  )
  if (contradiction !== undefined)
    report(
      'restart_mismatch',
      where,
      `the restart declares ${old_size} signed entries, which a signed checkpoint of ${contradiction.size} entries contradicts`,
    )
  const gone = Math.max(0, old_size - log_index)
  const root = gone > 0 || old_size === 0 ? old_root : rootAt(old_size)
  const hasChanged = root !== null && root !== old_root
  if (hasChanged && !is_accepted)
    report('entries_changed', where, `the log was restarted with entries that differ from the ${old_size} signed ones`)
  const left = is_accepted || hasChanged ? 'changed' : gone > 0 || root === null ? 'not_shown' : 'unchanged'
  return { log_index, origin: restart.origin, old_origin, old_size, kept_size, gone, left, by, at, reason }
}
