// The baseline alone, so that a local engine does not load the texts of the whole library.
import { baselineFile } from './baseline-file.js'

/** A file of the bundled library: its path, its Git blob id, and its text. */
export interface LibraryFile {
  readonly path: string
  readonly blob_sha: string
  readonly text: string
}

/** The baseline, which is assigned to every new agent. */
export function baseline(): LibraryFile {
  return baselineFile
}
