// Verifying a bundle offline (docs/design/log.md §6), in five steps: the file, its manifest, its checkpoint, what records name, and the
// records themselves. Nothing is taken from the bundle on its own word: keys come from the trust policy.
import type { BundleManifest, BundleVerdict } from '@svc/schemas'
import { type BundledCheckpoint, bundleFiles } from '../bundle/bundle.js'
import { bundleWalk, type Finding, type Report } from '../bundle/bundle-walk.js'
import { fingerprintOf, formatVerifier } from '../notes/note.js'
import { signedBefore, signedByLog, type TrustPolicy, witnessesOf } from '../notes/trust.js'
import { isPastOf, judgedRestarts, type RestartView, rootsAt, type SignedRoot } from '../record/restarts.js'
import { type Hash, subtreesOf } from '../tree/merkle.js'
import { type Archive, bytesOf, linesOf, openArchive, textOf, Unreadable } from './archive.js'
import {
  checkFiles,
  policyDigests,
  provenLeaves,
  readCheckpoint,
  signedManifest,
  soundCheckpoints,
} from './bundle-parts.js'

export interface VerifyRequest {
  readonly path: string
  readonly policy: TrustPolicy
  /** A checkpoint of the same log that somebody kept, as a signed note; null asks for no more than the bundle itself. */
  readonly since: string | null
}

/** Findings that are listed; the others are counted. */
const mostFindings = 100

/** The verdict; never throws for what a bundle holds. */
export async function verifyBundle({ path, policy, since }: VerifyRequest): Promise<BundleVerdict> {
  const findings: Finding[] = []
  let more_findings = 0
  const report: Report = (code, where, message) => {
    if (findings.length < mostFindings) findings.push({ code, where, message })
    else more_findings += 1
  }
  const said = await judged(path, policy, since, report).catch((error: unknown) => {
    const { code, where, message } = asUnreadable(error)
    report(code, where, message)
    return nothing
  })
  return { valid: findings.length === 0, findings, more_findings, ...said }
}

/** Whatever a hostile file brings about is a finding: nothing but a verdict comes of verifying. */
function asUnreadable(error: unknown): Unreadable {
  if (error instanceof Unreadable) return error
  return new Unreadable('not_a_bundle', null, `it cannot be read: ${error instanceof Error ? error.message : error}`)
}

type Said = Omit<BundleVerdict, 'valid' | 'findings' | 'more_findings'>

const nothing: Said = {
  ...{
    log: null,
    container: null,
    workspace: null,
    made_at: null,
    covers_to: null,
    since: null,
    period: { from: null, to: null },
    places: null,
    entries: {},
    checkpoint: null,
    removals: [],
    new_keys: [],
    unsigned_logs: [],
    restarts: [],
  },
  complete: { start: 'unproven', end: 'unproven' },
  payloads: { present: 0, erased: 0, pruned: 0 },
  tasks: { count: 0, began_earlier: 0, out_of_sequence: 0, issues: {} },
}

async function judged(path: string, policy: TrustPolicy, since: string | null, report: Report): Promise<Said> {
  const archive = await openArchive(path)
  try {
    const manifest = await signedManifest(archive, policy)
    const container = (await checkFiles(archive, manifest)) ? 'issued' : 'repacked'
    const checkpoint = await trustedCheckpoint(archive, manifest, policy, report)
    const sound = await soundCheckpoints(archive, manifest, policy, report)
    const { checkpoints, unsigned_logs } = sound
    const kept = since === null ? null : keptCheckpoint(since, policy)
    if (since !== null && kept === null)
      report(
        'since_untrusted',
        'since',
        'the checkpoint that was kept is not signed by a key that is trusted for its log',
      )
    const { said, restarts: found, rootsOf } = await walk(archive, manifest, checkpoints, report)
    const roots = rootsOf([...found.map(({ old_size }) => old_size), ...(kept === null ? [] : [kept.size])])
    const known = [...checkpoints, manifest.checkpoint]
    const rootAt = (size: number) => roots.get(size) ?? known.find((one) => one.size === size)?.root ?? null
    const { origin: log, period, entries: places, made_at, workspace = null } = manifest
    const signed = [...sound.signed, ...(kept === null ? [] : [kept])]
    const restarts = judgedRestarts(found, { origin: log, signed, rootAt, report })
    const grew = kept === null ? null : checkSince(kept, manifest, restarts, rootAt)
    if (Array.isArray(grew)) report(grew[0], 'since', grew[1])
    const shown = typeof grew === 'number' ? grew : null
    return {
      log,
      container,
      workspace,
      made_at,
      since: shown,
      period,
      places,
      checkpoint,
      ...said,
      unsigned_logs,
      restarts,
    }
  } finally {
    await archive.close()
  }
}

