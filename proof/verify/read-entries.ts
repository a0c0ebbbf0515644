// The entries of a bundle that was verified, in the order of the log: for what is computed from them.
import type { BundleManifest } from '@svc/schemas'
import { type BundledReading, bundleFiles } from '../bundle/bundle.js'
import type { AnyRecord } from '../bundle/bundled-record.js'
import { hexOf, sha256Hex } from '../json/hex.js'
import { parseJson } from '../json/parse-json.js'
import type { TrustPolicy } from '../notes/trust.js'
import { leafHash } from '../record/record.js'
import { emptyTree } from '../tree/merkle.js'
import { linesOf, openArchive } from './archive.js'
import { BundleError } from './bundle-error.js'
import { checkFiles, signedManifest } from './bundle-parts.js'
import { authorityLines, openedLine } from './proven-leaves.js'
import { reportReadings } from './report-readings.js'
import { hashesIn, lineReader } from './walk-records.js'

/** An entry; `record` is null when it was deleted, `values` when its payload was. */
export interface BundledEntry {
  readonly log_index: number
  readonly record: AnyRecord | null
  readonly values: Readonly<Record<string, unknown>> | null
}

/** A leaf as the bundle holds it: the record is null when it was deleted, salts and body when the payload was. */
export interface BundledText {
  readonly log_index: number
  /** SHA-256 of the leaf, hex. */
  readonly hash: string
  readonly record: string | null
  readonly salts: string | null
  readonly body: string | null
}

export interface BundleReader {
  readonly manifest: BundleManifest
  /** The evidence that the report of the bundle reads besides the entries of its period; none in the bundle of a period. */
  readonly readings: () => AsyncIterable<BundledReading>
  /** Policy sets by digest, one after the other. */
  readonly policySets: () => AsyncIterable<{ readonly digest: string; readonly body: string }>
  /** The entries outside the period that the bundle holds for its entries and its report. */
  readonly outside: () => AsyncIterable<BundledEntry>
  readonly textsOutside: () => AsyncIterable<BundledText>
  /** The entries of the period with the neighbours, which have no payload. */
  readonly texts: () => AsyncIterable<BundledText>
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
    const isInPeriod = (index: number) => index >= entries.first && index < entries.end
    const recordTexts = async function* () {
      const texts = lineReader(archive, bundleFiles.records)
      for (let log_index = records.first; log_index < records.end; log_index++)
        yield { log_index, text: await texts.next() }
    }
    const texts = async function* () {
      const leaves = await hashesIn(archive, bundleFiles.leaves)
      const payloads = lineReader(archive, bundleFiles.payloads)
      for await (const { log_index, text } of recordTexts()) {
        const payload = isInPeriod(log_index) ? payloadIn(await payloads.next()) : noPayload
        const hash = hexOf(leaves[log_index - records.first] ?? emptyTree)
        yield { log_index, hash, record: text === 'null' ? null : text, ...payload }
      }
    }
    return {
      manifest,
      readings: () => reportReadings(archive),
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
      textsOutside: async function* () {
        for await (const { log_index, record, salts, body } of authorityLines(archive))
          yield { log_index, hash: leafHash(record), record, salts, body }
      },
      texts,
      records: async function* () {
        for await (const { log_index, text } of recordTexts())
          if (isInPeriod(log_index)) yield { log_index, record: parsed(text) as AnyRecord | null }
      },
      entries: async function* () {
        for await (const { log_index, record, body } of texts())
          if (isInPeriod(log_index))
            yield { log_index, record: parsed(record ?? 'null') as AnyRecord | null, values: valuesIn(body) }
      },
      close: archive.close,
    }
  } catch (error) {
    await archive.close()
    throw error
  }
}

const noPayload = { salts: null, body: null }

/** The texts of the salts and of the values of a payload, whose commitments were opened. */
function payloadIn(line: string): Pick<BundledText, 'salts' | 'body'> {
  const [, salts, body] = /^\{"salts":(\{[^}]*\}),"values":(.*)\}$/s.exec(line) ?? []
  return salts === undefined || body === undefined ? noPayload : { salts, body }
}

function valuesIn(body: string | null): BundledEntry['values'] {
  return body === null ? null : (parsed(body) as BundledEntry['values'])
}

/** A text of a verified bundle: it is canonical JSON. */
function parsed(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    throw new BundleError('bytes_altered', null, 'the bundle changed while it was read')
  }
}
