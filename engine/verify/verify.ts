// Verifying a bundle offline (log.md §6), in five steps: the file, its manifest, its checkpoint, what records name, and the
// records themselves. Nothing is taken from the bundle on its own word: keys come from the trust policy.
import type { BundleManifest, BundleVerdict } from '@svc/schemas'
import type { BundledCheckpoint } from '../log/bundle.js'
import { bundleFiles } from '../log/bundle.js'
import { bundleWalk, type Finding, type Report } from '../log/bundle-walk.js'
import { type Hash, subtreesOf } from '../log/merkle.js'
import { formatVerifier } from '../log/note.js'
import { signedByLog, type TrustPolicy, witnessesOf } from '../log/trust.js'
import { type Archive, bytesOf, linesOf, openArchive, textOf, Unreadable } from './archive.js'
import {
  checkFiles,
  policyDigests,
  provenRemovals,
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
    since: null,
    period: { from: null, to: null },
    entries: {},
    checkpoint: null,
    removals: [],
    new_keys: [],
    unsigned_logs: [],
  },
  complete: { start: 'unproven', end: 'unproven' },
  payloads: { present: 0, erased: 0, pruned: 0 },
  tasks: { count: 0, began_earlier: 0, out_of_sequence: 0, issues: {} },
}

async function judged(path: string, policy: TrustPolicy, since: string | null, report: Report): Promise<Said> {
  const archive = await openArchive(path)
  try {
    const manifest = await signedManifest(archive, policy)
    await checkFiles(archive, manifest)
    const checkpoint = await trustedCheckpoint(archive, manifest, policy, report)
    const { checkpoints, unsigned_logs } = await soundCheckpoints(archive, manifest, policy, report)
    const grew = since === null ? null : checkSince(since, manifest, checkpoints, policy)
    if (Array.isArray(grew)) report(grew[0], 'since', grew[1])
    const walked = await walk(archive, manifest, checkpoints, report)
    const { origin: log, period } = manifest
    return { log, since: typeof grew === 'number' ? grew : null, period, checkpoint, ...walked, unsigned_logs }
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
  return { ...checkpoint, key: formatVerifier(key), witnesses, quorum: quorum?.name ?? null }
}

/** How large the log was when a checkpoint was kept that it grew out of; else what is wrong with saying so. */
function checkSince(
  text: string,
  { origin, checkpoint }: BundleManifest,
  checkpoints: readonly BundledCheckpoint[],
  policy: TrustPolicy,
): number | [code: string, message: string] {
  const kept = readCheckpoint(text)
  if (kept === null || signedByLog(kept.note, kept.checkpoint.origin, policy) === null)
    return ['since_untrusted', 'the checkpoint that was kept is not signed by a key that is trusted for its log']
  const { size, root, origin: name } = kept.checkpoint
  if (name !== origin) return ['since_other_log', `the checkpoint that was kept is of the log \`${name}\``]
  if (size > checkpoint.size) return ['log_shrank', `the log had ${size} entries when it was kept`]
  const known = size === checkpoint.size ? checkpoint : checkpoints.find((one) => one.size === size)
  if (known === undefined) return ['since_unproven', `the bundle does not reach back: ask for one with since=${size}`]
  if (known.root === Buffer.from(root).toString('hex')) return size
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
  const walking = bundleWalk({
    ...{ manifest, left: nodes.slice(0, left), checkpoints, report },
    policy_sets: await policyDigests(archive),
    removals: await provenRemovals(archive, manifest, report),
  })
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
  return walking.finish(nodes.slice(left))
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
