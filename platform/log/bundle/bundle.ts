// Makes a proof bundle (docs/design/log.md §6): one period of a log with everything that is needed to verify it offline.
import { join } from 'node:path'
import {
  afterSizeIn,
  type BundledReading,
  bundleFiles,
  canonical,
  consistencyRanges,
  type Hash,
  hexOf,
  inclusionRanges,
  listedFiles,
  payloadLine,
  type Range,
  type Subtree,
  subtreesOf,
} from '@svc/proof'
import type { LogKey } from '@svc/schemas'
import { type Transaction, withSnapshot } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { PlatformError } from '../../errors.js'
import { readRemovalAuthorizations } from '../../ledger/stored-leaves.js'
import { hashesOf } from '../publish/store/tree.js'
import { assemble, type SignManifest } from './assemble.js'
import { howToVerify } from './bundle-text.js'
import { type Packed, type PackedFile, packedFile } from './packed-file.js'
import { type BundleRequest, type Plan, type PlanParts, planBundle } from './plan.js'
import { checkpointsOf, leavesOfFacts, policySetBodies, readFullLeaves, readLeavesAt } from './store.js'

export interface BundleParts extends PlanParts {
  readonly signManifest: SignManifest
  readonly readReport: ReadReport
  /** Every key that signs or has signed the log of an organization. */
  readonly keysOf: (org_id: string) => readonly LogKey[]
}

/** Takes the lines of report.jsonl, in order: everything that a report reads besides the entries of its period. */
export type ReadReport = (
  parts: Pick<BundleParts, 'db' | 'keysOf'>,
  scope: Scope,
  report: NonNullable<Plan['report']>,
  write: (reading: BundledReading) => Promise<void>,
) => Promise<void>

/** Leaves per page. */
const pageSize = 500

/**
 * Makes the bundle in the folder and returns its path. Rejects with NOT_FOUND before the first checkpoint, with UNAVAILABLE
 * while a removal is not signed, and with TOO_LARGE. Altered rows enter the bundle as they are stored, for the verifier to
 * find.
 */
export async function makeBundle(
  parts: BundleParts,
  scope: Scope,
  request: BundleRequest,
  folder: string,
): Promise<string> {
  const plan = await planBundle(parts, scope, request)
  const files = new Map<string, PackedFile>()
  const fileOf: FileOf = (name) => {
    const known = files.get(name) ?? packedFile(join(folder, name), name)
    files.set(name, known)
    return known
  }
  await fileOf(bundleFiles.how).write(howToVerify(plan.origin, parts.keysOf(scope.org_id)))
  await fileOf(bundleFiles.note).write(plan.checkpoint.note)
  const { sizes, policy_sets, agent_ids } = await writeLeaves(parts, scope, plan, fileOf)
  const read = await writeReadings(parts, scope, plan, fileOf)
  await writeAuthority(parts, scope, plan, { agent_ids: [...agent_ids], read }, fileOf)
  await withSnapshot(parts.db, scope, async (tx) => {
    const hashes = (ranges: readonly Range[]) => hashesOf(scope, tx, ranges).catch(() => ranges.map(() => missing))
    await writeNodes(plan, hashes, fileOf)
    const wanted = [...sizes, ...plan.restarted_from, plan.report?.cut_off ?? 0, request.since ?? 0]
    await writeCheckpoints(scope, tx, plan, wanted, hashes, fileOf)
    for (const body of await policySetBodies(scope, tx, [...policy_sets].sort()))
      await fileOf(bundleFiles.policy_sets).write(`${oneLine(body)}\n`)
    const removals = await readRemovalAuthorizations(scope, tx)
    if ((removals.at(-1)?.log_index ?? -1) !== plan.last_removal)
      throw new PlatformError('UNAVAILABLE', 'entries were removed while the bundle was made: try again shortly')
  })
  const packed: Packed[] = []
  for (const name of listedFiles) packed.push(await fileOf(name).finish())
  return assemble(parts.signManifest, plan, packed, folder)
}

type FileOf = (name: string) => PackedFile
type HashesOf = (ranges: readonly Range[]) => Promise<Hash[]>

/** Writes records, payloads and leaves; returns the checkpoint sizes, policy sets and agents that the records name. */
async function writeLeaves({ db }: BundleParts, scope: Scope, { records, entries }: Plan, fileOf: FileOf) {
  const named = { sizes: new Set<number>(), policy_sets: new Set<string>(), agent_ids: new Set<string>() }
  for (let from = records.first; from < records.end; from += pageSize) {
    const to = Math.min(records.end, from + pageSize)
    const rows = new Map(
      (await withSnapshot(db, scope, (tx) => readFullLeaves(scope, tx, { from, to }))).map((row) => [
        row.log_index,
        row,
      ]),
    )
    const texts: string[] = []
    const payloads: string[] = []
    const leaves: Uint8Array[] = []
    for (let index = from; index < to; index++) {
      const { record = null, salts = null, body = null, leaf_hash } = rows.get(index) ?? {}
      texts.push(`${oneLine(record ?? 'null')}\n`)
      const isInPeriod = index >= entries.first && index < entries.end
      if (isInPeriod) payloads.push(`${oneLine(payloadLine(salts, body))}\n`)
      leaves.push(hashIn(leaf_hash))
      named.sizes.add(afterSizeIn(record ?? ''))
      const policy_set = policySetIn(record ?? '')
      if (isInPeriod && policy_set !== null) named.policy_sets.add(policy_set)
      const agent_id = policy_set === null ? null : agentIn(record ?? '')
      if (isInPeriod && agent_id !== null) named.agent_ids.add(agent_id)
    }
    await fileOf(bundleFiles.records).write(texts.join(''))
    await fileOf(bundleFiles.payloads).write(payloads.join(''))
    await fileOf(bundleFiles.leaves).write(Buffer.concat(leaves))
  }
  return named
}

