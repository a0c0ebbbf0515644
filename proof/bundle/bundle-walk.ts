// Walks a bundle leaf by leaf, in the order of the log: hashes, opens and checks each entry, and compares the tree that
// they make with the signed one.
import type { BundleManifest, BundleVerdict } from '@svc/schemas'
import { hexOf } from '../json/hex.js'
import { type IssuedReport, reportIn } from '../record/issued-report.js'
import { authorizationViews, MissingEntries } from '../record/missing-entries.js'
import { emptyRoot, leafHash } from '../record/record.js'
import { covers, type RemovalAuthorization, removalAuthorizationIn } from '../record/removal-authorization.js'
import { type Restart, restartIn } from '../record/restarts.js'
import { Frontier, type Hash, subtreesOf } from '../tree/merkle.js'
import type { BundledCheckpoint } from './bundle.js'
import { type AnyRecord, openPayload, readRecord } from './bundled-record.js'
import { type BundledTasks, bundledTasks } from './bundled-tasks.js'

export type Finding = BundleVerdict['findings'][number]
export type Report = (code: string, where: string | null, message: string) => void

export interface WalkParts {
  readonly manifest: BundleManifest
  /** Hashes of the full subtrees before the first record. */
  readonly left: readonly Hash[]
  /** Checkpoints of this log; the records themselves show those without a proof. */
  readonly checkpoints: readonly BundledCheckpoint[]
  /** Digests of the policy sets in the bundle. */
  readonly policy_sets: ReadonlySet<string>
  /** Authorizations outside the period, each proven to be in the log. */
  readonly authorizations: readonly RemovalAuthorization[]
  readonly report: Report
}

interface Walked {
  readonly facts: Pick<
    BundleVerdict,
    'covers_to' | 'entries' | 'complete' | 'payloads' | 'removal_authorizations' | 'tasks' | 'new_keys'
  >
  /** Restarts of the log in the period. */
  readonly restarts: readonly Restart[]
  /** Reports that were issued in the period. */
  readonly reports: readonly IssuedReport[]
}

export class BundleWalk {
  readonly #parts: WalkParts
  readonly #frontier: Frontier
  readonly #roots: ReadonlyMap<number, readonly string[]>
  readonly #tasks: BundledTasks
  readonly #authorizations: RemovalAuthorization[]
  readonly #erased = new MissingEntries()
  readonly #pruned = new MissingEntries()
  readonly #counts: Record<string, number> = {}
  readonly #usedPolicySets = new Set<string>()
  readonly #newKeys: string[] = []
  readonly #restarts: Restart[] = []
  readonly #reports: IssuedReport[] = []
  #present = 0
  /** True if a record is missing, also a neighbour of the period. */
  #isCut = false
  #lastReceivedAt = ''
  #lastAfter = 0
  #before: string | null = null
  #after: string | null = null

  /** Throws RangeError when `left` does not fit the first record. */
  constructor(parts: WalkParts) {
    const { manifest, left, checkpoints, authorizations } = parts
    this.#parts = parts
    this.#frontier = new Frontier(manifest.records.first, left)
    this.#roots = rootsBySize(checkpoints)
    this.#tasks = bundledTasks(() => manifest.records.first === 0 && !this.#isCut)
    this.#authorizations = [...authorizations]
  }

  /** Takes the next leaf with its lines; `payload` is null for a neighbour of the period. */
  add(leaf: Hash, text: string, payload: string | null): void {
    const index = this.#frontier.size
    const where = `entry ${index}`
    this.#frontier.add(leaf)
    this.#compareRoots()
    if (text === 'null') this.#addMissing(index, where, payload)
    else if (leafHash(text) !== hexOf(leaf))
      this.#parts.report('record_mismatch', where, 'the record does not hash to its leaf')
    else this.#addRecord(leaf, text, payload)
  }

