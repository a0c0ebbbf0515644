// Verifies a bundle offline (docs/design/log.md §6) in five steps: the container, the manifest, the checkpoint, the
// checkpoints that records name, and the records. Trusted keys come from the trust policy, never from the bundle.
import type { BundleManifest, BundleVerdict } from '@svc/schemas'
import { bundleFiles } from '../bundle/bundle.js'
import type { Finding, Report } from '../bundle/bundle-walk.js'
import { hexOf } from '../json/hex.js'
import { fingerprintOf, formatVerifier } from '../notes/note.js'
import { signedBefore, signedByLog, type TrustPolicy, witnessesOf } from '../notes/trust.js'
import { isPastOf, type RestartView, type SignedRoot, verifyRestarts } from '../record/restarts.js'
import { type Archive, openArchive, textOf } from './archive.js'
import { BundleError } from './bundle-error.js'
import { checkFiles, readCheckpoint, signedManifest, validCheckpoints } from './bundle-parts.js'
import { knownReport } from './known-report.js'
import { walkRecords } from './walk-records.js'

export interface VerifyRequest {
  readonly path: string
  readonly policy: TrustPolicy
  /** A checkpoint of the same log that the caller kept, as a signed note; null to verify the bundle alone. */
  readonly since: string | null
  /** SHA-256 of the file of a report, hex, which the log must hold; null or absent to verify no report. */
  readonly report?: string | null
}

/** Findings that are listed; the others are counted. */
const maxFindings = 100

/** The verdict; never throws, whatever a bundle holds. */
export async function verifyBundle(request: VerifyRequest): Promise<BundleVerdict> {
  const findings: Finding[] = []
  let more_findings = 0
  const report: Report = (code, where, message) => {
    if (findings.length < maxFindings) findings.push({ code, where, message })
    else more_findings += 1
  }
  const facts = await bundleFacts(request, report).catch((error: unknown) => {
    const { code, where, message } = asBundleError(error)
    report(code, where, message)
    return noFacts
  })
  return { valid: findings.length === 0, findings, more_findings, ...facts }
}

function asBundleError(error: unknown): BundleError {
  if (error instanceof BundleError) return error
  const reason = error instanceof Error ? error.message : String(error)
  return new BundleError('not_a_bundle', null, `the file cannot be read: ${reason}`)
}

type BundleFacts = Omit<BundleVerdict, 'valid' | 'findings' | 'more_findings' | 'rejudge'>

const noFacts: BundleFacts = {
  report: null,
  log: null,
  container: null,
  workspace: null,
  made_at: null,
  covers_to: null,
  since: null,
  period: { from: null, to: null },
  log_indexes: null,
  entries: {},
  checkpoint: null,
  removal_authorizations: [],
  new_keys: [],
  unsigned_logs: [],
  restarts: [],
  complete: { start: 'unproven', end: 'unproven' },
  payloads: { present: 0, erased: 0, pruned: 0 },
  tasks: { count: 0, began_earlier: 0, out_of_sequence: 0, after_end: 0, issues: {} },
}