/** Writes the hashes of the subtrees before and after the records. */
async function writeNodes({ records, checkpoint }: Plan, hashes: HashesOf, fileOf: FileOf): Promise<void> {
  const outer = [
    { from: 0, to: records.first },
    { from: records.end, to: checkpoint.size },
  ].flatMap(subtreesOf)
  await fileOf(bundleFiles.nodes).write(Buffer.concat(await hashes(outer.map(rangeOf))))
}

async function writeCheckpoints(
  scope: Scope,
  tx: Transaction,
  { records, checkpoint: { size } }: Plan,
  sizes: readonly number[],
  hashes: HashesOf,
  fileOf: FileOf,
): Promise<void> {
  const { first, end } = records
  const wanted = sizes.filter((one) => one > 0 && one <= size)
  for (const { note, ...listed } of await checkpointsOf(scope, tx, { from: first, to: end }, wanted)) {
    // The leaves of the bundle prove a checkpoint within the records.
    const isProven = listed.size > first && listed.size <= end
    const proof = isProven ? {} : { proof: (await hashes(consistencyRanges(listed.size, size))).map(hexOf) }
    await fileOf(bundleFiles.checkpoints).write(`${canonical({ ...listed, note, ...proof })}\n`)
  }
}

/**
 * Writes what the report of the bundle reads; returns the log indexes of the entries outside the period. Rejects with UNAVAILABLE
 * while one of them is not signed.
 */
async function writeReadings(parts: BundleParts, scope: Scope, plan: Plan, fileOf: FileOf): Promise<Set<number>> {
  const { report, entries, checkpoint } = plan
  const outside = new Set<number>()
  if (report === null) return outside
  const write = async (reading: BundledReading) => {
    for (const index of reading.leaves) if (index < entries.first || index >= entries.end) outside.add(index)
    await fileOf(bundleFiles.report).write(`${canonical(reading)}\n`)
  }
  await parts.readReport(parts, scope, report, write).catch((error: unknown) => {
    // The checkpoint of its cut-off is gone: it cannot be made again, and its bundle is verified nevertheless.
    if (!(error instanceof PlatformError) || error.code !== 'CONFLICT') throw error
  })
  if ([...outside].some((index) => index >= checkpoint.size))
    throw new PlatformError('UNAVAILABLE', 'an entry that the report reads is not signed yet: try again shortly')
  return outside
}

interface Needed {
  /** The agents of the steps, whose facts are needed. */
  readonly agent_ids: readonly string[]
  /** The log indexes that the report reads. */
  readonly read: Iterable<number>
}

/** Leaves whose proofs are computed in one transaction: some 13 ms in the embedded database. */
const proofsAtOnce = 5

/** Writes the leaves outside the period that its entries and its report need. */
async function writeAuthority(
  { db }: BundleParts,
  scope: Scope,
  { authority, entries, checkpoint: { size } }: Plan,
  { agent_ids, read }: Needed,
  fileOf: FileOf,
): Promise<void> {
  const facts = await withSnapshot(db, scope, (tx) => leavesOfFacts(scope, tx, agent_ids, entries.first))
  const indexes = [...new Set([...authority, ...facts, ...read])].filter((index) => index < size).sort((a, b) => a - b)
  const known = new Map<string, Hash>()
  for (let at = 0; at < indexes.length; at += proofsAtOnce)
    await withSnapshot(db, scope, async (tx) => {
      const leaves = await readLeavesAt(scope, tx, indexes.slice(at, at + proofsAtOnce))
      const proofs = leaves.map(({ log_index }) => inclusionRanges(log_index, size))
      await readHashes(scope, tx, proofs.flat(), known)
      for (const [index, { log_index, record, salts, body }] of leaves.entries()) {
        const proof = (proofs[index] ?? []).map((range) => hexOf(known.get(keyOf(range)) ?? missing))
        await fileOf(bundleFiles.authority).write(`${canonical({ log_index, record, salts, body, proof })}\n`)
      }
    })
}

/** Adds the hashes of these ranges; those of neighbouring leaves are mostly the same. */
async function readHashes(scope: Scope, tx: Transaction, ranges: readonly Range[], known: Map<string, Hash>) {
  const wanted = [...new Map(ranges.map((range) => [keyOf(range), range]))].filter(([key]) => !known.has(key))
  const hashes = await hashesOf(
    scope,
    tx,
    wanted.map(([, range]) => range),
  ).catch(() => null)
  for (const [at, [key, range]] of wanted.entries()) {
    const [hash] = hashes === null ? await hashesOf(scope, tx, [range]).catch(() => []) : [hashes[at]]
    if (hash !== undefined) known.set(key, hash)
  }
}

function keyOf({ from, to }: Range): string {
  return `${from} ${to}`
}

/** The hash in place of a missing leaf or node. */
const missing: Hash = Buffer.alloc(32)

function hashIn(text = ''): Hash {
  return /^[0-9a-f]{64}$/.test(text) ? Buffer.from(text, 'hex') : missing
}

/** Stored texts have no line breaks; an altered one is written as one line. */
function oneLine(text: string): string {
  return text.includes('\n') ? JSON.stringify(text) : text
}

function policySetIn(record: string): string | null {
  return /"policy_set":"([0-9a-f]{64})"/.exec(record)?.[1] ?? null
}

/** Ids of agents are hex digits after `ag_`; an altered one is left out. */
function agentIn(record: string): string | null {
  return /"agent_id":"(\w{1,100})"/.exec(record)?.[1] ?? null
}

function rangeOf({ level, index }: Subtree): Range {
  return { from: index * 2 ** level, to: (index + 1) * 2 ** level }
}
