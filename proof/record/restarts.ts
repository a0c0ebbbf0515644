// What a log says of being restarted after a restore: how much was signed for before, and how much of it is still there.
import type { BundleVerdict } from '@svc/schemas'
import { isHash, isMap } from '../json/checks.js'
import { Frontier, type Hash } from '../tree/merkle.js'

export interface Restart {
  /** Where the log says so. */
  readonly log_index: number
  readonly origin: string
  readonly old_origin: string
  /** What was signed for last under the old name; the root is null when nothing was. */
  readonly old_size: number
  readonly old_root: string | null
  /** Entries that the operator's program found to be as they were signed; null from a release that did not look. */
  readonly kept_size: number | null
  readonly is_accepted: boolean
  readonly by: string
  readonly at: string
  readonly reason: string
}

/** What an opened leaf says of a restart; null when it says no such thing. */
export function restartIn(
  { type }: { readonly type: string },
  values: Readonly<Record<string, unknown>>,
  log_index: number,
): Restart | null {
  const event = type === 'event' ? values.event : null
  if (!isMap(event) || event.kind !== 'log.restarted' || !isMap(event.data) || !isMap(event.actor)) return null
  const { origin, old_origin, old_size, old_root, kept_size = null, reason, accepted_changed_entries } = event.data
  const { kind, id } = event.actor
  const is_one =
    [origin, old_origin, reason, event.at, kind, id].every((text) => typeof text === 'string') &&
    isCount(old_size) &&
    (old_root === null ? old_size === 0 : isHash(old_root)) &&
    (kept_size === null || isCount(kept_size))
  if (!is_one) return null
  return {
    log_index,
    ...({ origin, old_origin, old_size, old_root, kept_size, reason, at: event.at } as Pick<
      Restart,
      'origin' | 'old_origin' | 'old_size' | 'old_root' | 'kept_size' | 'reason' | 'at'
    >),
    is_accepted: accepted_changed_entries === true,
    by: `${kind}:${id}`,
  }
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

/** Whether the name is that of the log itself or of an earlier epoch of it: it may not speak of one yet to come. */
export function isPastOf(origin: string, name: string): boolean {
  const [own, other] = [epochIn(origin), epochIn(name)]
  return own !== null && other !== null && other.log === own.log && other.number <= own.number
}

function epochIn(origin: string): { readonly log: string; readonly number: number } | null {
  const [, log, number] = /^(.+)\/([1-9]\d{0,14})$/.exec(origin) ?? []
  return log === undefined ? null : { log, number: Number(number) }
}

/** Roots of a tree at some of its sizes, hex: those from `first` on, as far as the leaves reach. */
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
    if (wanted.has(tree.size)) roots.set(tree.size, Buffer.from(tree.root()).toString('hex'))
  }
  take()
  for (const leaf of leaves) {
    tree.add(leaf)
    take()
  }
  return roots
}

/** A checkpoint that is signed by a trusted key of the log that it names. */
export interface SignedRoot {
  readonly origin: string
  readonly size: number
  readonly root: string
}

export interface RestartEvidence {
  /** Of the bundle. */
  readonly origin: string
  /** Checkpoints of the bundle and of whoever verifies. */
  readonly signed: readonly SignedRoot[]
  /** The root of the log when it had so many entries; null where the bundle does not show it. */
  readonly rootAt: (size: number) => string | null
  readonly report: (code: string, where: string | null, message: string) => void
}

export type RestartView = BundleVerdict['restarts'][number]

/** Compares what restarts claim with what is signed, and says what of it is still there. */
export function judgedRestarts(restarts: readonly Restart[], evidence: RestartEvidence): RestartView[] {
  return [...restarts].sort((a, b) => a.log_index - b.log_index).map((restart) => judged(restart, evidence))
}

function judged(restart: Restart, { origin, signed, rootAt, report }: RestartEvidence): RestartView {
  const { log_index, old_size, old_root, old_origin, kept_size, is_accepted, by, at, reason } = restart
  const where = `entry ${log_index}`
  if (!isPastOf(origin, restart.origin) || restart.origin === old_origin || !isPastOf(restart.origin, old_origin))
    report('restart_mismatch', where, `it says that the log goes on as \`${restart.origin}\`, which was not begun`)
  const contrary = signed.find(
    (one) =>
      one.origin === old_origin &&
      (one.size > old_size || (one.size === old_size && one.size > 0 && one.root !== old_root)),
  )
  if (contrary !== undefined)
    report(
      'restart_mismatch',
      where,
      `it says that ${old_size} entries were signed for before, and a checkpoint of ${contrary.size} entries is another`,
    )
  const gone = Math.max(0, old_size - log_index)
  const root = gone > 0 || old_size === 0 ? old_root : rootAt(old_size)
  const is_other = root !== null && root !== old_root
  if (is_other && !is_accepted)
    report(
      'entries_changed',
      where,
      `the log was restarted with other entries than the ${old_size} that were signed for`,
    )
  const left = is_accepted || is_other ? 'changed' : gone > 0 || root === null ? 'not_shown' : 'unchanged'
  return { log_index, origin: restart.origin, old_origin, old_size, kept_size, gone, left, by, at, reason }
}
