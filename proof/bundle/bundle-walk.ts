// Going through a bundle leaf by leaf, in the order of the log: each is hashed, opened and placed, and together they must
// make the tree that was signed.
import type { BundleManifest, BundleVerdict } from '@svc/schemas'
import { emptyRoot, leafHash } from '../record/record.js'
import { covers, Gone, type Removal, removalIn, removalViews } from '../record/removals.js'
import { type Restart, restartIn } from '../record/restarts.js'
import { Frontier, type Hash, subtreesOf } from '../tree/merkle.js'
import type { BundledCheckpoint } from './bundle.js'
import { type AnyRecord, openPayload, readRecord } from './bundled-record.js'
import { bundledTasks } from './bundled-tasks.js'

export type Finding = BundleVerdict['findings'][number]
export type Report = (code: string, where: string | null, message: string) => void

export interface WalkParts {
  readonly manifest: BundleManifest
  /** Hashes of the full subtrees before the first record. */
  readonly left: readonly Hash[]
  /** Checkpoints of this log; those without a proof are shown by the records. */
  readonly checkpoints: readonly BundledCheckpoint[]
  /** Digests of the policy sets at hand. */
  readonly policy_sets: ReadonlySet<string>
  /** Removals that stand outside the period, proven. */
  readonly removals: readonly Removal[]
  readonly report: Report
}

interface Walked {
  readonly said: Pick<
    BundleVerdict,
    'covers_to' | 'entries' | 'complete' | 'payloads' | 'removals' | 'tasks' | 'new_keys'
  >
  /** Restarts of the log that the period holds. */
  readonly restarts: readonly Restart[]
}

export interface BundleWalk {
  /** Takes the next leaf with its lines; `payload` is null for a neighbour of the period. */
  readonly add: (leaf: Hash, record: string, payload: string | null) => void
  /** `right`: hashes of the full subtrees after the last record. */
  readonly finish: (right: readonly Hash[]) => Walked
}

