// The leaves outside the period that a bundle holds because its entries need them, each with a proof that it is in the log.
import type { BundleManifest } from '@svc/schemas'
import { type BundledAuthority, bundleFiles, payloadLine } from '../bundle/bundle.js'
import type { Report } from '../bundle/bundle-walk.js'
import { type AnyRecord, openPayload, readRecord } from '../bundle/bundled-record.js'
import { bytesOfHex } from '../json/hex.js'
import { agentFactsIn } from '../record/agent-facts.js'
import { type IssuedReport, reportIn } from '../record/issued-report.js'
import { leafHash } from '../record/record.js'
import { type RemovalAuthorization, removalAuthorizationIn } from '../record/removal-authorization.js'
import { type Restart, restartIn } from '../record/restarts.js'
import { verifyInclusion } from '../tree/merkle.js'
import { type Archive, linesOf } from './archive.js'
import { isProof, type Members, parsed } from './bundle-parts.js'
import { leavesOfReport } from './report-readings.js'

export interface ProvenLeaves {
  readonly authorizations: readonly RemovalAuthorization[]
  readonly restarts: readonly Restart[]
  readonly reports: readonly IssuedReport[]
}

/** Reads the leaves; one without a valid proof, or that nothing in the bundle needs, is reported, and so is a missing one. */
export async function provenLeaves(archive: Archive, manifest: BundleManifest, report: Report): Promise<ProvenLeaves> {
  const found: Found = { authorizations: new Map(), restarts: new Map(), reports: new Map() }
  const { checkpoint } = manifest
  const root = bytesOfHex(checkpoint.root)
  const wanted = await leavesOfReport(archive, manifest)
  for await (const listed of authorityLines(archive)) {
    const { log_index, record, proof } = listed
    const where = `entry ${log_index}`
    const isRead = wanted.delete(log_index)
    if (!verifyInclusion(bytesOfHex(leafHash(record)), log_index, checkpoint.size, proof.map(bytesOfHex), root))
      report('not_in_log', where, 'no proof shows that this entry is in the log')
    else if (!take(found, listed) && !(isRead && isWhole(listed)))
      report('record_invalid', where, `the entry is neither ${kinds}`)
  }
  for (const index of wanted)
    report('report_incomplete', `entry ${index}`, 'the bundle lacks this entry, which its report reads')
  const { authorizations, restarts, reports } = found
  return {
    authorizations: [...authorizations.values()],
    restarts: [...restarts.values()],
    reports: [...reports.values()],
  }
}

const kinds = 'an erasure, a prune, a restart, a report, the facts of an agent nor one that its report reads'

interface Found {
  readonly authorizations: Map<number, RemovalAuthorization>
  readonly restarts: Map<number, Restart>
  readonly reports: Map<number, IssuedReport>
}

/** False for a leaf that no entry can need. */
function take({ authorizations, restarts, reports }: Found, listed: BundledAuthority): boolean {
  const { log_index } = listed
  const opened = openedLine(listed)
  if (opened === null) return false
  const authorization = removalAuthorizationIn(...opened, log_index)
  if (authorization !== null) authorizations.set(log_index, authorization)
  const restart = restartIn(...opened, log_index)
  if (restart !== null) restarts.set(log_index, restart)
  const issued = reportIn(...opened, log_index)
  if (issued !== null) reports.set(log_index, issued)
  return [authorization, restart, issued, agentFactsIn(...opened, log_index)].some((one) => one !== null)
}

/** The lines of authority.jsonl. Throws BundleError for an invalid one. */
export async function* authorityLines(archive: Archive): AsyncIterable<BundledAuthority> {
  const name = bundleFiles.authority
  for await (const line of linesOf(name, archive.content(name))) yield parsed<BundledAuthority>(name, line, isAuthority)
}

/** True for a record whose payload opens its commitments or is erased. */
function isWhole({ record: text, salts, body }: BundledAuthority): boolean {
  const { value: record } = readRecord(text)
  return record !== null && openPayload(payloadLine(salts, body), record).problem === null
}

/** The record of a line and the values that open its commitments; null for an invalid or erased one. */
export function openedLine({ record: text, salts, body }: BundledAuthority): [AnyRecord, Members] | null {
  const { value: record } = readRecord(text)
  const values = record === null ? null : openPayload(payloadLine(salts, body), record).value
  return record === null || values === null ? null : [record, values]
}

function isAuthority({ log_index, record, salts, body, proof }: Members): boolean {
  const isErased = salts === null && body === null
  const texts = (isErased ? [record] : [record, salts, body]).every((text) => typeof text === 'string')
  return Number.isSafeInteger(log_index) && texts && isProof(proof)
}
