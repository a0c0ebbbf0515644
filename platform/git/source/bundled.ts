// The bundled library as a repository: frozen into the build, on the branch `main`.
import type { LibraryFile } from '@svc/library'
import { treeSha } from '../git-objects.js'
import { type GitSource, SourceError } from './source.js'

export const bundledBranch = 'main'

/**
 * The library has no commit of its own. The SHA of its Git tree takes the place of one: it follows from the files alone, and
 * changes exactly when one of them does.
 */
export function bundledSource(files: readonly LibraryFile[], branch: string | null): GitSource {
  const commit_sha = treeSha(files)
  const bytesOf = new Map(files.map(({ blob_sha, text }) => [blob_sha, new TextEncoder().encode(text)]))
  const entries = files.map(({ path, blob_sha }) => {
    const size = bytesOf.get(blob_sha)?.length ?? 0
    return [path, { path, blob_sha, mode: '100644', size }] as const
  })
  return {
    resolve: async (known) => {
      if (branch !== bundledBranch) throw new SourceError('branch_missing', 'the library has the branch `main` only')
      return known?.commit_sha === commit_sha ? known : { commit_sha, etag: null }
    },
    list: async (wanted) => {
      if (wanted !== commit_sha)
        throw new SourceError('fetch_failed', 'this build has another version of the library: check for changes again')
      return new Map(entries)
    },
    read: async (blob_shas) =>
      new Map(
        blob_shas.map((sha) => {
          const bytes = bytesOf.get(sha)
          if (bytes === undefined) throw new SourceError('fetch_failed', `the library has no file with the SHA ${sha}`)
          return [sha, bytes]
        }),
      ),
  }
}