/** Starts a walk. Throws RangeError when `left` cannot be what stands before the first record. */
export function bundleWalk({ manifest, left, checkpoints, policy_sets, removals, report }: WalkParts): BundleWalk {
  const { entries, records, period, checkpoint, org_id } = manifest
  const frontier = new Frontier(records.first, left)
  const roots = rootsBySize(checkpoints)
  const tasks = bundledTasks(() => records.first === 0 && !isCut)
  const known = [...removals]
  const [erased, pruned] = [new Gone(), new Gone()]
  const counts: Record<string, number> = {}
  const used = new Set<string>()
  const new_keys: string[] = []
  const restarts: Restart[] = []
  let present = 0
  // Also when it is a neighbour of the period that is gone.
  let isCut = false
  let last_received_at = ''
  let last_after = 0
  const neighbours = { before: null as string | null, after: null as string | null }

  const checkPlace = (record: AnyRecord, index: number, at: string) => {
    const { received_at, after } = record
    if (record.org_id !== org_id) report('other_log', at, 'the entry is of another organization')
    if (received_at < last_received_at)
      report('out_of_order', at, 'the entry was received before the one that stands before it')
    last_received_at = received_at
    if (index < entries.first) neighbours.before = received_at
    else if (index >= entries.end) neighbours.after = received_at
    else if (!within(received_at, period)) report('outside_period', at, 'the entry was not received in the period')
    const published = after.size === 0 ? [emptyRoot] : (roots.get(after.size) ?? [])
    if (!published.includes(after.root) || after.size > index || after.size < last_after)
      report('after_mismatch', at, 'the record names a checkpoint that was not the last one when it was written')
    last_after = Math.max(last_after, after.size)
  }
  const checkPayload = (record: AnyRecord, payload: string, index: number, at: string) => {
    const { value, problem } = openPayload(payload, record)
    if (problem !== null) return report('payload_mismatch', at, `the payload ${problem}`)
    if (value === null) return erased.add(index, last_received_at)
    present += 1
    const removal = removalIn(record, value, index)
    if (removal !== null) known.push(removal)
    const restart = restartIn(record, value, index)
    if (restart !== null) restarts.push(restart)
    if (record.type === 'key') new_keys.push(...keyIn(value))
  }

  return {
    add: (leaf, text, payload) => {
      const index = frontier.size
      const at = `entry ${index}`
      frontier.add(leaf)
      for (const root of roots.get(frontier.size) ?? [])
        if (hex(frontier.root()) !== root)
          report('fork', `checkpoint ${frontier.size}`, 'the log was signed as something else than what is here')
      if (text === 'null') {
        isCut = true
        if (payload === null) return
        if (payload !== 'null')
          report('payload_mismatch', at, 'its record is gone, and something is left of its payload')
        return pruned.add(index, last_received_at)
      }
      if (leafHash(text) !== hex(leaf))
        return report('record_mismatch', at, 'the record is not what its leaf is the hash of')
      const { value: record, problem } = readRecord(text)
      if (problem !== null) return report('record_invalid', at, `the record ${problem}`)
      checkPlace(record, index, at)
      if (record.type === 'step') {
        const wrong = tasks.add(record, hex(leaf), payload !== null)
        if (wrong !== null) report('link_broken', at, wrong)
        if (payload !== null) used.add(record.policy_set)
        if (payload !== null && !policy_sets.has(record.policy_set))
          report('policy_set_missing', at, `the policies \`${record.policy_set}\` it was judged by are not here`)
      }
      if (payload === null) return
      counts[record.type] = (counts[record.type] ?? 0) + 1
      checkPayload(record, payload, index, at)
    },
    finish: (right) => {
      for (const [at, { level }] of subtreesOf({ from: records.end, to: checkpoint.size }).entries())
        frontier.addSubtree(level, right[at] as Hash)
      if (hex(frontier.root()) !== checkpoint.root)
        report('root_mismatch', null, 'the entries here are not those that were signed for')
      const lost = erased.notCovered(known.filter(({ type }) => type === 'erasure'))
      if (lost !== null)
        report('payload_lost', `entry ${lost}`, 'its payload is gone, and the log does not say that it was erased')
      const prunes = known.filter(({ type }) => type === 'prune')
      const cut = pruned.notCovered(prunes)
      if (cut !== null)
        report('record_lost', `entry ${cut}`, 'its record is gone, and the log does not say that it was pruned')
      for (const digest of policy_sets)
        if (!used.has(digest))
          report('policy_set_unused', null, `no step here was judged by the policies \`${digest}\``)
      const complete = completeness(manifest, neighbours, prunes)
      if (complete.start === 'unproven')
        report('incomplete', null, 'nothing shows that no entry before these is of the period')
      if (complete.end === 'unproven')
        report('incomplete', null, 'nothing shows that no entry after these is of the period')
      const payloads = { present, erased: erased.count, pruned: pruned.count }
      // Whoever can write to the log can name a key; only one that signs for the bundle itself is the log's.
      const own_keys = new_keys.filter((key) => manifest.keys.includes(key))
      const removed = removalViews(known, erased, pruned)
      const covers_to = last_received_at === '' ? null : last_received_at
      const said = {
        covers_to,
        entries: counts,
        complete,
        payloads,
        removals: removed,
        tasks: tasks.finish(),
        new_keys: own_keys,
      }
      return { said, restarts }
    },
  }
}

/** The key that an opened leaf says the log signs with from then on. */
function keyIn(values: Readonly<Record<string, unknown>>): string[] {
  const key = (values.key as { readonly key?: unknown } | undefined)?.key
  return typeof key === 'string' ? [key] : []
}

function rootsBySize(checkpoints: readonly BundledCheckpoint[]): Map<number, string[]> {
  const roots = new Map<number, string[]>()
  for (const { size, root } of checkpoints) roots.set(size, [...new Set([...(roots.get(size) ?? []), root])])
  return roots
}

function within(time: string, { from, to }: BundleManifest['period']): boolean {
  return (from === null || time >= from) && (to === null || time < to)
}

/** INVARIANT (received_at never decreases with log_index): a neighbour outside the period ends it. */
function completeness(
  { entries, records, period, checkpoint }: BundleManifest,
  { before, after }: { readonly before: string | null; readonly after: string | null },
  prunes: readonly Removal[],
): BundleVerdict['complete'] {
  const { from, to } = period
  // The entry before the first must be here as one that is gone, and a prune must say that it is older than the period.
  const place = entries.first - 1
  const isGone = before === null && records.first === place
  const isOlder = (prune: Removal) =>
    from !== null && prune.before !== null && prune.before <= from && covers(prune.places, place)
  const prunedAll = isGone && prunes.some(isOlder)
  const start =
    entries.first === 0
      ? 'log_begins'
      : from !== null && before !== null && before < from
        ? 'neighbour'
        : prunedAll
          ? 'pruned_before'
          : 'unproven'
  const end =
    entries.end === checkpoint.size
      ? 'as_signed'
      : to !== null && after !== null && after >= to
        ? 'neighbour'
        : 'unproven'
  return { start, end }
}

function hex(hash: Hash): string {
  return Buffer.from(hash).toString('hex')
}