async function bundleFacts({ path, policy, since, ...request }: VerifyRequest, report: Report): Promise<BundleFacts> {
  const archive = await openArchive(path)
  try {
    const manifest = await signedManifest(archive, policy)
    const container = (await checkFiles(archive, manifest)) ? 'issued' : 'repacked'
    const checkpoint = await trustedCheckpoint(archive, manifest, policy, report)
    const { checkpoints, unsigned_logs, signed } = await validCheckpoints(archive, manifest, policy, report)
    const kept = since === null ? null : keptCheckpoint(since, policy)
    if (since !== null && kept === null)
      report('since_untrusted', 'since', 'no key that is trusted for its log has signed the kept checkpoint')
    const walked = await walkRecords(archive, manifest, checkpoints, report)
    const file = request.report ?? null
    const named = walked.reports.filter(({ sha256 }) => sha256 === file)
    const sizes = [...walked.restarts.map(({ old_size }) => old_size), ...named.map(({ cut_off }) => cut_off)]
    const roots = walked.rootsOf(kept === null ? sizes : [...sizes, kept.size])
    const listed = [...checkpoints, manifest.checkpoint]
    const rootAt = (size: number) => roots.get(size) ?? listed.find((one) => one.size === size)?.root ?? null
    const { origin: log, period, entries: log_indexes, made_at, workspace = null } = manifest
    const allSigned = kept === null ? signed : [...signed, kept]
    const restarts = verifyRestarts(walked.restarts, { origin: log, signed: allSigned, rootAt, report })
    const grown = kept === null ? null : checkSince(kept, manifest, restarts, rootAt)
    if (Array.isArray(grown)) report(grown[0], 'since', grown[1])
    return {
      report: file === null ? null : knownReport(named, rootAt, report),
      log,
      container,
      workspace,
      made_at,
      since: typeof grown === 'number' ? grown : null,
      period,
      log_indexes,
      checkpoint,
      ...walked.facts,
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
  const noted = read?.checkpoint
  if (read === null || noted === undefined || noted.origin !== origin || noted.size !== checkpoint.size)
    throw new BundleError('checkpoint_invalid', name, 'the log or size of the checkpoint differs from the manifest')
  if (hexOf(noted.root) !== checkpoint.root)
    throw new BundleError('checkpoint_invalid', name, 'the root of the checkpoint differs from the manifest')
  const key = signedByLog(read.note, origin, policy)
  if (key === null)
    throw new BundleError('untrusted', name, 'no key that is trusted for the log has signed the checkpoint')
  const seen = witnessesOf(read.note, policy)
  const quorum = policy.quorum
  if (quorum !== null && !quorum.met(new Set(seen.map((witness) => witness.name))))
    report('quorum_missing', name, `the checkpoint lacks witnesses: the trust policy requires \`${quorum.name}\``)
  return {
    ...checkpoint,
    key: formatVerifier(key),
    fingerprint: fingerprintOf(key),
    witnesses: seen.map((witness) => ({ name: witness.name, time: new Date(witness.time * 1000).toISOString() })),
    named_witnesses: policy.witnesses.length,
    quorum: quorum?.name ?? null,
  }
}

/** The size and root of a kept checkpoint; null unless a key that is trusted for its log has signed it. */
function keptCheckpoint(text: string, policy: TrustPolicy): SignedRoot | null {
  const kept = readCheckpoint(text)
  if (kept === null || signedBefore(kept.note, kept.checkpoint.origin, policy) === null) return null
  const { origin, size, root } = kept.checkpoint
  return { origin, size, root: hexOf(root) }
}

/** The size of the kept checkpoint if the log is proven to continue it; otherwise the finding. */
function checkSince(
  { origin: name, size, root }: SignedRoot,
  { origin, checkpoint }: BundleManifest,
  restarts: readonly RestartView[],
  rootAt: (size: number) => string | null,
): number | [code: string, message: string] {
  const restart = restarts.find(({ old_origin }) => old_origin === name)
  if (name !== origin && (restart === undefined || !isPastOf(origin, name)))
    return ['since_other_log', `the kept checkpoint is of another log, \`${name}\``]
  if (restart !== undefined && name !== origin && size > restart.log_index) {
    const gone = size - restart.log_index
    return [
      'entries_gone',
      `the kept checkpoint has ${size} entries; ${gone} of them are gone: the log was restarted at entry ${restart.log_index}`,
    ]
  }
  if (size > checkpoint.size)
    return [
      'log_shrank',
      `the kept checkpoint has ${size} entries, the checkpoint of the bundle only ${checkpoint.size}`,
    ]
  const known = size === 0 ? null : rootAt(size)
  if (known === null)
    return ['since_unproven', `the bundle does not reach back to ${size} entries: request one with since=${size}`]
  if (known === root) return size
  return ['fork', `the log of ${size} entries differs from the kept checkpoint: two histories were signed`]
}
