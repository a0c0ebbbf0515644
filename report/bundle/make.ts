// The report of a bundle: the same messages to the same tally as on the platform that made the bundle.
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { parseNote, receiptsOf, reportIn, signedBefore, type TrustPolicy } from '@svc/proof'
import { type BundledText, type BundleReader, openBundle } from '@svc/proof/verify'
import { type Report, versionOf } from '@svc/schemas'
import type { Cut, LeafRow, ReportWork } from '../content/messages.js'
import type { MadeReport, ReportPlan } from '../content/plan.js'
import type { ReportData } from '../content/report-data.js'
import { reportIdOf } from '../content/report-id.js'
import { render } from '../formats/render.js'
import { createTally } from '../tally/answers.js'
import { readLeaf } from '../tally/leaves.js'
import { messageOf, type WorkClaims, workIn } from './readings.js'
import type { LeafText, ReportSource } from './source.js'

export interface BundledReport extends MadeReport {
  readonly plan: ReportPlan
  /** The leaf in the log, with the SHA-256 of the issued file; null in another format than the issued one. */
  readonly issued: { readonly log_index: number; readonly sha256: string | null }
}

/** A bundle without what its report reads, or whose lines of another version this one cannot read. */
export class BundledReportError extends Error {
  readonly code: 'NO_REPORT' | 'INCOMPLETE' | 'UNREADABLE'

