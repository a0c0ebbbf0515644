// The records of a bundle with their payloads, hashes and policy sets, as the walk over them needs them.
import type { BundleManifest } from '@svc/schemas'
import { type BundledCheckpoint, bundleFiles } from '../bundle/bundle.js'
import { BundleWalk, type Report } from '../bundle/bundle-walk.js'
import { rootsAt } from '../record/restarts.js'
import { type Hash, subtreesOf } from '../tree/merkle.js'
import { type Archive, bytesOf, linesOf } from './archive.js'
import { BundleError } from './bundle-error.js'
import { policyDigests } from './bundle-parts.js'
import { provenLeaves } from './proven-leaves.js'

/** Walks all records of the bundle and compares their tree with the signed one. Throws BundleError. */
export async function walkRecords(
  archive: Archive,
  manifest: BundleManifest,
  checkpoints: readonly BundledCheckpoint[],
  report: Report,
) {
  const { records, entries, checkpoint } = manifest
  const count = records.end - records.first
  const nodes = await hashesIn(archive, bundleFiles.nodes)
  const leftCount = subtreesOf({ from: 0, to: records.first }).length
  const rightCount = subtreesOf({ from: records.end, to: checkpoint.size }).length
  const left = nodes.slice(0, leftCount)
  const leaves = await hashesIn(archive, bundleFiles.leaves)
  if (nodes.length !== leftCount + rightCount || leaves.length !== count)
    throw new BundleError('not_a_bundle', bundleFiles.leaves, 'the number of hashes differs from the number of entries')
  const policy_sets = await policyDigests(archive)
  const { authorizations, restarts, reports } = await provenLeaves(archive, manifest, report)
  const walk = new BundleWalk({ manifest, left, checkpoints, report, policy_sets, authorizations })
  const texts = lineReader(archive, bundleFiles.records)
  const payloads = lineReader(archive, bundleFiles.payloads)
  for (const [at, leaf] of leaves.entries()) {
    const index = records.first + at
    const isNeighbour = index < entries.first || index >= entries.end
    walk.add(leaf, await texts.next(), isNeighbour ? null : await payloads.next())
  }
  await texts.finish()
  await payloads.finish()
  const walked = walk.finish(nodes.slice(leftCount))
  return {
    facts: walked.facts,
    restarts: [...restarts, ...walked.restarts],
    reports: [...reports, ...walked.reports],
    rootsOf: (sizes: readonly number[]) => rootsAt(records.first, left, leaves, sizes),
  }
}

/** Lines of a file, one for each entry. Throws BundleError when there are fewer or more. */
export function lineReader(archive: Archive, name: string) {
  const lines = linesOf(name, archive.content(name))[Symbol.asyncIterator]()
  return {
    next: async (): Promise<string> => {
      const { value, done } = await lines.next()
      if (done) throw new BundleError('not_a_bundle', name, 'the file has fewer lines than entries')
      return value
    },
    finish: async () => {
      if (!(await lines.next()).done)
        throw new BundleError('not_a_bundle', name, 'the file has more lines than entries')
    },
  }
}

/** The hashes of a file of the bundle. Throws BundleError. */
export async function hashesIn(archive: Archive, name: string): Promise<Hash[]> {
  const bytes = await bytesOf(name, archive.content(name))
  if (bytes.length % 32 !== 0)
    throw new BundleError('not_a_bundle', name, `the file has ${bytes.length} bytes, not a multiple of 32`)
  return Array.from({ length: bytes.length / 32 }, (_, at) => bytes.subarray(32 * at, 32 * at + 32))
}
