// The members of a bundle that are for its report.
import type { BundledText } from '@svc/proof/verify'

/** A leaf whose record is in the bundle. */
export type LeafText = BundledText & { readonly record: string }

export interface ReportSource {
  /** A leaf that the report names. */
  readonly leaf: (log_index: number) => LeafText
  readonly policySet: (digest: string) => string
  /** The records beside the entries of the report; null where the log ends, or where one was deleted. */
  readonly neighbours: { readonly before: string | null; readonly after: string | null }
  /** The entries of the next range, which begins where the last one ended. */
  readonly entries: (from: number, to: number) => Promise<readonly BundledText[]>
}

/** A leaf as a `LeafRow`. */
export function leafLine({ log_index, hash, record, salts, body }: LeafText): string {
  return JSON.stringify([log_index, hash, record, salts, body])
}