  /** `right`: hashes of the full subtrees after the last record. */
  finish(right: readonly Hash[]): Walked {
    const { manifest, report } = this.#parts
    const { records, checkpoint } = manifest
    for (const [at, { level }] of subtreesOf({ from: records.end, to: checkpoint.size }).entries())
      this.#frontier.addSubtree(level, right[at] as Hash)
    if (hexOf(this.#frontier.root()) !== checkpoint.root)
      report('root_mismatch', null, 'the entries do not form the signed tree')
    this.#checkMissing()
    this.#checkUnusedPolicySets()
    const prunes = this.#authorizations.filter(({ type }) => type === 'prune')
    const complete = completeness(manifest, { before: this.#before, after: this.#after }, prunes)
    if (complete.start === 'unproven')
      report('incomplete', null, 'no proof that all earlier entries are outside the period')
    if (complete.end === 'unproven')
      report('incomplete', null, 'no proof that all later entries are outside the period')
    return {
      facts: {
        covers_to: this.#lastReceivedAt === '' ? null : this.#lastReceivedAt,
        entries: this.#counts,
        complete,
        payloads: { present: this.#present, erased: this.#erased.count, pruned: this.#pruned.count },
        removal_authorizations: authorizationViews(this.#authorizations, this.#erased, this.#pruned),
        tasks: this.#tasks.finish(),
        // A writer of the log can name any key; only a key that also signs the bundle is the log's.
        new_keys: this.#newKeys.filter((key) => manifest.keys.includes(key)),
      },
      restarts: this.#restarts,
      reports: this.#reports,
    }
  }

  #compareRoots(): void {
    for (const root of this.#roots.get(this.#frontier.size) ?? [])
      if (hexOf(this.#frontier.root()) !== root)
        this.#parts.report(
          'fork',
          `checkpoint ${this.#frontier.size}`,
          'the root of the checkpoint differs from that of the entries',
        )
  }

  #addMissing(index: number, where: string, payload: string | null): void {
    this.#isCut = true
    if (payload === null) return
    if (payload !== 'null')
      this.#parts.report('payload_mismatch', where, 'the record is missing, but its payload is present')
    this.#pruned.add(index, this.#lastReceivedAt)
  }

  #addRecord(leaf: Hash, text: string, payload: string | null): void {
    const { report } = this.#parts
    const index = this.#frontier.size - 1
    const where = `entry ${index}`
    const { value: record, problem } = readRecord(text)
    if (problem !== null) {
      report('record_invalid', where, `the record ${problem}`)
      return
    }
    this.#checkPosition(record, index, where)
    if (record.type === 'step') {
      const wrong = this.#tasks.add(record, hexOf(leaf), payload !== null)
      if (wrong !== null) report('link_broken', where, wrong)
    }
    if (payload === null) return
    if (record.type === 'step') this.#checkPolicySet(record.policy_set, where)
    this.#counts[record.type] = (this.#counts[record.type] ?? 0) + 1
    this.#checkPayload(record, payload, index, where)
  }

  #checkPosition({ org_id, received_at, after }: AnyRecord, index: number, where: string): void {
    const { manifest, report } = this.#parts
    const { entries, period } = manifest
    if (org_id !== manifest.org_id) report('other_log', where, 'the entry is of another organization')
    if (received_at < this.#lastReceivedAt)
      report('out_of_order', where, 'the entry was received before the previous one')
    this.#lastReceivedAt = received_at
    if (index < entries.first) this.#before = received_at
    else if (index >= entries.end) this.#after = received_at
    else if (!within(received_at, period)) report('outside_period', where, 'the entry was not received in the period')
    const published = after.size === 0 ? [emptyRoot] : (this.#roots.get(after.size) ?? [])
    if (!published.includes(after.root) || after.size > index || after.size < this.#lastAfter)
      report('after_mismatch', where, 'the record names a checkpoint that was not the last one at that time')
    this.#lastAfter = Math.max(this.#lastAfter, after.size)
  }

  #checkPolicySet(policy_set: string, where: string): void {
    this.#usedPolicySets.add(policy_set)
    if (!this.#parts.policy_sets.has(policy_set))
      this.#parts.report('policy_set_missing', where, `the bundle lacks the policy set \`${policy_set}\` of this step`)
  }

  #checkPayload(record: AnyRecord, payload: string, index: number, where: string): void {
    const { value, problem } = openPayload(payload, record)
    if (problem !== null) this.#parts.report('payload_mismatch', where, `the payload ${problem}`)
    else if (value === null) this.#erased.add(index, this.#lastReceivedAt)
    else this.#addOpened(record, value, index)
  }

  #addOpened(record: AnyRecord, value: Readonly<Record<string, unknown>>, index: number): void {
    this.#present += 1
    const authorization = removalAuthorizationIn(record, value, index)
    if (authorization !== null) this.#authorizations.push(authorization)
    const restart = restartIn(record, value, index)
    if (restart !== null) this.#restarts.push(restart)
    const issued = reportIn(record, value, index)
    if (issued !== null) this.#reports.push(issued)
    if (record.type === 'key') this.#newKeys.push(...keyIn(value))
  }

  #checkMissing(): void {
    const { report } = this.#parts
    const of = (type: RemovalAuthorization['type']) => this.#authorizations.filter((one) => one.type === type)
    const payload = this.#erased.firstUncovered(of('erasure'))
    if (payload !== null)
      report('payload_lost', `entry ${payload}`, 'the payload is missing, and the log records no erasure of it')
    const record = this.#pruned.firstUncovered(of('prune'))
    if (record !== null)
      report('record_lost', `entry ${record}`, 'the record is missing, and the log records no prune of it')
  }

  #checkUnusedPolicySets(): void {
    const { policy_sets, report } = this.#parts
    for (const digest of policy_sets)
      if (!this.#usedPolicySets.has(digest))
        report('policy_set_unused', null, `no step in the bundle uses the policy set \`${digest}\``)
  }
}

/** The key that an opened leaf declares as a new key of the log. */
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
  prunes: readonly RemovalAuthorization[],
): BundleVerdict['complete'] {
  const { from, to } = period
  // The entry before the first must be listed without its record, and a prune must declare it older than the period.
  const previous = entries.first - 1
  const isMissing = before === null && records.first === previous
  const isOlder = (prune: RemovalAuthorization) =>
    from !== null && prune.before !== null && prune.before <= from && covers(prune.spans, previous)
  const start =
    entries.first === 0
      ? 'log_begins'
      : from !== null && before !== null && before < from
        ? 'neighbour'
        : isMissing && prunes.some(isOlder)
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
