import type { LibraryFile } from './baseline.js'
import { libraryFiles } from './files.js'
import { listing } from './listing.js'

export { baseline, type LibraryFile } from './baseline.js'

/** The default manifest repository, frozen into this build: manifests and their test files, by path. */
export const library: readonly LibraryFile[] = libraryFiles

/** What a list shows of a valid manifest of the library. */
export interface ListedLibraryFile {
  readonly path: string
  readonly blob_sha: string
  /** Bytes. */
  readonly size: number
  readonly name: string
  readonly version: string
  readonly policies: number
}

/** The manifests of the library, without their tests. */
export const libraryListing: readonly ListedLibraryFile[] = listing
