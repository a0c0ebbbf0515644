// The evidence that a report reads besides the entries of its period: entries outside of it, and statements of the platform.
import type { BundleManifest } from '@svc/schemas'
import { type BundledReading, bundleFiles } from '../bundle/bundle.js'
import { isCount, isMap } from '../json/checks.js'
import { type Archive, linesOf } from './archive.js'
import { type Members, parsed } from './bundle-parts.js'

/** The lines of report.jsonl; none in the bundle of a period. Throws BundleError for an invalid one. */
export async function* reportReadings(archive: Archive): AsyncIterable<BundledReading> {
  const name = bundleFiles.report
  for await (const line of linesOf(name, archive.content(name))) yield parsed<BundledReading>(name, line, isReading)
}

/** The log indexes of the entries outside of the period that the report reads. Throws BundleError. */
export async function leavesOfReport(archive: Archive, { entries }: BundleManifest): Promise<Set<number>> {
  const outside = new Set<number>()
  for await (const { leaves } of reportReadings(archive))
    for (const index of leaves) if (index < entries.first || index >= entries.end) outside.add(index)
  return outside
}

function isReading({ kind, leaves, claims, ...others }: Members): boolean {
  const isEmpty = Object.keys(others).length === 0
  return isEmpty && typeof kind === 'string' && Array.isArray(leaves) && leaves.every(isCount) && isMap(claims)
}
