// Making a proof bundle (docs/design/log.md §6): one period of a log with everything it takes to check it offline.
import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { crc32 } from 'node:zlib'
import {
  afterSizeIn,
  bundleFiles,
  canonical,
  consistencyRanges,
  type Hash,
  inclusionRanges,
  listedFiles,
  parseStrictJson,
  payloadLine,
  type Range,
  restartIn,
  type Subtree,
  subtreesOf,
  type ZipEntry,
  zipLayout,
} from '@svc/proof'
import type { BundleManifest, LogKey } from '@svc/schemas'
import { type Database, withSnapshot } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { PlatformError } from '../../errors.js'
import { placeOfTime } from '../../ledger/log-range.js'
import { readRemovals, type StoredLeafWhole } from '../../ledger/stored-leaves.js'
import { originOf } from '../publish/publish.js'
import { latestCheckpoint, type StoredCheckpoint } from '../publish/store/checkpoints.js'
import { hashesOf } from '../publish/store/tree.js'
import { howToVerify } from './bundle-text.js'
import { type Packed, type PackedFile, packedFile } from './packed-file.js'
import { checkpointsOf, policySetBodies, readRestarts, readWhole, workspaceName } from './store.js'

export interface BundleParts {
  readonly db: Database
  readonly clock: () => number
  readonly log_host: string
  /** Signs the statement of a manifest with the keys of the log, which are named beside it. */
  readonly signManifest: (origin: string, sha256: string) => { readonly note: string; readonly keys: readonly string[] }
  /** Every key that signs or has signed the log of an organization. */
  readonly keysOf: (org_id: string) => readonly LogKey[]
  /** Entries that were signed for last, as the signer remembers. */
  readonly signedSize: (origin: string) => number
}

export interface BundleRequest {
  /** ms since 1970, inclusive and exclusive; null: from the beginning, as far as it is signed for. */
  readonly from: number | null
  readonly to: number | null
  /** Size of a checkpoint that somebody kept; the bundle shows that the log has grown out of it. */
  readonly since: number | null
}

/** Leaves read at once. */
const pageSize = 500
/** Entries of one bundle: some gigabytes of records. */
const mostEntries = 1_000_000

/**
 * Makes the bundle in the folder and answers its path. Rejects with NOT_FOUND before the first checkpoint, with UNAVAILABLE
 * while something removed is not yet signed for, and with TOO_LARGE. What has been tampered with is put in as it stands: it
 * is for the verifier to say so.
 */
export async function makeBundle(
  parts: BundleParts,
  scope: Scope,
  request: BundleRequest,
  folder: string,
): Promise<string> {
  const plan = await planned(parts, scope, request)
  const files = new Map<string, PackedFile>()
  const file = (name: string) => {
    const known = files.get(name) ?? packedFile(join(folder, name), name)
    files.set(name, known)
    return known
  }
  await file(bundleFiles.how).write(howToVerify(plan.origin, parts.keysOf(scope.org_id)))
  await file(bundleFiles.note).write(plan.checkpoint.note)
  const named = await writeLeaves(parts, scope, plan, file)
  await withSnapshot(parts.db, scope, async (tx) => {
    const { size } = plan.checkpoint
    const hashes = (ranges: readonly Range[]) => hashesOf(scope, tx, ranges).catch(() => ranges.map(() => gone))
    const outer = [
      { from: 0, to: plan.records.first },
      { from: plan.records.end, to: size },
    ].flatMap(subtreesOf)
    await file(bundleFiles.nodes).write(Buffer.concat(await hashes(outer.map(rangeOf))))
    const { first, end } = plan.records
    const wanted = [...named.sizes, ...plan.restarted_from, ...(request.since === null ? [] : [request.since])].filter(
      (one) => one > 0 && one <= size,
    )
    for (const { note, ...listed } of await checkpointsOf(scope, tx, { from: first, to: end }, wanted)) {
      const shown = listed.size > first && listed.size <= end
      const proof = shown ? {} : { proof: (await hashes(consistencyRanges(listed.size, size))).map(hex) }
      await file(bundleFiles.checkpoints).write(`${canonical({ ...listed, note, ...proof })}\n`)
    }
    for (const { log_index, record, salts, body } of plan.authority) {
      const proof = (await hashes(inclusionRanges(log_index, size))).map(hex)
      await file(bundleFiles.authority).write(`${canonical({ log_index, record, salts, body, proof })}\n`)
    }
    for (const body of await policySetBodies(scope, tx, [...named.policy_sets].sort()))
      await file(bundleFiles.policy_sets).write(`${oneLine(body)}\n`)
    const removals = await readRemovals(scope, tx)
    if ((removals.at(-1)?.log_index ?? -1) !== plan.last_removal) throw removedMeanwhile()
  })
  const packed: Packed[] = []
  for (const name of listedFiles) packed.push(await file(name).finish())
  return assemble(parts, plan, packed, folder)
}

