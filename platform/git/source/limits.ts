// What reading a repository may cost.
export interface Limits {
  /** Milliseconds for one operation of Git, and for one request to GitHub. */
  readonly timeoutMs: number
  /** Bytes on disk of a local copy. */
  readonly maxDiskBytes: number
  /** Entries of a tree. */
  readonly maxEntries: number
  /** Bytes of one file that is read. */
  readonly maxBlobBytes: number
  /** Bytes that one call of `read` returns, and bytes of one listing. */
  readonly maxReadBytes: number
}

export const defaultLimits: Limits = {
  timeoutMs: 60_000,
  maxDiskBytes: 200 * 1024 * 1024,
  maxEntries: 100_000,
  maxBlobBytes: 1024 * 1024,
  maxReadBytes: 64 * 1024 * 1024,
}
