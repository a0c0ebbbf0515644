import { libraryFiles } from './files.js'

/** A file of the bundled library: its path, its Git blob id, and its text. */
export interface LibraryFile {
  readonly path: string
  readonly blob_sha: string
  readonly text: string
}

/** The default manifest repository, frozen into this build. */
export const library: readonly LibraryFile[] = libraryFiles

/** The baseline, which is assigned to every new agent. Throws when the build lacks it, which the generator prevents. */
export function baseline(): LibraryFile {
  const file = library.find((candidate) => candidate.path === 'baseline.yaml')
  if (file === undefined) throw new Error('the bundled library has no `baseline.yaml`')
  return file
}