interface Plan
  extends Pick<BundleManifest, 'origin' | 'org_id' | 'made_at' | 'workspace' | 'period' | 'entries' | 'records'> {
  readonly checkpoint: StoredCheckpoint
  readonly authority: Awaited<ReturnType<typeof readRemovals>>
  readonly last_removal: number
  /** Sizes that were signed for before the log was restarted. */
  readonly restarted_from: readonly number[]
}

async function planned(
  { db, clock, log_host, signedSize }: BundleParts,
  scope: Scope,
  request: BundleRequest,
): Promise<Plan> {
  return withSnapshot(db, scope, async (tx) => {
    const checkpoint = await latestCheckpoint(scope, tx)
    if (checkpoint === null) throw new PlatformError('NOT_FOUND', 'no checkpoint has been published yet')
    const { size, incarnation } = checkpoint
    const origin = originOf(log_host, scope.org_id, incarnation)
    // A bundle says that nothing else was signed for; whoever can write the database must not have it say so of the past.
    if (size < signedSize(origin))
      throw new PlatformError(
        'UNAVAILABLE',
        'more is signed for than is published here: try again shortly, or see /readyz',
      )
    const period = { from: iso(request.from), to: iso(request.to) }
    const first = period.from === null ? 0 : await placeOfTime(scope, tx, period.from, size)
    const end = period.to === null ? size : Math.max(first, await placeOfTime(scope, tx, period.to, size))
    if (end - first > mostEntries)
      throw new PlatformError('TOO_LARGE', `the period has ${end - first} entries: choose a shorter one`)
    const removals = await readRemovals(scope, tx)
    if (removals.some(({ log_index }) => log_index >= size))
      throw new PlatformError('UNAVAILABLE', 'something was removed that is not signed for yet: try again shortly')
    const restarts = (await readRestarts(scope, tx)).filter(({ log_index }) => log_index < size)
    const told = [...removals, ...restarts].sort((a, b) => a.log_index - b.log_index)
    const workspace = await workspaceName(scope, tx)
    const records = { first: Math.max(0, first - 1), end: Math.min(size, end + 1) }
    return {
      origin,
      ...(workspace !== null && workspace !== '' && { workspace }),
      ...{ org_id: scope.org_id, made_at: new Date(clock()).toISOString(), period, checkpoint },
      ...{ entries: { first, end }, records, last_removal: removals.at(-1)?.log_index ?? -1 },
      authority: told.filter(({ log_index }) => log_index < first || log_index >= end),
      restarted_from: restarts.flatMap(restartedFrom),
    }
  })
}

/** Writes records, payloads and leaves; answers what the records name. */
async function writeLeaves(
  { db }: BundleParts,
  scope: Scope,
  { records, entries }: Plan,
  file: (name: string) => PackedFile,
) {
  const named = { sizes: new Set<number>(), policy_sets: new Set<string>() }
  for (let from = records.first; from < records.end; from += pageSize) {
    const to = Math.min(records.end, from + pageSize)
    const rows = new Map(
      (await withSnapshot(db, scope, (tx) => readWhole(scope, tx, { from, to }))).map((row) => [row.log_index, row]),
    )
    const [texts, payloads, leaves]: [string[], string[], Uint8Array[]] = [[], [], []]
    for (let index = from; index < to; index++) {
      const { record = null, salts = null, body = null, leaf_hash } = rows.get(index) ?? {}
      texts.push(`${oneLine(record ?? 'null')}\n`)
      const isInPeriod = index >= entries.first && index < entries.end
      if (isInPeriod) payloads.push(`${oneLine(payloadLine(salts, body))}\n`)
      leaves.push(hashIn(leaf_hash))
      named.sizes.add(afterSizeIn(record ?? ''))
      const policy_set = policySetIn(record ?? '')
      if (isInPeriod && policy_set !== null) named.policy_sets.add(policy_set)
    }
    await file(bundleFiles.records).write(texts.join(''))
    await file(bundleFiles.payloads).write(payloads.join(''))
    await file(bundleFiles.leaves).write(Buffer.concat(leaves))
  }
  return named
}

