// The format of a proof bundle (docs/design/log.md §6): file names, the manifest, and the signed statement.
import type { BundleManifest } from '@svc/schemas'
import { isCount, isHash, isMap, isTime } from '../json/checks.js'
import { parseStoredJson } from '../json/strict-json.js'

/** Files of a bundle, in their order in the zip. */
export const bundleFiles = {
  how: 'VERIFY.md',
  note: 'checkpoint.note',
  checkpoints: 'checkpoints.jsonl',
  records: 'records.jsonl',
  payloads: 'payloads.jsonl',
  policy_sets: 'policy_sets.jsonl',
  authority: 'authority.jsonl',
  report: 'report.jsonl',
  leaves: 'leaves.bin',
  nodes: 'nodes.bin',
  manifest: 'manifest.json',
  signature: 'manifest.note',
} as const

/** The files that the manifest lists: all but itself and its signature. */
export const listedFiles = Object.values(bundleFiles).filter((name) => !/^manifest/.test(name))

/** A checkpoint that records name or that `since` requests, as a line of checkpoints.jsonl. */
export interface BundledCheckpoint {
  readonly size: number
  /** Hex. */
  readonly root: string
  readonly note: string
  /** Consistency with the bundle's own checkpoint, hex; absent where the records themselves show it. */
  readonly proof?: readonly string[]
}

/**
 * A leaf outside the period that its entries need, as a line of authority.jsonl: it authorizes a removal, restarts the log,
 * records the issued report, holds the facts of an agent, or is read by the report. Salts and body are null once erased.
 */
export interface BundledAuthority {
  readonly log_index: number
  readonly record: string
  readonly salts: string | null
  readonly body: string | null
  /** Inclusion in the bundle's own checkpoint, hex. */
  readonly proof: readonly string[]
}

/** A line of report.jsonl: what a report reads besides the entries of its period, in the order in which it is read. */
export interface BundledReading {
  readonly kind: string
  /** Log indexes of entries in the bundle. */
  readonly leaves: readonly number[]
  /** Statements of the platform; no entry proves them. */
  readonly claims: Readonly<Record<string, unknown>>
}

/** The signed statement on a manifest; it cannot be read as a checkpoint. */
export function manifestStatement(origin: string, manifest_sha256: string): string {
  return `svc.bundle/1\n${origin}\nsha256 ${manifest_sha256}\n`
}

/** A line of payloads.jsonl from the stored payload of an entry. */
export function payloadLine(salts: string | null, body: string | null): string {
  return salts === null || body === null ? 'null' : `{"salts":${salts},"values":${body}}`
}

/** Reads and checks manifest.json; null when it is invalid. */
export function parseBundleManifest(text: string): BundleManifest | null {
  const reading = parseStoredJson(text)
  const value = reading.problem === null ? reading.value : null
  if (!isMap(value) || value.v !== 'svc.bundle/1') return null
  const { origin, org_id, made_at, workspace, period, entries, records, checkpoint, keys, files } = value
  const isValid =
    [origin, org_id, made_at].every(isText) &&
    (workspace === undefined || isText(workspace)) &&
    isMap(period) &&
    [period.from, period.to].every((time) => time === null || isTime(time)) &&
    (period.from === null || period.to === null || String(period.from) <= String(period.to)) &&
    [entries, records].every(isRange) &&
    isMap(checkpoint) &&
    isCount(checkpoint.size) &&
    isHash(checkpoint.root) &&
    Array.isArray(keys) &&
    keys.every(isText) &&
    Array.isArray(files) &&
    files.every(isFile)
  if (!isValid) return null
  const manifest = value as unknown as BundleManifest
  return nests(manifest) ? manifest : null
}

/** True if the entries lie in the records with at most one neighbour on either side, and the records in the log. */
function nests({ entries, records, checkpoint, files }: BundleManifest): boolean {
  const before = entries.first - records.first
  const after = records.end - entries.end
  const names = files.map(({ name }) => name)
  return (
    entries.first <= entries.end &&
    [0, 1].includes(before) &&
    [0, 1].includes(after) &&
    records.end <= checkpoint.size &&
    JSON.stringify(names) === JSON.stringify(listedFiles)
  )
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

function isRange(value: unknown): boolean {
  return isMap(value) && isCount(value.first) && isCount(value.end)
}

function isFile(value: unknown): boolean {
  return (
    isMap(value) &&
    isText(value.name) &&
    [value.bytes, value.packed].every(isCount) &&
    [value.sha256, value.packed_sha256].every(isHash)
  )
}
