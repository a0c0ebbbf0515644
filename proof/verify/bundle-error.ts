// Errors that end the verification of a bundle.

export type BundleErrorCode = 'not_a_bundle' | 'bytes_altered' | 'manifest_altered' | 'checkpoint_invalid' | 'untrusted'

/** A fault that makes the rest of a bundle impossible to verify. */
export class BundleError extends Error {
  readonly code: BundleErrorCode
  /** The file of the bundle; null for the bundle itself. */
  readonly where: string | null

  constructor(code: BundleErrorCode, where: string | null, message: string) {
    super(message)
    this.code = code
    this.where = where
  }
}