async function assemble(
  { signManifest }: BundleParts,
  plan: Plan,
  packed: readonly Packed[],
  folder: string,
): Promise<string> {
  const { origin, org_id, made_at, workspace, period, entries, records, checkpoint } = plan
  const { size, root } = checkpoint
  const files = packed.map(({ listed }) => listed)
  const manifestWith = (keys: readonly string[]) => {
    const manifest: BundleManifest = {
      ...{ v: 'svc.bundle/1', origin, org_id, made_at, period, entries, records, checkpoint: { size, root } },
      ...(workspace !== undefined && { workspace }),
      ...{ keys: [...keys], files },
    }
    return `${JSON.stringify(manifest, null, 2)}\n`
  }
  const manifest = manifestWith(signManifest(origin, sha256('')).keys)
  const small = [
    { name: bundleFiles.manifest, bytes: Buffer.from(manifest) },
    { name: bundleFiles.signature, bytes: Buffer.from(signManifest(origin, sha256(manifest)).note) },
  ]
  const stored = small.map(({ name, bytes }): ZipEntry => {
    return { name, deflated: false, crc32: crc32(bytes), packed: bytes.length, bytes: bytes.length }
  })
  const layout = layoutOf([...packed.map(({ entry }) => entry), ...stored])
  const path = join(folder, 'bundle.zip')
  const contents = [...packed.map((one) => one.path), ...small.map(({ bytes }) => bytes)]
  await pipeline(
    async function* () {
      for (const [at, header] of layout.headers.entries()) {
        yield header.bytes
        const content = contents[at]
        if (typeof content === 'string') yield* createReadStream(content)
        else if (content !== undefined) yield content
      }
      yield layout.directory.bytes
    },
    createWriteStream(path, { mode: 0o600 }),
  )
  // What is packed need not stand there twice.
  for (const { path: own } of packed) await rm(own, { force: true })
  return path
}

function layoutOf(entries: readonly ZipEntry[]) {
  try {
    return zipLayout(entries)
  } catch (error) {
    throw new PlatformError('TOO_LARGE', 'the bundle would be larger than 4 GiB: choose a shorter period', {
      cause: error,
    })
  }
}

function removedMeanwhile(): PlatformError {
  return new PlatformError('UNAVAILABLE', 'something was removed while the bundle was made: try again shortly')
}

/** What was signed for before a restart, as its leaf says. */
function restartedFrom({ log_index, body }: StoredLeafWhole): number[] {
  const reading = parseStrictJson(body ?? '')
  if (reading.problem !== null || reading.value === null) return []
  const restart = restartIn({ type: 'event' }, reading.value as Readonly<Record<string, unknown>>, log_index)
  return restart === null ? [] : [restart.old_size]
}

/** What stands for a leaf or node that is gone. */
const gone: Hash = Buffer.alloc(32)

function hashIn(text: string | undefined): Hash {
  return /^[0-9a-f]{64}$/.test(text ?? '') ? Buffer.from(text as string, 'hex') : gone
}

/** Nothing that was written has a line break in it; what has been tampered with stays one line. */
function oneLine(text: string): string {
  return text.includes('\n') ? JSON.stringify(text) : text
}

function policySetIn(record: string): string | null {
  return /"policy_set":"([0-9a-f]{64})"/.exec(record)?.[1] ?? null
}

function rangeOf({ level, index }: Subtree): Range {
  return { from: index * 2 ** level, to: (index + 1) * 2 ** level }
}

function iso(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString()
}

function hex(hash: Hash): string {
  return Buffer.from(hash).toString('hex')
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
