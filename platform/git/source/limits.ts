// Limits for the reading of a repository.
export interface Limits {
  /** Milliseconds for one operation of Git, and for one request to GitHub. */
  readonly timeoutMs: number
  /** Milliseconds for the list of branches, which a host has at hand. */
  readonly answerMs: number
  /** Bytes on disk of a local copy. */
  readonly maxDiskBytes: number
  /** Entries of a tree. */
  readonly maxEntries: number
  /** Folders in each other. */
  readonly maxDepth: number
  /** Bytes of one file that is read. */
  readonly maxBlobBytes: number
  /** Bytes that one call of `read` returns, and bytes of one listing. */
  readonly maxReadBytes: number
}

export const defaultLimits: Limits = {
  timeoutMs: 60_000,
  answerMs: 10_000,
  maxDiskBytes: 200 * 1024 * 1024,
  maxEntries: 100_000,
  maxDepth: 100,
  maxBlobBytes: 1024 * 1024,
  maxReadBytes: 64 * 1024 * 1024,
}
