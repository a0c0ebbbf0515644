import type { LibraryFile } from './baseline.js'
import { libraryFiles } from './files.js'

export { baseline, type LibraryFile } from './baseline.js'

/** The default manifest repository, frozen into this build: manifests and their test files, by path. */
export const library: readonly LibraryFile[] = libraryFiles
