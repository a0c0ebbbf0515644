// Sources of manifests: one interface for the bundled library, GitHub, and any other Git host (docs/design/git.md §1).

/** The head of a branch. `etag` is the validator of GitHub's answer; null for other sources. */
export interface Head {
  readonly commit_sha: string
  readonly etag: string | null
}

/** An entry of a tree: Git's mode, such as `100644`, and the size in bytes, which is null for a submodule. */
export interface TreeEntry {
  readonly path: string
  readonly blob_sha: string
  readonly mode: string
  readonly size: number | null
}

/** One branch of one repository. Methods reject with `SourceError` only. */
export interface GitSource {
  /** The head of the branch, read afresh. Returns `known` itself when the host answers that nothing changed. */
  readonly resolve: (known: Head | null) => Promise<Head>
  /** Every entry of the commit's tree but folders, by path: links and submodules too, so that they can be reported. */
  readonly list: (commit_sha: string) => Promise<ReadonlyMap<string, TreeEntry>>
  /** The bytes of blobs that this source has listed before, by blob SHA. A blob of more than 1 MiB is `too_large`. */
  readonly read: (blob_shas: readonly string[]) => Promise<ReadonlyMap<string, Uint8Array>>
}

/** The facts about a repository that a new connection needs. */
export interface Inspection {
  readonly visibility: 'public' | 'private'
  /** The branch that is asked for, else the default branch of the repository. */
  readonly branch: string
}

/** The address of a repository. */
export interface RepositoryAddress {
  readonly provider: 'github' | 'git' | 'bundled'
  readonly owner: string
  readonly name: string
  /** Null only for an inspection: the default branch. */
  readonly branch: string | null
  /** The URL of a Git host other than GitHub; null for GitHub and the bundled library. */
  readonly url: string | null
  /** The caller's own token. */
  readonly token: string | null
  /**
   * A token of the GitHub App for a repository that it may read; it replaces `token`. One that GitHub has rejected is not
   * given again. Rejects with SourceError.
   */
  readonly app_token?: (rejected?: string) => Promise<string>
}

export interface GitSources {
  /** Reads what a connection needs to know. Without a token only public repositories are read. Rejects with SourceError. */
  readonly inspect: (address: RepositoryAddress) => Promise<Inspection>
  /** `cache`: a name for local copies, unique to the repository, such as `org_1/7`. */
  readonly open: (address: RepositoryAddress, cache: string) => GitSource
  /** Deletes the local copies of a repository. */
  readonly forget: (cache: string) => Promise<void>
  readonly close: () => Promise<void>
}

/**
 * `branch_missing`, `repository_missing` (or not visible to this caller), `access_revoked` (the host rejects the
 * credential), `private` (needs the caller's own token), `rejected` (the address breaks a safety rule), `too_large`, and
 * `fetch_failed` for everything that may heal by itself.
 */
export type SourceFault =
  | 'branch_missing'
  | 'repository_missing'
  | 'access_revoked'
  | 'private'
  | 'rejected'
  | 'too_large'
  | 'fetch_failed'

/** A repository that cannot be read. The message is shown to people: it names the remedy and contains no credential. */
export class SourceError extends Error {
  readonly code: SourceFault
  /** Seconds that the host asks to wait; null when it does not. */
  readonly retry_after: number | null
  /** The status of GitHub's answer; null without one. */
  readonly status: number | null

  constructor(code: SourceFault, message: string, retry_after: number | null = null, status: number | null = null) {
    super(message)
    this.code = code
    this.retry_after = retry_after
    this.status = status
  }
}
