// The parts that the routes, commands and jobs of this room use.
import type { Repository } from '@svc/schemas'
import type { Resources } from '../db/db.js'
import type { Scope } from '../db/scope.js'
import type { BaselineParts } from '../policies/commands/put-baseline.js'
import type { Sealer } from '../secrets/seal.js'
import type { GitSource, GitSources } from './source/source.js'
import type { RepositoryRow } from './store/repositories.js'

export interface ReadingParts extends Resources, BaselineParts {
  readonly sources: GitSources
  /** Opens and seals tokens and webhook secrets. */
  readonly sealer: Sealer
  /** Seconds between two readings of a branch. */
  readonly resync_seconds: number
  /** From 0 to before 1. */
  readonly random: () => number
}

/** What requests use besides: they let a job do what takes long. */
export interface GitParts extends ReadingParts {
  /** Lets a branch be read soon, after this many seconds. */
  readonly readSoon: (scope: Scope, repo_id: number, after_seconds?: number) => Promise<void>
}

/** The context that the token of a repository is sealed for. */
export function tokenContext(org_id: string, repo_id: number): string {
  return `repository_token ${org_id} ${repo_id}`
}

/** The context that the webhook secret of a repository is sealed for. */
export function webhookContext(org_id: string, repo_id: number): string {
  return `webhook_secret ${org_id} ${repo_id}`
}

/** The branch of a stored repository. Throws ENCRYPTION_KEY_INVALID when its token cannot be opened. */
export function sourceOf(
  { sources, sealer }: Pick<ReadingParts, 'sources' | 'sealer'>,
  org_id: string,
  row: RepositoryRow,
): GitSource {
  const { id, provider, owner, name, branch, url, sealed_token: sealed } = row
  const token = sealed === null ? null : sealer.open(tokenContext(org_id, id), sealed).toString()
  return sources.open({ provider, owner, name, branch, url, token }, `${org_id}/${id}`)
}

/** The source of a repository as provenance names it: its canonical address, or `bundled`. */
export function sourceNameOf({
  provider,
  owner,
  name,
  url,
}: Pick<Repository, 'provider' | 'owner' | 'name' | 'url'>): string {
  if (provider === 'bundled') return 'bundled'
  return url ?? `https://github.com/${owner}/${name}`
}