async function trustedCheckpoint(archive: Archive, manifest: BundleManifest, policy: TrustPolicy, report: Report) {
  const name = bundleFiles.note
  const { origin, checkpoint } = manifest
  const read = readCheckpoint(await textOf(name, archive.content(name)))
  const says = read?.checkpoint
  if (read === null || says === undefined || says.origin !== origin || says.size !== checkpoint.size)
    throw new Unreadable(
      'checkpoint_invalid',
      name,
      'this is no checkpoint of the log and size that the manifest names',
    )
  if (Buffer.from(says.root).toString('hex') !== checkpoint.root)
    throw new Unreadable('checkpoint_invalid', name, 'the checkpoint has another root than the manifest')
  const key = signedByLog(read.note, origin, policy)
  if (key === null)
    throw new Unreadable('untrusted', name, 'the checkpoint is not signed by a key that is trusted for its log')
  const seen = witnessesOf(read.note, policy)
  const quorum = policy.quorum
  if (quorum !== null && !quorum.met(new Set(seen.map((witness) => witness.name))))
    report('quorum_missing', name, `the checkpoint lacks witnesses: the trust policy asks for \`${quorum.name}\``)
  const witnesses = seen.map((witness) => ({ name: witness.name, time: new Date(witness.time * 1000).toISOString() }))
  const named_witnesses = policy.witnesses.length
  const signing = { key: formatVerifier(key), fingerprint: fingerprintOf(key) }
  return { ...checkpoint, ...signing, witnesses, named_witnesses, quorum: quorum?.name ?? null }
}

/** What a checkpoint says that somebody kept; null unless a key that is trusted for its log has signed it. */
function keptCheckpoint(text: string, policy: TrustPolicy): SignedRoot | null {
  const kept = readCheckpoint(text)
  if (kept === null || signedBefore(kept.note, kept.checkpoint.origin, policy) === null) return null
  const { origin, size, root } = kept.checkpoint
  return { origin, size, root: Buffer.from(root).toString('hex') }
}

/** How large the log was when a checkpoint was kept that it grew out of; else what is wrong with saying so. */
function checkSince(
  { origin: name, size, root }: SignedRoot,
  { origin, checkpoint }: BundleManifest,
  restarts: readonly RestartView[],
  rootAt: (size: number) => string | null,
): number | [code: string, message: string] {
  const restart = restarts.find(({ old_origin }) => old_origin === name)
  if (name !== origin && (restart === undefined || !isPastOf(origin, name)))
    return ['since_other_log', `the checkpoint that was kept is of the log \`${name}\``]
  if (restart !== undefined && name !== origin && size > restart.log_index)
    return [
      'entries_gone',
      `the log had ${size} entries when it was kept, and ${size - restart.log_index} of them are gone: it was restarted with ${restart.log_index}`,
    ]
  if (size > checkpoint.size) return ['log_shrank', `the log had ${size} entries when it was kept`]
  const known = size === 0 ? null : rootAt(size)
  if (known === null) return ['since_unproven', `the bundle does not reach back: ask for one with since=${size}`]
  if (known === root) return size
  return ['fork', `the log of ${size} entries was another when it was kept: two pasts have been signed for`]
}

async function walk(archive: Archive, manifest: BundleManifest, checkpoints: BundledCheckpoint[], report: Report) {
  const { records, entries, checkpoint } = manifest
  const count = records.end - records.first
  const nodes = await hashesIn(archive, bundleFiles.nodes)
  const left = subtreesOf({ from: 0, to: records.first }).length
  const right = subtreesOf({ from: records.end, to: checkpoint.size }).length
  const leaves = await hashesIn(archive, bundleFiles.leaves)
  const lines = async (name: string) => linesOf(name, archive.content(name))[Symbol.asyncIterator]()
  const [texts, payloads] = [await lines(bundleFiles.records), await lines(bundleFiles.payloads)]
  if (nodes.length !== left + right || leaves.length !== count)
    throw new Unreadable('not_a_bundle', bundleFiles.leaves, 'there are more or fewer hashes than entries')
  const policy_sets = await policyDigests(archive)
  const proven = await provenLeaves(archive, manifest, report)
  const { removals } = proven
  const walking = bundleWalk({ manifest, left: nodes.slice(0, left), checkpoints, report, policy_sets, removals })
  for (const [at, leaf] of leaves.entries()) {
    const index = records.first + at
    const isNeighbour = index < entries.first || index >= entries.end
    walking.add(
      leaf,
      await next(bundleFiles.records, texts),
      isNeighbour ? null : await next(bundleFiles.payloads, payloads),
    )
  }
  for (const [name, rest] of [
    [bundleFiles.records, texts],
    [bundleFiles.payloads, payloads],
  ] as const)
    if (!(await rest.next()).done) throw new Unreadable('not_a_bundle', name, 'there are more lines than entries')
  const { said, restarts } = walking.finish(nodes.slice(left))
  const rootsOf = (sizes: readonly number[]) => rootsAt(records.first, nodes.slice(0, left), leaves, sizes)
  return { said, restarts: [...proven.restarts, ...restarts], rootsOf }
}

async function next(name: string, lines: AsyncIterator<string>): Promise<string> {
  const { value, done } = await lines.next()
  if (done) throw new Unreadable('not_a_bundle', name, 'there are fewer lines than entries')
  return value
}

async function hashesIn(archive: Archive, name: string): Promise<Hash[]> {
  const bytes = await bytesOf(name, archive.content(name))
  if (bytes.length % 32 !== 0) throw new Unreadable('not_a_bundle', name, 'this is no list of hashes')
  return Array.from({ length: bytes.length / 32 }, (_, at) => bytes.subarray(32 * at, 32 * at + 32))
}