  constructor(code: BundledReportError['code'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/**
 * Makes the file of the report that the bundle is of, from a bundle that verifyBundle found valid; `format` null: the issued one.
 * Rejects with BundledReportError and BundleError.
 */
export async function makeBundledReport(
  path: string,
  policy: TrustPolicy,
  format: Report['format'] | null,
): Promise<BundledReport> {
  const bundle = await openBundle(path, policy)
  try {
    const held = await heldBy(bundle)
    const { plan, issued } = planOf(bundle, held, format)
    const work = workOf(bundle, held, plan, policy)
    const data = await dataOf(bundle, work, await sourceOf(bundle, held, work.scope))
    return { ...(await render(data)), plan, issued }
  } finally {
    await bundle.close()
  }
}

async function dataOf(bundle: BundleReader, work: ReportWork, source: ReportSource): Promise<ReportData> {
  const tally = createTally(work)
  let line = 0
  try {
    for await (const reading of bundle.readings()) {
      line += 1
      if (line > 1) tally(await messageOf(reading, source))
    }
    return tally({ kind: 'data' }) as ReportData
  } catch (error) {
    if (error instanceof BundledReportError) throw error
    const message = `line ${line} of report.jsonl is not as this version of svc writes it: run the version of the platform`
    throw new BundledReportError('UNREADABLE', message, { cause: error })
  }
}

interface Held {
  readonly claims: WorkClaims & { readonly log_index: number }
  /** The leaves that the report names, and the records beside its entries. */
  readonly leaves: ReadonlyMap<number, LeafText>
}

/** Rejects with BundledReportError for the bundle of a period. */
async function heldBy(bundle: BundleReader): Promise<Held> {
  const { first, end } = bundle.manifest.entries
  const wanted = new Set([first - 1, end])
  let claims: Held['claims'] | null = null
  let line = 0
  for await (const reading of bundle.readings()) {
    line += 1
    if (line === 1) claims = workIn(reading)
    for (const index of reading.leaves) wanted.add(index)
  }
  if (claims === null)
    throw new BundledReportError(
      'NO_REPORT',
      'the bundle holds a period and not a report: get the bundle of a report with `svc bundle --report ID`',
    )
  wanted.add(claims.checkpoint.size)
  const leaves = new Map<number, LeafText>()
  // A neighbour of the period has no payload there.
  for (const texts of [bundle.texts(), bundle.textsOutside()])
    for await (const text of texts) if (wanted.has(text.log_index) && hasRecord(text)) leaves.set(text.log_index, text)
  return { claims, leaves }
}

function hasRecord(text: BundledText): text is LeafText {
  return text.record !== null
}

function leafAt(leaves: Held['leaves'], log_index: number): LeafText {
  const leaf = leaves.get(log_index)
  if (leaf === undefined) throw new BundledReportError('INCOMPLETE', `the bundle lacks entry ${log_index}`)
  return leaf
}

/** The report as its leaf in the log decides it. */
function planOf({ manifest }: BundleReader, { claims, leaves }: Held, format: Report['format'] | null) {
  const opened = readLeaf(rowOf(leafAt(leaves, claims.log_index)))
  const issued =
    opened === 'altered' || opened.values === null ? null : reportIn(opened, opened.values, claims.log_index)
  const { size, root } = claims.checkpoint
  if (issued === null || issued.cut_off !== size || issued.root !== root)
    throw new BundledReportError('INCOMPLETE', `entry ${claims.log_index} is not that of the report of the bundle`)
  const { from, to, by, agent_ids } = issued
  const decided = { format: format ?? (issued.format as Report['format']), period: { from, to }, by, agent_ids }
  const plan: Omit<ReportPlan, 'id'> = { ...decided, cut_off: size, root }
  const isIssued = plan.format === issued.format
  const id = isIssued ? issued.id : reportIdOf(manifest.org_id, plan)
  return { plan: { id, ...plan }, issued: { log_index: claims.log_index, sha256: isIssued ? issued.sha256 : null } }
}

function rowOf({ log_index, hash, record, salts, body }: LeafText): LeafRow {
  return [log_index, hash, record, salts, body]
}

/** The work that the tally is given first. The tally compares the hashes next to the entries with the signed root. */
function workOf({ manifest }: BundleReader, { claims }: Held, plan: ReportPlan, policy: TrustPolicy): ReportWork {
  const { id, format, period, by, agent_ids, cut_off } = plan
  const { checkpoint, left, right, own_tasks, log_began } = claims
  const receipts = receiptsOf({ ...period, by })
  const first = Math.min(manifest.entries.first, cut_off)
  const end = receipts.to === null ? cut_off : Math.max(first, Math.min(manifest.entries.end, cut_off))
  const times = { period, by, as_of: checkpoint.published_at, log_began }
  const note = parseNote(checkpoint.note)
  return {
    head: { id, format, org_id: manifest.org_id, ...times, agent_ids, version: versionOf('API') },
    scope: { first, end, cut_off },
    receipts,
    checkpoint,
    is_signed: note !== null && signedBefore(note, checkpoint.origin, policy) !== null,
    left,
    right,
    own_tasks,
  }
}

async function sourceOf(bundle: BundleReader, { leaves }: Held, { first, end, cut_off }: Cut): Promise<ReportSource> {
  // The sets of many agents differ little and are long.
  const sets = new Map<string, Buffer>()
  for await (const { digest, body } of bundle.policySets()) sets.set(digest, deflateRawSync(body))
  const texts = bundle.texts()[Symbol.asyncIterator]()
  return {
    leaf: (log_index) => leafAt(leaves, log_index),
    policySet: (digest) => {
      const packed = sets.get(digest)
      if (packed === undefined) throw new BundledReportError('INCOMPLETE', `the bundle lacks policy set ${digest}`)
      return inflateRawSync(packed).toString()
    },
    neighbours: {
      before: first === 0 ? null : (leaves.get(first - 1)?.record ?? null),
      after: end === cut_off ? null : (leaves.get(end)?.record ?? null),
    },
    entries: async (from, to) => {
      const page: BundledText[] = []
      while (page.length < to - from) {
        const { value, done } = await texts.next()
        if (done) throw new BundledReportError('INCOMPLETE', `the bundle ends before entry ${to}`)
        if (value.log_index >= from) page.push(value)
      }
      return page
    },
  }
}
