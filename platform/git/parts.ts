// The parts that the routes, commands and jobs of this room use.
import type { Repository } from '@svc/schemas'
import type { Resources } from '../db/db.js'
import type { Triggering } from '../incidents/actions/triggers.js'
import type { BaselineParts } from '../policies/commands/put-baseline.js'
import type { Sealer } from '../secrets/seal.js'
import { tokenContext } from '../secrets/store.js'
import { type Installation, type Installations, notCovered } from './installations.js'
import type { GitPlaces } from './places.js'
import { type GitSource, type GitSources, SourceError } from './source/source.js'
import type { RepositoryRow } from './store/repositories.js'

export interface ReadingParts extends Resources, BaselineParts, Triggering {
  readonly sources: GitSources
  readonly places: GitPlaces
  readonly installations: Installations
  /** Opens and seals tokens and webhook secrets. */
  readonly sealer: Sealer
  /** Seconds between two readings of a branch. */
  readonly resync_seconds: number
  /** From 0 to before 1. */
  readonly random: () => number
}

/** The parts of requests, which let a job do work that takes long. */
export interface GitParts extends ReadingParts {
  /** Throws ENCRYPTION_KEY_INVALID when a secret sealed now could not be opened after the next start. */
  readonly assertKeyKept: () => void
}

/** The branch of a stored repository. Throws SourceError when its token cannot be opened. */
export function sourceOf(
  { sources, installations, sealer }: Pick<ReadingParts, 'sources' | 'installations' | 'sealer'>,
  org_id: string,
  row: RepositoryRow,
): GitSource {
  const { id, provider, owner, name, branch, url, sealed_token: sealed } = row
  const token = sealed === null ? null : openSealed(sealer, tokenContext(org_id, id), sealed)
  if (token === null && sealed !== null) throw unopened(id)
  const installation = token === null ? installationOf(row) : null
  const app =
    installation === null
      ? {}
      : { app_token: (rejected?: string) => installations.token(org_id, installation, rejected) }
  return sources.open({ provider, owner, name, branch, url, token, ...app }, `${org_id}/${id}`)
}

/** Null for a repository that no installation has ever covered. Throws SourceError for one that has lost it. */
function installationOf({ installation_id, github_id }: RepositoryRow): Installation | null {
  if (github_id === null) return null
  if (installation_id === null) throw notCovered()
  return { installation_id, github_id }
}

/** A stored secret; null when it was sealed with a key that this platform lacks. */
export function openSealed(sealer: Sealer, context: string, sealed: string): string | null {
  try {
    return sealer.open(context, sealed).toString()
  } catch {
    return null
  }
}

function unopened(id: number): SourceError {
  const message = `the stored token was sealed with another encryption key: restore that key, or send the token again with PATCH /api/v1/repos/${id}`
  return new SourceError('access_revoked', message)
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
