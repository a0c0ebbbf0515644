// The entries of a bundle that was verified, in the order of the log: for what is computed from them.
import type { BundleManifest } from '@svc/schemas'
import { bundleFiles } from '../bundle/bundle.js'
import type { AnyRecord } from '../bundle/bundled-record.js'
import { sha256Hex } from '../json/hex.js'
import { parseJson } from '../json/parse-json.js'
import type { TrustPolicy } from '../notes/trust.js'
import { linesOf, openArchive } from './archive.js'
import { BundleError } from './bundle-error.js'
import { checkFiles, signedManifest } from './bundle-parts.js'
import { authorityLines, openedLine } from './proven-leaves.js'
import { lineReader } from './walk-records.js'

/** An entry; `record` is null when it was deleted, `values` when its payload was. */
export interface BundledEntry {
  readonly log_index: number
  readonly record: AnyRecord | null
  readonly values: Readonly<Record<string, unknown>> | null
}

export interface BundleReader {
  readonly manifest: BundleManifest
  /** Policy sets by digest, one after the other. */
  readonly policySets: () => AsyncIterable<{ readonly digest: string; readonly body: string }>
  /** The entries outside the period that the bundle holds for its entries. */
  readonly outside: () => AsyncIterable<BundledEntry>
  /** The entries of the period without payloads, and with them. */
  readonly records: () => AsyncIterable<Omit<BundledEntry, 'values'>>
  readonly entries: () => AsyncIterable<BundledEntry>
  readonly close: () => Promise<void>
}

/** Opens a bundle that verifyBundle found valid; a trusted key must have signed its files. Throws BundleError. */
export async function openBundle(path: string, policy: TrustPolicy): Promise<BundleReader> {
  const archive = await openArchive(path)
  try {
    const manifest = await signedManifest(archive, policy)
    await checkFiles(archive, manifest)
    const { records, entries } = manifest
    const textsOfPeriod = async function* () {
      const texts = lineReader(archive, bundleFiles.records)
      for (let log_index = records.first; log_index < entries.end; log_index++) {
        const text = await texts.next()
        if (log_index >= entries.first) yield { log_index, record: recordIn(text) }
      }
    }
    return {
      manifest,
      policySets: async function* () {
        const name = bundleFiles.policy_sets
        for await (const body of linesOf(name, archive.content(name))) yield { digest: sha256Hex(body), body }
      },
      outside: async function* () {
        for await (const listed of authorityLines(archive)) {
          const [record, values] = openedLine(listed) ?? []
          if (record && values) yield { log_index: listed.log_index, record, values }
        }
      },
      records: textsOfPeriod,
      entries: async function* () {
        const payloads = lineReader(archive, bundleFiles.payloads)
        for await (const entry of textsOfPeriod()) yield { ...entry, values: valuesIn(await payloads.next()) }
      },
      close: archive.close,
    }
  } catch (error) {
    await archive.close()
    throw error
  }
}

/** A record of a verified bundle: its text is canonical JSON and has the shape of a record. */
function recordIn(text: string): AnyRecord | null {
  return parsed(text) as AnyRecord | null
}

function valuesIn(text: string): BundledEntry['values'] {
  return (parsed(text) as { readonly values: BundledEntry['values'] } | null)?.values ?? null
}

function parsed(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    throw new BundleError('bytes_altered', null, 'the bundle changed while it was read')
  }
}
